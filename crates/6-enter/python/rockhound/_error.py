"""The exception of this package."""

from __future__ import annotations

from typing import Optional


class RockhoundError(Exception):
    """Something cannot be read, or was asked for wrongly.

    Attributes:
        message: what is wrong, and where.
        hint: what to do about it, if that is known.
    """

    message: str
    hint: Optional[str]

    def __init__(self, message: str, hint: Optional[str] = None) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message
