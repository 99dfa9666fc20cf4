"""What users read: the declaration's texts are there, and methods show them."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc

from grid_core.plugins.algorithm import Algorithm, Input, Output
from grid_core.testing.bench import Bench


def missing_texts(algorithm: Algorithm) -> Iterator[tuple[str, str]]:
    """Yield what an algorithm lacks, and what to do."""
    summary = algorithm.summary.strip()
    if not summary or "\n" in summary or not summary.endswith("."):
        yield f"its summary is {algorithm.summary!r:.80}", "write one line on what it computes, with a full stop"
    if not algorithm.family.strip():
        yield "it names no family", "give the name that lists of algorithms put it under"
    for argument in _arguments(algorithm):
        if not argument.doc.strip():
            yield f"{argument.name!r} has no doc", "write one line: meaning, unit, frame"


def _arguments(algorithm: Algorithm) -> list[Input | Output]:
    return [*algorithm.inputs, *algorithm.outputs]


def check_documentation(bench: Bench) -> None:
    """Look for summary, arguments and results in the docstring of the method."""
    for lack, advice in missing_texts(bench.algorithm):
        raise bench.refuse(lack, advice)
    text = " ".join(cleandoc(getattr(bench.reference, bench.algorithm.name).__doc__ or "").split())
    wanted = [bench.algorithm.summary, *(argument.doc for argument in _arguments(bench.algorithm))]
    for words in wanted:
        if " ".join(words.rstrip(".").split()) not in text:
            raise bench.refuse(f"its method's docstring does not say {words!r}", "report it")
