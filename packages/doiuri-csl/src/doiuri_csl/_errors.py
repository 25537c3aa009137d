"""The error for files that cannot be used."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator


class CSLError(ValueError):
    """A style or a locale cannot be used.

    >>> from doiuri_csl import Style
    >>> Style.parse("<style xmlns='http://purl.org/net/xbiblio/csl'><info/></style>")
    Traceback (most recent call last):
    ...
    doiuri_csl.CSLError: line 1: <style>: has no <citation>
    """

    reason: str
    """What is wrong."""

    path: str
    """The file; "" if it was given as text."""

    line: int
    """The line in the file, from 1; 0 if the file as a whole is meant."""

    element: str
    """The name of the element; "" if none is meant."""

    def __init__(self, reason: str, *, path: str = "", line: int = 0, element: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path
        self.line = line
        self.element = element

    def __str__(self) -> str:
        where = self._place()
        if self.element:
            where.append(f"<{self.element}>")
        return ": ".join([*where, self.reason])

    def _place(self) -> list[str]:
        """Return the file and the line, as far as they are known."""
        if self.path and self.line:
            return [f"{self.path}:{self.line}"]
        if self.line:
            return [f"line {self.line}"]
        return [self.path] if self.path else []

    def __reduce__(self) -> tuple[object, ...]:
        state = {"path": self.path, "line": self.line, "element": self.element}
        return type(self), (self.reason,), state


@contextmanager
def naming_file(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn errors of the block into a ``CSLError`` that says the file, unless it names another one already."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise CSLError(f"cannot be read: {reason}", path=str(path)) from None
    except CSLError as error:
        error.path = error.path or str(path)
        raise
    except ValueError as error:  # a path may contain a NUL
        raise CSLError(str(error), path=str(path)) from None
