"""Fat binaries of a unit: each from one source file, or linked from several that are compiled side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from grid_core.toolchains.parallel import run_all
from grid_core.toolchains.step import run_step
from grid_core.toolchains.workers import compiler_slot

IMAGES = "images.json"
"""Beside the source of a unit: the files of each image, and how many registers a thread may use if they are linked."""


@dataclass(frozen=True)
class Image:
    """A fat binary.

    Attributes
    ----------
    sources : tuple of str
        Names of files, the first one with the kernels.
    registers : int or None
        That a thread may use; only a compiler that sees a kernel with all its functions knows by itself.
    """

    sources: tuple[str, ...]
    registers: int | None


def listing(images: Sequence[Image]) -> str:
    """Return the content of :data:`IMAGES`."""
    return json.dumps([asdict(image) for image in images], indent=1)


def images_of(source: Path) -> list[Image]:
    """Return the images of a unit; without a list it has one, from the source alone."""
    listed = source.with_name(IMAGES)
    if not listed.exists():
        return [Image((source.name,), None)]
    return [Image(tuple(i["sources"]), i["registers"]) for i in json.loads(listed.read_text("utf-8"))]


@dataclass(frozen=True)
class ImageCompiler:
    """Compiles the images of one unit in its folder.

    Parameters
    ----------
    source : Path
        The first source file.
    log : Path
        Its log; those of others are beside it.
    command, options, machines : tuple of str
        The compiler, its options for code, and those that name architectures.
    linkable : bool
        Whether all of these are machine code; PTX cannot be linked.
    """

    source: Path
    log: Path
    command: tuple[str, ...]
    options: tuple[str, ...]
    machines: tuple[str, ...]
    linkable: bool

    def compile(self) -> bytes:
        """Return all images, one behind the other."""
        images = images_of(self.source)
        return b"".join(run_all([partial(self._image, image) for image in images], len(images)))

    def _image(self, image: Image) -> bytes:
        sources = [self.source.with_name(name) for name in image.sources]
        if len(sources) == 1:
            return self._whole(sources[0])
        if not self.linkable:
            together = sources[0].with_suffix(".all.cu")
            together.write_text("".join(f'#include "{file.name}"\n' for file in (*sources[1:], sources[0])), "utf-8")
            return self._whole(together)
        options = ("-rdc=true", f"-maxrregcount={image.registers}")
        objects = run_all([partial(self._piece, file, options) for file in sources], len(sources))
        link = ("-dlink", "-cudadevrt=none", *(file.name for file in objects))
        return self._run(sources[0].with_suffix(".linked"), link)

    def _whole(self, source: Path) -> bytes:
        return self._run(source, (*self.options, source.name))

    def _piece(self, source: Path, options: Sequence[str]) -> Path:
        piece = source.with_suffix(".piece.fatbin")
        piece.write_bytes(self._run(source, (*self.options, *options, source.name)))
        return piece

    def _run(self, subject: Path, arguments: Sequence[str]) -> bytes:
        """Run the compiler and return the image that it writes."""
        image = subject.with_name(f"{subject.name}.part")
        command = [*self.command, "-fatbin", *self.machines, *arguments, "-o", image.name]
        log = self.log if subject == self.source else self.log.with_stem(subject.stem)
        with compiler_slot():
            run_step(command, cwd=subject.parent, log=log, output=image, subject=subject.name)
        made = image.read_bytes()
        image.unlink()
        return made
