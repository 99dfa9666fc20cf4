"""What a program was traced with: programs keep a robot's parameters as constants, and must not outlive them."""

from __future__ import annotations

import itertools

from grid_backends.errors import StaleModelError

_numbers = itertools.count(1)


class Stamp:
    """One set of values of a handle's run-time parameters.

    Parameters
    ----------
    robot : str
        Name of the robot, for messages.
    """

    def __init__(self, robot: str) -> None:
        self._robot = robot
        self._number = next(_numbers)
        self._keys: set[str] = set()
        self._stale = False

    def key(self, key: str) -> str:
        """Return the key under which programs with these parameters find what is published under a key.

        Raises
        ------
        StaleModelError
            The parameters were changed.
        """
        if self._stale:
            raise StaleModelError(
                f"robot {self._robot!r}: what is compiled was traced with parameters that were changed since; trace it "
                "again (jax.clear_caches()), or pass the parameters as arguments"
            )
        own = f"{key}@{self._number}"
        self._keys.add(own)
        return own

    def expire(self) -> None:
        """Let programs with these parameters fail when they are called."""
        from grid_backends.native import withdraw

        self._stale = True
        for key in self._keys:
            withdraw(key)
