"""Draws `try.svg`, what `grid-rbd try` prints: run `python docs/figures/make_try.py` on an idle machine."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

from grid_rbd.cli.trial import page
from grid_rbd.examples import find_description
from grid_rbd.trial import try_robot

TARGET = Path(__file__).with_name("try.svg")
FORMAT = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
"""Without fonts from elsewhere: a picture should not load anything."""

with Path(os.devnull).open("w") as nowhere, tempfile.TemporaryDirectory() as store:
    console = Console(record=True, width=82, file=nowhere, force_terminal=True, highlight=False)
    console.print("[bold]$ grid-rbd try")
    console.print(page(try_robot(find_description("arm7"), cache_dir=store), "arm7"))
console.save_svg(str(TARGET), title="grid-rbd try", code_format=FORMAT)
