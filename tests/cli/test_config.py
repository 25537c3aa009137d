"""The configuration file, the environment and the command line."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from support.cli.command import doiuri, remember
from support.growth import is_fast

OLD = "http://dx.doi.org/10.1000/182\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(text: str, path: str = "doiuri.toml") -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def told(*arguments: object) -> list[str]:
    """Return path and code of each finding."""
    run = doiuri("check", "--offline", "-q", "-o", "concise", *arguments)
    assert run.returncode in {0, 1}, run
    return [
        f"{line.partition(':')[0]} {line.partition('[')[2].partition(']')[0]}"
        for line in run.stdout.splitlines()
    ]


GIVEN: dict[str, Any] = json.loads(Path(__file__).with_name("config.json").read_text("utf-8"))


@pytest.mark.parametrize(("text", "options", "expected"), GIVEN["keys"])
@pytest.mark.parametrize("start", [".", "docs/old", "../outside"])
def test_each_key_of_the_file_does_what_its_option_does_from_anywhere(
    text: str, options: str | None, expected: list[str], start: str, tmp_path: Path
) -> None:
    for name, content in GIVEN["files"].items():
        write(content, f"tree/{name}")
    write(text, "tree/doiuri.toml")
    write("", "outside/a.md")
    os.chdir(tmp_path / "tree" / start)
    tree = os.path.relpath(tmp_path / "tree")
    config = ["--config", f"{tree}/doiuri.toml"] if start == "../outside" else []
    for path in (tree, tmp_path / "tree"):
        found = [os.path.relpath(line, tmp_path / "tree") for line in told(*config, path)]
        assert found == expected, path
    if options is not None and start == ".":
        assert told("--isolated", options) == expected


SUFFIXES = ["1", "182", "1a", "A1", "a", "ab", "abc", "a*c", "a?c", "[ab]", "b/1", "axbxc", "1.x"]
PATTERNS = [
    "10.1000/1",
    "10.1000/A",
    "10.1000/*",
    "*",
    "10.1000/a*c",
    "10.1000/a?c",
    "10.1000/[ab]",
]
PATTERNS += ["*1", "10.1000/1*", "10.1000/*b*", "0.1000/1", "10.1000/", "10.1000/a*b*c", "10.*0/1"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_of_names_is_for_whole_names_and_only_its_stars_have_a_meaning(
    pattern: str,
) -> None:
    names = [f"10.1000/{suffix}" for suffix in SUFFIXES]
    links = [f"http://doi.org/{name}".replace("?", "%3F") for name in names]
    write("".join(f"<{link}>\n\n" for link in links), "a.md")
    write(f'[ignore]\n"{pattern}" = ["not-https"]\n')

    run = doiuri("check", "--offline", "-q", "-o", "jsonl", "--select=not-https", "a.md")

    told = {json.loads(line)["doi"] for line in run.stdout.splitlines()}
    expression = ".*".join(map(re.escape, pattern.split("*")))
    expected = {name for name in names if not re.fullmatch(expression, name, re.IGNORECASE)}
    assert told == expected, f"{pattern!r} hides {sorted({*names} - told)}"


def test_options_add_to_lists_and_replace_choices() -> None:
    for name in ("a.md", "b.md", "c.md"):
        write(OLD, name)
    write('exclude = ["a.md"]\nselect = ["syntax"]\nignore = ["duplicate"]\n')
    assert told("--exclude=b.md", "--select=not-https", "--select=duplicate") == ["c.md not-https"]
    assert told("--exclude=b.md", "--select=not-https", "--ignore=not-https") == []
    assert told() == []
    write('exclude = ["a.md"]\nignore = ["not-https"]\n')
    assert told("--exclude=b.md", "--exclude=*.txt", "--ignore=syntax", "--ignore=doubled") == []


def test_the_nearest_file_upwards_is_read() -> None:
    for name in ("a.md", "docs/a.md", "docs/sub/a.md"):
        write(OLD, name)
    write('[tool.doiuri]\nfail-on = "warning"\n', "pyproject.toml")
    write('select = ["syntax"]\n', "docs/doiuri.toml")
    write("[tool.other]\n", "docs/pyproject.toml")
    write("[tool.other]\n", "docs/sub/pyproject.toml")
    assert doiuri("check", "--offline", "a.md").returncode == 1
    os.chdir("docs/sub")
    assert told() == []
    assert told("--isolated") == ["a.md not-https"]
    assert doiuri("check", "--offline", "--config=../../pyproject.toml").returncode == 1
    os.chdir("../..")
    write("\n")
    assert doiuri("check", "--offline", "a.md").returncode == 0  # before pyproject.toml


LOCK = '{"doiuri-lock": 1}'


@pytest.mark.parametrize(("config", "options", "expected"), GIVEN["locks"])
@pytest.mark.parametrize("start", [".", "docs", "docs/sub", "link"])
def test_the_lock_file_is_beside_the_configuration_from_anywhere(
    config: str, options: list[str], expected: list[str] | None, start: str
) -> None:
    write(config)
    write(LOCK, "doi.lock.json")
    write(LOCK, "l/other.json")
    write("doi:10.1000/182", "docs/sub/a.md")
    top = Path.cwd()
    Path("link").symlink_to(".")
    named = ["--config=link/doiuri.toml"] if start == "link" else []
    os.chdir("." if named else start)
    file = top / "docs" / "sub" / "a.md"
    run = doiuri("check", "--offline", "-q", "-o", "concise", file, *options, *named)
    assert run.returncode == (2 if expected is None else 0), run
    assert [line.partition("[")[2].partition("]")[0] for line in run.stdout.splitlines()] == (
        expected or []
    )


WRONG = [*GIVEN["wrong"], ["a = " + "[" * 5000, "doiuri.toml: maximum recursion depth exceeded"]]


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[text[:40] for text, _ in WRONG])
def test_a_wrong_file_is_said_with_the_key(text: str, message: str) -> None:
    Path("up").symlink_to("..")
    write(text)
    run = doiuri("check")
    assert (run.returncode, run.stdout) == (2, "")
    Path("docs").mkdir()
    below = doiuri("check", cwd="docs").stderr
    assert below == run.stderr.replace("doiuri: doiuri.toml", "doiuri: ../doiuri.toml")
    assert re.search(message, run.stderr), run.stderr
    assert doiuri("check", "--isolated").returncode == 0


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("gone.toml", None, "gone.toml: No such file"),
        ("pyproject.toml", "[tool]\nx = 1\n", "pyproject.toml: there is no [tool.doiuri] in it"),
        ("pyproject.toml", "[tool]\ndoiuri = 1\n", "tool.doiuri must be a table"),
    ],
)
def test_a_named_file_without_our_table_is_said(file: str, text: str | None, message: str) -> None:
    if text is not None:
        write(text, file)
    run = doiuri("check", "--config", file)
    assert (run.returncode, doiuri("check", "--isolated", "--config", file).returncode) == (2, 0)
    assert message in run.stderr


@pytest.mark.parametrize(
    ("words", "environ", "of_file", "known"),
    [
        ([], "", "three", 3),
        ([], "two", "three", 2),
        (["--cache=one"], "two", "three", 1),
        ([], "", "", 0),
        ([], "", ":memory:", 0),
    ],
    ids=["file", "environment", "option", "none", "memory"],
)
def test_an_option_wins_over_the_environment_and_that_over_the_file(
    words: list[str], environ: str, of_file: str, known: int
) -> None:
    write("doi:10.1000/1 doi:10.1000/2 doi:10.1000/3", "a.md")
    for count, name in enumerate(("one", "two", "three"), 1):
        remember(Path(name), {f"10.1000/{number}": True for number in range(1, count + 1)})
    write(f'cache = "{of_file}"' if of_file else "")
    run = doiuri(
        "check", "--offline", *words, DOIURI_CACHE=environ and str(Path(environ).resolve())
    )
    assert (f"{known} known" if known else "Could not check") in run.stderr


def test_fix_changes_no_file_if_none_has_a_column_and_else_those_columns_alone() -> None:
    table = "doi,url\nhttps://doi.org/10.1000/1,http://doi.org/10.1000/2\n"
    for name in ("a.csv", "b.csv"):
        write(table, name)
    for columns, code in (("doi,nope", 2), ("doi", 0)):
        run = doiuri("fix", "-j2", f"--columns={columns}")
        assert run.returncode == code, run
        new = table if code else table.replace("https://doi.org/", "")
        assert [Path(name).read_text() for name in ("a.csv", "b.csv")] == [new, new], (
            columns,
            code,
        )


def test_check_has_at_most_22_options() -> None:
    lines = (text := doiuri("check", "--help").stdout).partition("Options:")[2].splitlines()
    defaults = re.findall(r"\(default:\s+(\w+)", text)
    assert defaults == [
        "error",
        "DOIURI_SEARCH",
        "DOIURI_RESOLVER",
        "DOIURI_OFFLINE",
        "DOIURI_CACHE",
        "doi",
    ]
    shown = [line for line in lines if line.startswith("  -") and "--help" not in line]
    assert 10 < len(shown) <= 22, shown


def test_a_code_that_is_gone_takes_a_line() -> None:
    write('per-file-ignores = {"*.csv" = ["kind-differs", "field-form"]}')
    run = doiuri("check")
    assert (run.returncode, run.stdout) == (0, "")
    assert run.stderr.splitlines()[0] == "doiuri: there is no code kind-differs any more; remove it"


def test_a_pattern_with_many_stars_is_matched_fast() -> None:
    write('[ignore]\n"10.*z*z*z*z*b" = ["not-https"]\n')
    write(f"http://doi.org/10.1000/{'z' * 200}", "a.md")
    assert is_fast(told, 1)


def unread(*arguments: object) -> list[str]:
    """Return what the summary says about files that are not read."""
    run = doiuri("check", "--offline", *arguments)
    return [line for line in run.stderr.splitlines() if "not read" in line]


def test_types_that_hold_dois_and_are_not_read_are_named_with_what_reads_them() -> None:
    write("! doi:10.1000/182\n", "a.lua")
    write("// https://doi.org/10.1000/182\n", "src/b.PHP")
    write("10.0.0.0/8, 10.5/3 and 110.1000/182\n", "c.conf")
    write("\0doi:10.1000/182\n", "d.png")
    write("doi:10.1000/182\n", "Makefile")
    write("doi\n10.1000/182\n", "e.csv")

    said = unread()

    types = '{ ".lua" = "code", ".php" = "code" }'
    assert said == [
        f"DOIs in .lua, .php files were not read; to read them, configure extensions = {types}",
        "DOIs in .csv files were not read; --columns NAME reads them.",
    ]
    write(f"extensions = {types}\n")
    assert unread() == said[1:]
    assert told("--select=syntax,not-found") == []


def test_the_patterns_of_the_configuration_are_no_unread_dois() -> None:
    write("text\n", "a.md")
    write('[tool.doiuri.ignore]\n"10.5555/*" = ["not-found"]\n', "pyproject.toml")

    assert unread() == []


@pytest.mark.parametrize(
    ("options", "config"),
    [
        (["--exclude=*.lua"], ""),
        ([], 'include = ["*.md"]'),
        (["--columns=doi"], ""),
        (["a.md"], ""),
        (["-q"], ""),
    ],
)
def test_nothing_is_said_of_files_that_nobody_misses(options: list[str], config: str) -> None:
    write("! doi:10.1000/182\n", "a.lua")
    write("text\n", "a.md")
    write("doi: 10.1000/182\n", "a.yaml")
    write(config)

    assert unread(*options) == []
