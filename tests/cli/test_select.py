"""Which files are read: named ones in any case, those in folders by type, .gitignore and options."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from doiuri_cli.files import Patterns
from doiuri_cli.files._select import Filter, GitError, Selection, changed_files, select, select_changed
from support.cli.command import doiuri
from support.growth import is_fast


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "A")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.org")


def write(*paths: str, text: str = "x") -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True)


def selected(*arguments: str, include: str = "", exclude: str = "", max_size: int = 1000) -> Selection:
    return select(arguments or ["."], wanted(include, exclude, max_size))


def wanted(include: str = "", exclude: str = "", max_size: int = 1000) -> Filter:
    def patterns(text: str) -> tuple[Patterns, ...]:
        return (Patterns(os.getcwd(), tuple(text.split())),) if text else ()  # noqa: PTH109

    return Filter(
        lambda path: path.lower().endswith((".md", ".txt")), patterns(include), patterns(exclude), max_size
    )


def test_folders_that_programs_make_are_passed_over_unless_named() -> None:
    write("a.md", "docs/_build/b.md", "node_modules/c/README.md", "venv/lib/d.md", ".tox/e.md")
    assert selected().paths == ["a.md"]
    assert selected("docs/_build", "venv").paths == ["docs/_build/b.md", "venv/lib/d.md"]


@pytest.mark.parametrize(
    ("layout", "source", "site"),
    [("--sep", "docs/source", "docs/build/html"), ("--no-sep", "docs", "docs/_build/html")],
)
def test_what_sphinx_built_is_left_out(layout: str, source: str, site: str, tmp_path: Path) -> None:
    for words in (
        ("sphinx.cmd.quickstart", "-q", layout, "-p", "x", "-a", "x", "docs"),
        ("sphinx", "-q", source, site),
    ):
        subprocess.run([sys.executable, "-m", *words], check=True, capture_output=True)
    run = doiuri("check", "--offline", cwd=tmp_path)
    note = f"doiuri: {site}: left out: a site that a program built (.buildinfo); name it to read it\n"
    assert run.stderr.startswith(note) == (layout == "--sep"), run.stderr
    assert "No DOIs found in 2 files" in run.stderr  # conf.py and index.rst


@pytest.mark.parametrize(
    ("names", "mark"),
    [
        ("a.md .buildinfo", ".buildinfo"),
        ("index.html a.md objects.inv", "objects.inv"),
        ("index.html a.md sitemap.xml", "sitemap.xml"),
        ("a.md doctrees/environment.pickle", "doctrees"),
        ("a.md .doctrees/environment.pickle", ".doctrees"),
        ("a.md conf.py doctrees/environment.pickle", None),
        ("a.md objects.inv", None),
        ("index.html a.md", None),
    ],
)
def test_built_sites_are_left_out_unless_named(names: str, mark: str | None) -> None:
    write(*(f"site/{name}" for name in names.split()))
    assert selected().paths == ([] if mark else ["site/a.md"])
    reason = f"a site that a program built ({mark}); name it to read it"
    assert selected().left_out == ([("site", reason)] if mark else [])
    assert selected("site").paths == ["site/a.md"]


def test_folders_are_walked_in_order() -> None:
    write("b.md", "a.md", "z/1.md", "c/d/e.md", "c/x.txt", "c/image.png", ".zenodo.md", ".hidden/a.md")
    assert selected().paths == [".zenodo.md", "a.md", "b.md", "c/x.txt", "c/d/e.md", "z/1.md"]
    assert selected("c", "b.md", "c/x.txt", "./z").paths == ["c/x.txt", "c/d/e.md", "b.md", "./z/1.md"]


def test_named_files_are_read_in_any_case() -> None:
    write("a.md", "ignored.md", "large.md", "x.unknown", text="y" * 2000)
    write(".gitignore", text="ignored.md\n")
    git("init")
    names = ["ignored.md", "large.md", "x.unknown"]
    assert selected(*names, exclude="*.md").paths == names
    everything = selected()
    assert everything.paths == []
    assert everything.skipped == {"too large": 2}
    size = "2,000 bytes; max-size is 1,000"
    assert everything.left_out == [("a.md", size), ("large.md", size)]


def test_what_does_not_exist_is_a_problem() -> None:
    assert selected("gone.md").problems == [("gone.md", "no such file or folder")]


def test_what_git_ignores_is_left_out_but_not_what_it_tracks() -> None:
    write(
        "a.md", "build/b.md", "docs/build/c.md", "docs/d.md", "docs/draft.md", "docs/sub/draft.md", "log.txt"
    )
    write("build/tracked.md", "docs/secret.md")
    write(".gitignore", text="\ufeff*.txt\nbuild/\ndraft.md\n")
    write("docs/.gitignore", text="!/draft.md\nd.md\n")
    everything = selected().paths
    assert {"log.txt", "build/b.md", "docs/d.md"} < {*everything}  # no repository
    git("init")
    Path(".git/info/exclude").write_text("/docs/secret.md\n")
    git("add", "-f", "build/tracked.md")
    assert selected().paths == ["a.md", "build/tracked.md", "docs/draft.md"]
    assert selected("docs", "build").paths == ["docs/draft.md", "build/tracked.md"]
    assert selected("docs/build").paths == ["docs/build/c.md"]  # named all the same


def test_another_repository_in_a_folder_has_ignored_files_of_its_own() -> None:
    write("a.md", "inner/a.md", "inner/b.md", "inner/c/b.md")
    write("inner/.gitignore", text="b.md\n")
    git("init")
    git("init", "inner")
    assert selected().paths == ["a.md", "inner/a.md"]


def test_patterns_with_many_stars_are_matched_fast() -> None:
    for pattern, unit in (("*a" * 15 + "*b", "a"), ("**/a/" * 15 + "b", "a/"), ("**/*a*/" * 15 + "b", "aa/")):
        patterns = Patterns("/", (pattern,))
        assert is_fast(partial(patterns.match, "/" + unit * 250), 1), pattern
        assert patterns.match(f"/{unit * 250}b"), pattern


def test_include_and_exclude() -> None:
    write("a.md", "docs/b.md", "docs/old/c.md", "docs/d.txt", "old/e.md")
    assert selected(include="docs/").paths == ["docs/b.md", "docs/d.txt", "docs/old/c.md"]
    assert selected(include="*.txt /a.md").paths == ["a.md", "docs/d.txt"]
    assert selected(exclude="old/").paths == ["a.md", "docs/b.md", "docs/d.txt"]
    assert selected(exclude="docs/* !docs/d.txt").paths == ["a.md", "docs/d.txt", "old/e.md"]


def test_a_pattern_to_include_names_a_type_that_is_not_known() -> None:
    write("a.md", "src/b.jl", "src/c.png", "src/d.md")
    assert selected(include="*.jl").paths == ["src/b.jl"]
    assert selected(include="src/ *.md").paths == ["a.md", "src/d.md"]


def test_a_name_to_include_and_the_case_of_extensions() -> None:
    write("NEWS", "a.MD", "b.F90", "c.f90", "sub/NEWS", "sub/a.md", "sub/Makefile")
    assert selected(include="NEWS").paths == ["NEWS", "sub/NEWS"]
    for pattern in ("*.f90", "*.F90"):
        assert selected(include=pattern).paths == ["b.F90", "c.f90"]
    assert selected(include="*.Md sub/").paths == ["a.MD", "sub/a.md"]


def test_the_configuration_names_more_types_of_files(tmp_path: Path) -> None:
    write("a.f90", "b.m", "c.c", text="# http://doi.org/10.1000/182")
    write("doiuri.toml", text='extensions = { ".f90" = "text", ".M" = "python" }\n')
    places = [line.rpartition(": ")[0] for line in doiuri("find", cwd=tmp_path).stdout.splitlines()]
    assert places == ["a.f90:1:3", "b.m:1:3"]
    assert len(doiuri("check", "-j2", "--offline", "-o", "concise", cwd=tmp_path).stdout.splitlines()) == 2
    Path("doiuri.toml").unlink()
    assert doiuri("find", cwd=tmp_path).stdout == ""


def test_programs_ontologies_and_packages_of_r_are_read_by_default(tmp_path: Path) -> None:
    names = ["DESCRIPTION", "a.R", "b.r", "c.jl", "d.rs", "e.nf", "f.Rd", "g.Rnw", "h.owl"]
    write(*names, text="doi:10.1000/182")
    places = doiuri("find", cwd=tmp_path).stdout.splitlines()
    assert [place.partition(":")[0] for place in places] == names


def test_named_pipes_are_passed_over_but_not_what_the_shell_opened() -> None:
    write("a.md")
    os.mkfifo("pipe.md")
    selection = selected("a.md", "pipe.md", "/dev/stdin", "/dev/fd/0", "-")
    assert selection.paths == ["a.md", "/dev/stdin", "/dev/fd/0", "-"]
    assert selection.skipped == {"not a regular file": 1}
    assert selected(".").paths == ["a.md"]


def test_links_are_not_followed_in_folders() -> None:
    write("a/x.md")
    Path("a/loop").symlink_to("..")
    Path("a/self.md").symlink_to("self.md")
    Path("b.md").symlink_to("a/x.md")
    assert selected().paths == ["a/x.md"]
    assert selected("b.md", "a/loop").paths == ["b.md", "a/loop/a/x.md"]


def test_an_unreadable_folder_is_a_problem(tmp_path: Path) -> None:
    write("b.md")
    for _ in range(50):  # longer than the system takes
        os.mkdir("d" * 100)  # noqa: PTH102
        os.chdir("d" * 100)
    os.chdir(tmp_path)
    selection = selected()
    assert selection.paths == ["b.md"]
    ((path, reason),) = selection.problems
    assert path.startswith("ddd")
    assert reason == "File name too long"


def test_deep_folders() -> None:
    deep = "d/" * 400
    os.makedirs(deep)  # noqa: PTH103
    Path(deep, "x.md").write_text("x")
    assert selected().paths == [f"{deep}x.md"]


def test_changed_files() -> None:
    write("same.md", "edited.md", "gone.md", "sub/edited.txt", "é ü.md")
    git("init")
    assert len(changed_files(None)) == 5  # before the first commit
    git("add", ".")
    git("commit", "-m", "one")
    write("edited.md", "sub/edited.txt", "é ü.md", text="other")
    write("new.md", "new.png", "sub/new.md")
    Path("gone.md").unlink()
    names = ["edited.md", "new.md", "sub/edited.txt", "sub/new.md", "é ü.md"]
    assert select_changed(changed_files(None), ["."], wanted()).paths == names
    assert select_changed(changed_files("HEAD"), ["sub"], wanted()).paths == names[2:4]
    os.chdir("sub")
    assert select_changed(changed_files(None), ["."], wanted()).paths == ["edited.txt", "new.md"]
    os.chdir("..")
    git("add", ".")
    git("commit", "-m", "two")
    assert changed_files(None) == []
    assert select_changed(changed_files("HEAD~1"), ["."], wanted()).paths == names


def test_changed_files_with_odd_names_and_renamed() -> None:
    odd = ["new\nline.md", "sp ace.md", os.fsdecode(b"caf\xe9.md"), "old.md"]
    write(*odd)
    git("init")
    assert select_changed(changed_files(None), ["."], wanted()).paths == sorted(odd)
    git("add", ".")
    git("commit", "-m", "one")
    git("checkout", "--detach")
    git("mv", "old.md", "moved.md")
    write(*odd[:3], text="other")
    assert select_changed(changed_files(None), ["."], wanted()).paths == sorted([*odd[:3], "moved.md"])
    git("commit", "-a", "-m", "two")
    assert len(changed_files("HEAD~1")) == len(changed_files("HEAD~1...HEAD")) == 4


@pytest.mark.parametrize("reference", ["nope", "--output=x", "..", "docs", "HEAD:a.md"])
def test_no_such_commit(reference: str) -> None:
    git("init")
    with pytest.raises(GitError, match=reference):
        changed_files(reference)


def test_changed_without_a_repository() -> None:
    with pytest.raises(GitError, match="not a git repository"):
        changed_files(None)


def test_the_command_reads_lists_and_passes_over_binary_files(tmp_path: Path) -> None:
    write("a.txt", "b c.txt", "d.unknown", text="doi:10.1000/182")
    Path("e.txt").write_bytes(b"doi:10.1000/182\0")
    Path("f.txt").write_bytes("doi:10.1000/183".encode("utf-16"))
    run = doiuri("find", "--files-from", "-", cwd=tmp_path, stdin=b"b c.txt\nd.unknown\n")
    assert run.stdout.splitlines() == ["b c.txt:1:1: 10.1000/182", "d.unknown:1:1: 10.1000/182"]
    Path("list").write_bytes(b"b c.txt\0a.txt\0")
    run = doiuri("find", "--files-from=list", cwd=tmp_path)
    assert run.stdout.splitlines() == ["b c.txt:1:1: 10.1000/182", "a.txt:1:1: 10.1000/182"]
    run = doiuri("check", "--offline", "-o", "concise", cwd=tmp_path)
    assert "none of 2 DOIs" in run.stderr
    assert "1 file skipped: binary." in run.stderr


def test_named_files_that_are_excluded_are_left_out_if_asked(tmp_path: Path) -> None:
    link = "http://dx.doi.org/10.1000/182"
    write("data/a.md", "data/b/c.md", "a.md", text=link)
    write("doiuri.toml", text='exclude = ["data/"]')
    named = ("data/a.md", "data/b", "a.md", "data")
    run = doiuri("find", *named, cwd=tmp_path)
    assert [line.partition(":")[0] for line in run.stdout.splitlines()] == ["data/a.md", "a.md"]
    run = doiuri("find", "--force-exclude", *named, cwd=tmp_path)
    assert run.stdout == "a.md:1:1: 10.1000/182\n"
    run = doiuri("check", "--offline", "--force-exclude", *named, cwd=tmp_path)
    assert "1 file skipped: excluded." in run.stderr
    assert doiuri("fix", "--force-exclude", *named, cwd=tmp_path).returncode == 0
    assert Path("data/a.md").read_text() == link
    write("doiuri.toml", text='exclude = ["data/"]\nforce-exclude = true')
    assert doiuri("find", *named, cwd=tmp_path).stdout == "a.md:1:1: 10.1000/182\n"
    assert doiuri("find", "-", "--force-exclude", cwd=tmp_path, stdin=link.encode()).stdout


@pytest.mark.parametrize("command", ["check", "fix"])
def test_a_file_that_does_not_exist_gives_one_line(command: str, tmp_path: Path) -> None:
    run = doiuri(command, "--offline", "none.md", cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "doiuri: none.md: no such file or folder\n"
