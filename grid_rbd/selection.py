"""What of a store a user names: registered robots, and artifacts of consumer projects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grid_consumers.loading import not_found
from grid_consumers.recipe import checked_name as checked_part
from grid_core.build.entry import not_registered
from grid_core.errors import OptionError
from grid_rbd.basics import checked_name
from grid_store import Bound, Store


def selected(names: Sequence[str] | None, artifacts: Sequence[str] | None, store: Store) -> list[Bound]:
    """Return the robots and artifacts that are named, everything if neither is given.

    Parameters
    ----------
    names : sequence of str, optional
        Registered robots.
    artifacts : sequence of str, optional
        ``CONSUMER/NAME``.

    Raises
    ------
    RobotNotRegisteredError, ArtifactNotFoundError
        There is none of that name.
    OptionError
        What is given is no sequence of names.
    """
    if names is None and artifacts is None:
        robots = [Bound(name) for name in store.names()]
        return robots + [Bound(name, owner) for owner in store.consumers() for name in store.names(consumer=owner)]
    chosen = [Bound(checked_name(name)) for name in _sequence(names, "names", "['arm']")]
    chosen += [_artifact(text) for text in _sequence(artifacts, "artifacts", "['planner/arm']")]
    for bound in chosen:
        if store.resolve(bound.name, consumer=bound.consumer) is None:
            raise not_found(bound.consumer, bound.name, store) if bound.consumer else not_registered(bound.name, store)
    return list(dict.fromkeys(chosen))


def _artifact(text: object) -> Bound:
    consumer, slash, name = text.partition("/") if isinstance(text, str) else ("", "", "")
    if not slash:
        raise OptionError(f"artifacts has the entry {text!r:.80}, expected CONSUMER/NAME, such as 'planner/arm'")
    return Bound(checked_part(name, "the name of an artifact"), checked_part(consumer, "the consumer of an artifact"))


def _sequence(given: object, argument: str, example: str) -> list[object]:
    if given is None:
        return []
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise OptionError(f"{argument} is {given!r:.80}, expected a sequence of names, such as {example}")
    return list(given)
