"""Test data and generated files: ``fix`` leaves them, and findings in test data count as one line."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.checks import assert_same
from support.cli.command import doiuri, remember

KEPT: dict[str, Any] = json.loads(Path(__file__).with_name("kept.json").read_text("utf-8"))
TESTS = list(itertools.chain.from_iterable(KEPT["tests"]))
DOCUMENTS = list(itertools.chain.from_iterable(KEPT["documents"]))
LINK = "http://dx.doi.org/10.1000/182"
FORMS = {
    ".json": '{{"type": "book", "title": "A", "DOI": "{}"}}',
    ".bib": "@misc{{k, url = {{{}}}}}",
    ".R": "# {}",
    ".py": "# {}",
}


def is_test_data(path: str) -> bool:
    """Return whether a finding in a file of this path, which a hook names, is in test data."""
    options = (
        "--isolated",
        "--offline",
        "--lock=",
        "--force-exclude",
        "--quiet",
        "--output-format=concise",
    )
    text = FORMS.get(Path(path).suffix, "{}").format(LINK)
    run = doiuri("check", *options, "--stdin-filename", path, "-", stdin=text.encode())
    assert run.stdout.count("\n") == 1, run
    return "1 finding in test data" in run.stdout


def test_folders_of_tests_hold_test_data_whatever_the_name_of_a_file_is() -> None:
    expected = dict.fromkeys(TESTS, True) | dict.fromkeys(DOCUMENTS, False)

    found = {path: is_test_data(path) for path in expected}

    assert_same("whether a file is test data", found, expected)


NEUTRAL = st.lists(st.sampled_from(["a", "Lib", "my-app", "v1.2", "content"]), max_size=3)


@given(
    st.sampled_from(TESTS + [path for path in DOCUMENTS if ".." not in path]),
    NEUTRAL,
    NEUTRAL,
    st.sampled_from("/\\"),
)
def test_a_file_is_test_data_or_not_at_every_depth_with_any_separator(
    path: str, above: list[str], between: list[str], separator: str
) -> None:
    *folders, name = path.split("/")
    moved = separator.join([*above, *folders, *between, name])
    assert is_test_data(moved) == is_test_data(path) == (path in TESTS)


def spellings(name: str) -> list[str]:
    """Return the ways to write some words as the name of a folder."""
    words = name.split()
    pascal = "".join(map(str.title, words))
    camel = words[0] + pascal[len(words[0]) :]
    separated = [separator.join(words) for separator in ("-", "_", ".", "")]
    return [*separated, pascal, camel, ".".join(map(str.title, words)), f"__{name}__".upper()]


@pytest.mark.parametrize(
    "name",
    ["integration test", "unit tests", "test fixtures", "test data", "jvm test", "e2e tests"],
)
def test_the_spelling_of_a_folder_does_not_matter(name: str) -> None:
    for spelling in spellings(name):
        for numbered in (spelling, f"{spelling}2", f"{spelling}_03"):
            assert is_test_data(f"src/{numbered}/a.txt"), numbered


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize("depth", ["", "x/y"])
@pytest.mark.parametrize(
    "case",
    KEPT["generated"] + KEPT["written"],
    ids=lambda case: f"{case['path']}: {case['text']!r}",
)
def test_generated_files_are_fixed_only_with_unsafe_fixes_or_if_they_are_named(
    case: dict[str, str], depth: str, tmp_path: Path
) -> None:
    text = case["text"].format(LINK)
    fixed = case["text"].format(LINK.replace("http://dx.", "https://"))
    top = tmp_path / depth
    write(top / case["path"], text)
    write(top / ".gitattributes", case.get("attributes", ""))
    is_generated = case in KEPT["generated"]

    run = doiuri("fix", "--isolated", cwd=tmp_path)

    assert (top / case["path"]).read_text() == (text if is_generated else fixed)
    left = "1 fix in programs, generated files or templates left to --unsafe-fixes.\n"
    assert run.stderr.endswith(left) == is_generated
    assert ("warning[not-https]" in run.stdout) == is_generated
    doiuri("fix", "--isolated", case["path"], cwd=top)
    assert (top / case["path"]).read_text() == fixed


@pytest.mark.parametrize("words", [(), ("a.c",)])
def test_programs_are_fixed_only_with_unsafe_fixes(words: tuple[str, ...], tmp_path: Path) -> None:
    """Nor are other JSON than works, and strings of Python, fixed at all."""
    program = tmp_path / "a.c"
    write(program, f"/* {LINK} */\n")
    write(tmp_path / "a.json", json.dumps({"x": LINK, "doi": "doi:10.1000/182"}))
    write(tmp_path / "a.py", f"x = '{LINK}'\n")

    run = doiuri("fix", "--isolated", *words, cwd=tmp_path)

    assert program.read_text() == f"/* {LINK} */\n"
    left = "1 fix in programs, generated files or templates left to --unsafe-fixes.\n"
    assert run.stderr.endswith(left)
    assert run.stderr.startswith("Fixed 0 in 0 files")
    doiuri("fix", "--isolated", "--unsafe-fixes", "--offline", *words, cwd=tmp_path)
    assert program.read_text() == "/* https://doi.org/10.1000/182 */\n"


def test_attributes_of_inner_folders_come_first_and_those_of_other_repositories_do_not_count(
    tmp_path: Path,
) -> None:
    write(tmp_path / ".gitattributes", "*.txt linguist-generated\n")
    write(tmp_path / "in" / ".gitattributes", "own.txt -linguist-generated\n")
    write(tmp_path / "other" / ".git", "gitdir: x\n")
    for name in ("in/own.txt", "in/theirs.txt", "other/a.txt"):
        write(tmp_path / name, LINK)

    doiuri("fix", "--isolated", cwd=tmp_path)

    left = [
        str(path.relative_to(tmp_path))
        for path in tmp_path.rglob("*.txt")
        if path.read_text() == LINK
    ]
    assert left == ["in/theirs.txt"]


ERROR = "<https://doi.org/10.1000/> and http://dx.doi.org/10.1000/182\n"
LINE = "2 findings in test data (1 error, 1 warning) do not change the exit code"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with test data that has an error and a warning, and a document without any."""
    write(tmp_path / "src" / "androidTest" / "a.md", ERROR)
    write(tmp_path / "README.md", "10.1000/183")
    return tmp_path


