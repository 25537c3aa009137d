"""Patterns are compiled on first use."""

from __future__ import annotations

import re
from abc import ABC

import pytest
from doiuri._find._patterns import lazy


def test_nothing_is_compiled_before_the_first_use() -> None:
    broken = lazy("(")
    with pytest.raises(re.error, match="unterminated subpattern"):
        broken.match("")


def test_abstract_classes_do_not_compile_their_attributes() -> None:
    class Abstract(ABC):  # noqa: B024 - looks at the attributes all the same
        broken = lazy("(")

    assert "broken" in vars(Abstract)


def test_a_lazy_pattern_is_used_like_any_other() -> None:
    pattern = lazy("(?P<digit>[0-9])x", re.IGNORECASE)
    for _ in range(2):
        assert pattern.search("a 1X")
        assert not pattern.match("a 1X")
        assert pattern.fullmatch("1X")
        assert pattern.sub("_", "1X 2x") == "_ _"
        assert [match["digit"] for match in pattern.finditer("1X 2x")] == ["1", "2"]
    assert pattern.pattern == "(?P<digit>[0-9])x"
    assert pattern.flags & re.IGNORECASE
