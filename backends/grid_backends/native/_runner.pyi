from collections.abc import Sequence
from typing import Any, final

@final
class Unit:
    """A compiled unit, open as long as this object or a function of it lives."""

    def __init__(self, path: str, scalar_bytes: int = 0) -> None: ...
    @property
    def path(self) -> str: ...
    @property
    def algorithm(self) -> str: ...
    @property
    def scalar_bytes(self) -> int: ...
    @property
    def lanes(self) -> int: ...
    @property
    def functions(self) -> list[dict[str, Any]]: ...

@final
class Function:
    """Calls the cheapest function of a unit that takes the arguments; NotImplemented if they are not canonical."""

    def __init__(
        self,
        unit: Unit,
        inputs: Sequence[tuple[str, tuple[int, ...], bool, float | None, int | None]],
        outputs: Sequence[tuple[str, tuple[int, ...]]],
        result: type[tuple[Any, ...]] | None = None,
    ) -> None: ...
    def __call__(self, arguments: tuple[Any, ...], out: Any = None, threads: int = 1, /) -> Any: ...

def workers() -> int:
    """Return the number of worker threads that the pool has started."""
