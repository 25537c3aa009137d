"""What all source files keep to: true examples, one spelling of the proxy's hosts in patterns, and no
group that is repeated possessively.

Python 3.11.0 to 3.11.4 then match the wrong text: the position after a failed repetition may be kept
(CPython's gh-106052). Single characters and atomic groups are right.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import io
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, cast

import doiuri
import pytest

# Private: it holds the patterns that are checked
from doiuri._patterns import LazyPattern
from support.manual.public import SOURCES, module_of, public_classes

if TYPE_CHECKING:
    from collections.abc import Iterator


def name_in_package(file: Path) -> str:
    """Return the path of a file below ``src``."""
    return file.as_posix().rpartition("/src/")[2]


MODULES = [module_of(file.as_posix()) for file in SOURCES if file.stem != "__main__"]
# Not the signs ")*+" in a set of characters, where they follow "("
POSSESSIVE_GROUP = re.compile(r"(?<![\\(])\)(?:[*+?]|\{+[^{}\s]*(?:\{\w+\})?\}+)\+")


def _repeats_a_group(pattern: re.Pattern[str] | re.Pattern[bytes]) -> bool:
    """Return whether a pattern does, as its instructions say."""
    if not re.search(r"[*+?}]\+", str(pattern.pattern)):  # most of them; printing all takes seconds
        return False
    with redirect_stdout(io.StringIO()) as output:
        re.compile(pattern.pattern, pattern.flags | re.DEBUG)
    instruction = r"^ *[0-9]+[:.] POSSESSIVE_REPEAT "
    return re.search(instruction, output.getvalue(), re.MULTILINE) is not None


def _patterns(module: str) -> Iterator[re.Pattern[str] | re.Pattern[bytes]]:
    """Yield the patterns of a module, those of its classes and those in tuples."""
    namespace = vars(importlib.import_module(module))
    classes = [value for value in namespace.values() if isinstance(value, type)]
    for names in (namespace, *map(vars, classes)):
        for value in list(names.values()):
            parts = value if isinstance(value, tuple) else (value,)
            for part in parts:
                if isinstance(part, re.Pattern | LazyPattern):
                    yield cast("re.Pattern[str]", part)


@pytest.mark.parametrize(
    "pattern", [r"(?:a|bc)*+", r"(ab)++", r"(?:ab)?+", r"x(?:a{2}b){2,3}+", r"(?:a*)*+"]
)
def test_a_possessive_group_is_recognized(pattern: str) -> None:
    assert POSSESSIVE_GROUP.search(pattern)
    assert _repeats_a_group(re.compile(pattern))


@pytest.mark.parametrize(
    "pattern", [r"[ab]*+(?>(?:ab)*)", r"a++(?:b)*", r"[()*+]", r"\)*+", r"(?>(?:ab){0,9})"]
)
def test_a_possessive_character_and_an_atomic_group_are_not_one(pattern: str) -> None:
    assert not POSSESSIVE_GROUP.search(pattern)
    assert not _repeats_a_group(re.compile(pattern))


def test_no_source_repeats_a_group_possessively() -> None:
    files = [file for file in SOURCES if POSSESSIVE_GROUP.search(file.read_text(encoding="utf-8"))]
    assert [name_in_package(file) for file in files] == []


def test_no_compiled_pattern_repeats_a_group_possessively() -> None:
    """Patterns put together from several strings, too."""
    patterns: dict[str, re.Pattern[str] | re.Pattern[bytes]] = {}
    for module in MODULES:
        patterns |= {f"{module}: {pattern.pattern!r}": pattern for pattern in _patterns(module)}

    assert len(patterns) > 100
    assert [place for place, pattern in patterns.items() if _repeats_a_group(pattern)] == []


def test_the_examples_in_docstrings_are_true() -> None:
    public = {name: getattr(doiuri, name) for name in doiuri.__all__}
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    finder = doctest.DocTestFinder(exclude_empty=True)
    for module in map(importlib.import_module, MODULES):
        if ">>> " in inspect.getsource(module):
            for test in finder.find(module, extraglobs=public | vars(module)):
                runner.run(test)
    for cls in public_classes():
        module = importlib.import_module(cls.defined_in)
        if (
            module.__name__ != cls.value.__module__
        ):  # not found there: it says that it is from elsewhere
            for test in finder.find(cls.value, module=False, globs=public | vars(module)):
                runner.run(test)
    failed, attempted = runner.summarize(verbose=False)
    assert failed == 0
    assert attempted > 100


def test_patterns_take_the_hosts_of_the_proxy_from_one_file() -> None:
    """All others are made from ``PROXY_PATTERN``, so that they know the same hosts."""
    escaped_host = re.compile(r"doi\\{1,2}\.org")
    files = [file for file in SOURCES if escaped_host.search(file.read_text("utf-8"))]
    assert {name_in_package(file) for file in files} <= {"doiuri/_urls.py"}
