"""Recognize test data by its folder and its text: what tests read or compare with stays as it is."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doiuri_cli.files import Source

# Types of files that may be recorded HTTP, with those of an unknown type
_TYPES_OF_RECORDS = frozenset(
    {"bibtex", "csv", "html", "json", "jsonl", "ontology", "ris", "text", "tsv", "yaml", None}
)
# The names of folders of tests, in lower case and without separators: "integrationtest" stands for
# "integration-test", "integration_test" and "IntegrationTest"; "hypothesis-tests" is another thing
_TEST_FOLDER = re.compile(
    r"""
    (?: acceptance | android | api | auto | browser | common | component | conformance | contract | e2e
      | endtoend | functional | gui | instrumented | int | integration | ios | js | jvm | load | native
      | perf | performance | processor | regression | self | shared | smoke | system | tiny | ui | unit | wasm
    )?
    tests?
    (?: assets? | cases? | data | env | files? | fixtures? | helpers? | inputs? | int | integration | mocks?
      | outputs? | projects? | resources? | roots? | samples? | suites? | that | units? | utils?
    )?
  | (?: unit | integration )? (?: fixtures? | mocks? ) (?: data | files? )?
  | (?: expected | goldens? ) (?: data | files? | outputs? | results? )?
  | cassettes? | e2e | endtoend | .* snapshot .*
    """,
    re.VERBOSE,
)
_WORDS = frozenset(
    {"cassettes", "e2e", "fixture", "fixtures", "mock", "mocks", "test", "testdata", "tests"}
    | {"unittest", "unittests"}
)
"""The words that make a folder one of tests, with any others: ``jvmTest``, ``My.Tests``, ``image_fixtures``."""

_SEPARATORS = re.compile(r"[-._ ]+")
# In "image_fixtures", "jvmTest" and "HTMLTests"; words with hyphens between them are prose: "hypothesis-tests"
_BETWEEN_WORDS = re.compile(r"[._ ]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_DIGITS = "0123456789"
_DOCUMENTS = frozenset({"doc", "docs", "documentation"})
"""Folders of documents, in which a folder may be about tests, such as ``statistical_tests`` or ``snapshots``."""

_IN_DOCUMENTS = frozenset({"cassettes", "fixtures", "test", "testdata", "tests"})
"""What folders of tests are called there."""

_SPEC = "spec"  # a folder of tests in Ruby and JavaScript, but of a specification elsewhere
# The member in which VCR keeps requests and responses
_INTERACTIONS = re.compile(
    r"""
    ^(?:http_)?interactions:                       # in YAML
  | \A \s* \{ \s* "(?:http_)?interactions" \s* :  # in JSON
    """,
    re.MULTILINE | re.VERBOSE,
)


def is_test_data(path: str, searched: frozenset[str]) -> bool:
    """Return whether a file is in or below a folder of tests; its own name says nothing.

    :param searched: the absolute paths of what is searched. What is above it says nothing either.
    """
    return _is_below_tests(_folder(path), searched)


@lru_cache(1000)
def _is_below_tests(place: str, searched: frozenset[str]) -> bool:
    """Return whether a folder is one of tests, or below one."""
    top = _searched_above(Path(place), searched)
    folders = Path(place).relative_to(top).parts
    names = [top.name, *folders]
    # Each folder with the names above it, of which the first is that of the searched folder
    for number, folder in enumerate(folders, 1):
        if _is_test_folder(folder, names[:number]):
            return True
        if folder.lower() == _SPEC and _has_tests(str(top.joinpath(*folders[:number]))):
            return True
    return False


def is_recorded(source: Source, kind: str | None, searched: frozenset[str]) -> bool:
    """Return whether a file is recorded HTTP, by the member in which VCR keeps it or by a folder "cassettes".

    :param kind: its type, as ``type_of`` has it.
    :param searched: the absolute paths of what is searched; a folder above them says nothing.
    """
    if kind not in _TYPES_OF_RECORDS:
        return False
    if kind in {"yaml", "json"} and _INTERACTIONS.search(source.text):
        return True
    folder = Path(_folder(source.path))
    folder_names = folder.relative_to(_searched_above(folder, searched)).parts
    return any(_compact(name) == "cassettes" for name in folder_names)


def _is_test_folder(name: str, above: Sequence[str]) -> bool:
    """Return whether a name is that of a folder of tests.

    :param above: the names of the folders that it is in.
    """
    compact = _compact(name)
    if not _DOCUMENTS.isdisjoint(folder.lower() for folder in above):
        return compact in _IN_DOCUMENTS
    if compact == "it" and above[-1].lower() == "src":  # of Maven and sbt
        return True
    if _TEST_FOLDER.fullmatch(compact):
        return True
    words = (word.strip(_DIGITS).lower() for word in _BETWEEN_WORDS.split(name))
    return not _WORDS.isdisjoint(words)


def _compact(name: str) -> str:
    """Return a name in lower case, without separators and the number at its end."""
    return _SEPARATORS.sub("", name).rstrip(_DIGITS).lower()


def _folder(path: str) -> str:
    """Return the absolute path of the folder that a file is in; the path may come from Windows."""
    return os.path.dirname(os.path.abspath(path.replace("\\", "/")))  # noqa: PTH100, PTH120 - without ".."


def _searched_above(folder: Path, searched: frozenset[str]) -> Path:
    """Return the innermost searched folder that a folder is in, or the folder itself if there is none."""
    above = (place for place in (folder, *folder.parents) if str(place) in searched)
    return next(above, folder)


@lru_cache(64)
def _has_tests(folder: str) -> bool:
    """Return whether there is a file such as ``user_spec.rb`` or ``user.spec.ts`` in or below a folder."""
    return next(Path(folder).rglob("*[._]spec.*"), None) is not None