def check(*words: str, cwd: Path) -> tuple[int, str]:
    run = doiuri("check", "--isolated", "--offline", "-q", *words, cwd=cwd)
    return run.returncode, run.stdout


@pytest.mark.parametrize("form", ["full", "concise", "markdown"])
def test_people_see_findings_in_test_data_as_one_line_unless_they_want_all(
    form: str, tree: Path
) -> None:
    code, text = check("-o", form, "--fail-on=warning", cwd=tree)
    code_of_all, all_text = check("-o", form, "--fail-on=warning", "--all", cwd=tree)

    assert (code, code_of_all) == (0, 0)
    assert text.splitlines()[0] == f"{LINE}; --all lists them."
    assert "androidTest" not in text
    assert all_text.count("androidTest") == 2
    assert f"{LINE}.\n" in all_text


@pytest.mark.parametrize("form", ["json", "jsonl", "github", "gitlab", "sarif", "junit"])
def test_programs_get_findings_in_test_data(form: str, tree: Path) -> None:
    code, text = check("-o", form, cwd=tree)

    assert code == 0
    assert "the name has no suffix" in text or "not-https" in text
    assert LINE not in text
    assert text == check("-o", form, "--all", cwd=tree)[1]


PATH = "src/androidTest/a.md"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("", 0),
        (".", 0),
        ("src", 0),
        (PATH, 1),
        ("src/androidTest", 1),
        (". src/androidTest", 1),
        ("--files-from=list", 0),
        (f"--force-exclude {PATH}", 0),
        ("--force-exclude src/androidTest", 0),
    ],
)
def test_what_is_named_is_no_test_data_but_what_a_hook_names_is(
    words: str, code: int, tree: Path
) -> None:
    write(tree / "list", PATH)
    assert check(*words.split(), cwd=tree)[0] == code


def test_fix_reports_test_data_as_check_does(tree: Path) -> None:
    run = doiuri("fix", "--isolated", cwd=tree)

    assert run.returncode == 0
    assert run.stdout == f"{LINE}; --all lists them.\n"
    assert run.stderr == (
        "Fixed 0 in 0 files; 0 left.\n1 fix in test data left to --unsafe-fixes.\n"
    )
    assert doiuri("fix", "--isolated", "--all", cwd=tree).stdout.count("androidTest") == 2


def test_a_test_prefix_in_test_data_does_not_hide_the_one_in_a_document(tmp_path: Path) -> None:
    remember(tmp_path / "cache", {"10.5072/a": False, "10.5072/b": False})
    write(tmp_path / "a" / "tests" / "a.md", "10.5072/a")
    write(tmp_path / "b.md", "10.5072/b")
    write(tmp_path / "c" / "d.md", "10.5072/a")

    code, text = check("-o", "concise", "--cache", "cache", cwd=tmp_path)

    assert code == 1
    assert [line.partition(":")[0] for line in text.splitlines()[:-1]] == ["b.md"]
