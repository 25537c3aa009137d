"""Regular expressions that are compiled on first use: compiling some takes longer than all other imports."""

from __future__ import annotations

import re
from typing import cast


class LazyPattern:
    """Has the methods of a compiled pattern, and its other attributes.

    :param pattern: the pattern.
    :param flags: flags as of ``re.compile``.
    """

    __slots__ = ("_flags", "_text", "finditer", "fullmatch", "match", "search", "sub")

    def __init__(self, pattern: str, flags: int) -> None:
        self._text = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> object:  # not called for a slot that is set
        if name.startswith("__"):  # such as those that the metaclass of an abstract class looks for
            raise AttributeError(name)
        compiled = re.compile(self._text, self._flags)
        for method in ("finditer", "fullmatch", "match", "search", "sub"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled on first use.

    :param pattern: the pattern.
    :param flags: flags as of ``re.compile``.
    """
    return cast("re.Pattern[str]", LazyPattern(pattern, flags))
