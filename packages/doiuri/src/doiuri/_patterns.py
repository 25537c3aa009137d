"""Regular expressions that are compiled on first use: compiling some takes longer than all other imports."""

from __future__ import annotations

import re
from typing import cast


class LazyPattern:
    """Has the methods and attributes of the compiled pattern."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._arguments = pattern, flags

    def __getattr__(self, name: str) -> object:  # not called for an attribute that is set
        if name.startswith("__"):  # such as those that the metaclass of an abstract class looks for
            raise AttributeError(name)
        value = getattr(re.compile(*self._arguments), name)
        setattr(self, name, value)
        return value


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled on first use; parameters as of ``re.compile``."""
    return cast("re.Pattern[str]", LazyPattern(pattern, flags))
