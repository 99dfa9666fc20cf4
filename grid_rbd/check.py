"""What a check of the machine found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One finding.

    Attributes
    ----------
    name : str
    status : str
        ``"ok"``, ``"off"`` (not there, and not needed by everybody), ``"warn"`` (works, but not as well as it could)
        or ``"fail"``.
    found : str
        What was looked at.
    advice : str
        What to do; empty if all is well.
    """

    name: str
    status: str
    found: str
    advice: str = ""
