"""The configuration file, the environment and the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from doiuri_cli._config import OPTIONS, Config, ConfigError, default_lock, read_config
from doiuri_cli.commands._options import make_config
from doiuri_cli.files import Patterns
from doiuri_cli.rules import Finding
from support.cli.command import doiuri
from support.growth import is_fast


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DOIURI_CACHE")


def write(text: str, path: str = "doiuri.toml") -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def test_all_keys() -> None:
    write(
        """
        include = ["docs/"]
        exclude = ["*.txt"]
        select = ["not-found", "syntax"]
        fail-on = "warning"
        tex-escape = "raw"
        max-size = 1000
        extensions = { ".JL" = "text", ".R" = "python" }
        lock = "locks/doi.json"
        locked = true
        records = false
        resolver = "https://doi.example"
        offline = true
        mailto = "a@example.org"
        cache = "answers.sqlite"
        timeout = 2.5
        budget = 60
        rate = 5
        ignore = ["duplicate"]
        [per-file-ignores]
        "tests/" = ["not-found"]
        """
    )
    here = str(Path.cwd())
    config = make_config(None)
    assert config == Config(
        include=(Patterns(here, ("docs/",)),),
        exclude=(Patterns(here, ("*.txt",)),),
        extensions=((".jl", "text"), (".r", "python")),
        select=frozenset({"not-found", "syntax"}),
        ignore=frozenset({"duplicate"}),
        per_file_ignores=((Patterns(here, ("tests/",)), frozenset({"not-found"})),),
        fail_on="warning",
        tex_escape="raw",
        max_size=1000,
        lock="locks/doi.json",
        locked=True,
        records=False,
        resolver="https://doi.example",
        offline=True,
        mailto="a@example.org",
        cache=f"{here}/answers.sqlite",
        timeout=2.5,
        budget=60,
        rate=5,
    )
    assert config.codes_for("tests/a.md") == {"syntax"}
    assert config.codes_for("docs/a.md") == {"not-found", "syntax"}


def test_ignores_by_doi() -> None:
    write('[ignore]\n"10.5555/*" = ["not-found"]\n"10.1000/a[1]" = ["syntax", "raw-link"]\n')
    config = make_config(None)

    def ignores(doi: str | None, code: str) -> bool:
        return config.ignores(Finding("a.md", 1, 1, 1, 1, code, "", doi=doi))

    assert ignores("10.5555/x/Y", "not-found")
    assert ignores("10.1000/A[1]", "raw-link")
    assert not ignores("10.5555/x", "raw-link")
    assert not ignores("10.55555/x", "not-found")
    assert not ignores("10.1000/a1", "raw-link")
    assert not ignores(None, "not-found")


def test_a_pattern_with_many_stars_is_matched_fast() -> None:
    write('[ignore]\n"10.*a*a*a*a*b" = ["syntax"]\n')
    config = make_config(None)
    name = f"10.1000/{'a' * 300}"
    finding = Finding("a.md", 1, 1, 1, 1, "syntax", "", doi=name)
    assert is_fast(lambda: config.ignores(finding), 1)
    assert config.ignores(finding._replace(doi=f"{name}b"))


def test_the_nearest_file_upwards() -> None:
    write("[tool.doiuri]\nrate = 1\n", "pyproject.toml")
    write("rate = 2\n", "docs/doiuri.toml")
    write("[tool.other]\n", "docs/pyproject.toml")
    write("[tool.other]\n", "docs/sub/pyproject.toml")
    assert read_config(None)["rate"] == 1
    os.chdir("docs/sub")
    assert read_config(None)["rate"] == 2
    assert read_config("../../pyproject.toml")["rate"] == 1
    assert read_config(None, isolated=True) == {"lock": None}
    os.chdir("..")
    write("rate = 3\n", "../doiuri.toml")
    os.chdir("..")
    assert read_config(None)["rate"] == 3  # before pyproject.toml


def test_paths_are_relative_to_the_file() -> None:
    write('[tool.doiuri]\nlock = "l.json"\nexclude = ["/docs/old/"]\n', "pyproject.toml")
    Path("docs/old").mkdir(parents=True)
    top = str(Path.cwd())
    os.chdir("docs")
    config = make_config(None)
    assert config.lock == "../l.json"
    assert config.exclude[0].match(f"{top}/docs/old", folder=True)


def test_the_default_lock_file() -> None:
    assert make_config(None).lock is None
    write("{}", "doi.lock.json")
    assert make_config(None).lock == "doi.lock.json"
    assert make_config(None, lock="").lock is None
    assert make_config(None, isolated=True, locked=True).lock == default_lock(None, isolated=True)
    write("lock = false\n")
    assert make_config(None).lock is None


WRONG = [
    ("exlude = []", r"doiuri.toml: exlude: unknown key; did you mean exclude\?"),
    ("xyz = 1", r"doiuri.toml: xyz: unknown key; known are budget, cache, "),
    ('ignore = {"10.5555/*" = ["nope"]}', "ignore: unknown code 'nope'"),
    ('per-file-ignores = ["a"]', "per-file-ignores: .* is not a table of patterns with lists of codes"),
    ('extensions = [".jl"]', "extensions: .* is not a table such as"),
    ('extensions = { jl = "text" }', "extensions: 'jl' is not an extension such as '.jl'"),
    ('extensions = { ".jl" = "julia" }', "extensions: 'julia' is not one of bibtex, code, .*, yaml"),
    ('cache = "../x.db"', "cache: '../x.db' is not a path below .*; name it with --cache or DOIURI_CACHE"),
    ('cache = "up/x.db"', "cache: 'up/x.db' is not a path below"),
    ('cache = "redis://host/0"', "cache: 'redis://host/0' is not a path below"),
    ('lock = "../x.lock"', "lock: '../x.lock' is not a path below .*; name it with --lock"),
    ('lock = "/x.lock"', "lock: '/x.lock' is not a path below"),
    ('lock = "up/x.lock"', "lock: 'up/x.lock' is not a path below"),
    ("a = ", "doiuri.toml: Invalid value"),
    ("a = " + "[" * 5000, "doiuri.toml: maximum recursion depth exceeded"),
]


def test_a_wrong_file_is_said_with_the_key() -> None:
    Path("up").symlink_to("..")
    for text, message in WRONG:
        write(text)
        with pytest.raises(ConfigError, match=message):
            read_config(None)
    Path("doiuri.toml").unlink()
    with pytest.raises(ConfigError, match=r"gone\.toml: No such file"):
        read_config("gone.toml")
    write("[tool]\nx = 1\n", "pyproject.toml")
    with pytest.raises(ConfigError, match=r"pyproject\.toml: there is no \[tool\.doiuri\] in it"):
        read_config("pyproject.toml")
    write("[tool]\ndoiuri = 1\n", "pyproject.toml")
    with pytest.raises(ConfigError, match=r"tool\.doiuri must be a table"):
        read_config(None)


def test_every_field_has_a_key() -> None:
    others = {"ignored_dois", "columns", "folders"}  # a part of "ignore", an option, and arguments
    assert {key.replace("-", "_") for key in OPTIONS} | others == {*Config._fields}


def test_the_command_line_wins() -> None:
    write('rate = 1\nexclude = ["a"]\nignore = ["duplicate"]\nselect = ["syntax"]\n')
    config = make_config(None, exclude=("b",), ignore=("doubled",), select=("not-found,",))
    assert [patterns.lines for patterns in config.exclude] == [("a",), ("b",)]
    assert config.ignore == frozenset({"duplicate", "doubled"})
    assert config.select == frozenset({"not-found"})
    assert make_config(None, select=(), resolver=None).select == frozenset({"syntax"})


@pytest.mark.parametrize(
    ("name", "of_file", "of_environment", "option"),
    [
        ("resolver", "http://one.example", "http://two.example", "http://three.example"),
        ("offline", True, "no", False),
        ("mailto", "one@example.org", "two@example.org", "three@example.org"),
        ("cache", ":memory:", "two.sqlite", "three.sqlite"),
    ],
)
def test_an_option_wins_over_the_environment_and_that_over_the_file(
    name: str, of_file: str | bool, of_environment: str, option: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(f"{name} = {json.dumps(of_file)}")
    assert getattr(make_config(None), name) == of_file
    monkeypatch.setenv(f"DOIURI_{name.upper()}", of_environment)
    assert getattr(make_config(None), name) == (False if name == "offline" else of_environment)
    assert getattr(make_config(None, **{name: option}), name) == option


def test_locked_needs_a_lock_file() -> None:
    with pytest.raises(ValueError, match="--locked needs a lock file"):
        make_config(None, locked=True)


def test_check_has_at_most_20_options() -> None:
    lines = doiuri("check", "--help").stdout.partition("Options:")[2].splitlines()
    shown = [line for line in lines if line.startswith("  -") and "--help" not in line]
    assert 10 < len(shown) <= 20, shown


def test_the_command_exits_with_2(tmp_path: Path) -> None:
    write("exlude = []")
    run = doiuri("check", cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "doiuri: doiuri.toml: exlude: unknown key; did you mean exclude?\n"
    assert doiuri("check", "--isolated", cwd=tmp_path).returncode == 0


def test_a_code_that_is_gone_takes_a_line(tmp_path: Path) -> None:
    write('per-file-ignores = {"*.csv" = ["kind-differs", "field-form"]}')
    run = doiuri("check", cwd=tmp_path)
    assert (run.returncode, run.stdout) == (0, "")
    assert run.stderr.splitlines()[0] == "doiuri: there is no code kind-differs any more; remove it"
