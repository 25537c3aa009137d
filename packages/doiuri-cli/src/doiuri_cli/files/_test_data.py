"""Recognize test data by its folder and its text: what tests read or compare with stays as it is."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doiuri_cli.files import Source

# Types of files that hold data, with those of an unknown type; other documents may be for people
_DATA = frozenset(
    {"bibtex", "csv", "html", "json", "jsonl", "ontology", "ris", "text", "tsv", "yaml", None}
)
_TESTS = re.compile(r"/_*tests?_*/", re.IGNORECASE)
# Folders of which all is data; "sample" alone may be a package
_ALL_DATA = re.compile(
    r"""/(?:
        _*(?:cassettes|fixtures)_* | [^/]*snapshot[^/]*    # by what tools of tests write,
      | tests?[-_]?data | processor-tests                  # by name,
      | tests?/(?:[^/]+/)*                                 # or below a folder of tests
        (?: data | inputs? | outputs? | samples | sample[-_][^/]+ | expected[^/]* | golden[^/]* )
    )/""",
    re.IGNORECASE | re.VERBOSE,
)
_CASSETTES = re.compile(r"/_*cassettes_*/", re.IGNORECASE)
_RECORDED = re.compile(
    r"""
    ^(?:http_)?interactions:                       # in YAML
  | \A \s* \{ \s* "(?:http_)?interactions" \s* :  # in JSON
    """,
    re.MULTILINE | re.VERBOSE,
)
_SPEC = "spec"  # a folder of tests in Ruby and JavaScript, but of a specification elsewhere


def is_test_data(source: Source, kind: str | None, folders: Iterable[str]) -> bool:
    """Return whether a file holds test data other than recorded HTTP.

    :param kind: its type, as ``type_of`` has it.
    :param folders: the absolute paths of those that are searched.
    """
    top, folder = _searched(source.path, folders)
    if _ALL_DATA.search(_as_text(folder)):
        return True
    if kind not in _DATA:
        return False
    if _TESTS.search(_as_text(folder)):
        return True
    specs = [parent for parent in (folder, *folder.parents) if parent.name == _SPEC]
    return any(_has_tests(str(top / spec)) for spec in specs)


def is_recorded(source: Source, kind: str | None, folders: Iterable[str]) -> bool:
    """Return whether a file is recorded HTTP, such as a cassette of VCR.

    :param kind: its type, as ``type_of`` has it.
    :param folders: the absolute paths of those that are searched.
    """
    if kind not in _DATA:
        return False
    if kind in {"yaml", "json"} and _RECORDED.search(source.text):
        return True
    _, folder = _searched(source.path, folders)
    return _CASSETTES.search(_as_text(folder)) is not None


def _searched(path: str, folders: Iterable[str]) -> tuple[PurePath, PurePath]:
    """Return the searched folder that a file is in, or the current one, and the file's folder within it.

    What is above says nothing about the file.
    """
    file = PurePath(os.path.abspath(path))  # noqa: PTH100 - without ".."
    tops = [*sorted(folders), os.getcwd()]  # noqa: PTH109 - as the folders, a str
    top = next((PurePath(top) for top in tops if file.is_relative_to(top)), file.parent)
    return top, file.relative_to(top).parent


def _as_text(folder: PurePath) -> str:
    return f"/{folder.as_posix()}/"


@lru_cache(64)
def _has_tests(folder: str) -> bool:
    """Return whether there is a file such as ``user_spec.rb`` in or below a folder."""
    return next(Path(folder).rglob("*_spec.*"), None) is not None
