"""Which files are read: named ones in any case, those in folders by type, .gitignore and options."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
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


def write(*paths: str, text: str = "doi:10.1000/182") -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True)


class Selection(NamedTuple):
    """The files that ``find`` reads, and its messages about others, as path and reason."""

    paths: list[str]
    messages: list[tuple[str, ...]]


def selected(*arguments: str, include: str = "", exclude: str = "") -> Selection:
    patterns = [f"--exclude={line}" for line in exclude.split()]
    if include:
        Path("doiuri.toml").write_text(f"include = {include.split()}\n")
    run = doiuri("find", "-o", "jsonl", *patterns, *arguments)
    if include:
        Path("doiuri.toml").unlink()
    places = [os.fsdecode(eval_path(line)) for line in run.stdout.splitlines()]
    messages = [tuple(line.split(": ", 2)[1:]) for line in run.stderr.splitlines()]
    return Selection(places, messages)


def eval_path(line: str) -> str:
    path: str = json.loads(line)["path"]
    return re.sub(r"\\x([89a-f][0-9a-f])", lambda byte: os.fsdecode(bytes.fromhex(byte[1])), path)


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
    write(*(f"site/{name}" for name in names.split()), text="")
    write("site/a.md")

    selection = selected()

    if mark is None:
        assert selection == (["site/a.md"], [])
    else:
        reason = f"left out: a site that a program built ({mark}); name it to read it"
        assert selection == ([], [("site", reason)])
    assert selected("site").paths == ["site/a.md"]


def test_folders_are_walked_in_order_without_those_that_programs_make_unless_named() -> None:
    write("docs/_build/b.md", "node_modules/c/README.md", "venv/lib/d.md", ".tox/e.md")
    assert selected("docs/_build", "venv").paths == ["docs/_build/b.md", "venv/lib/d.md"]
    write(
        "b.md", "a.md", "z/1.md", "c/d/e.md", "c/x.txt", "c/image.png", ".zenodo.md", ".hidden/a.md"
    )
    assert selected().paths == [".zenodo.md", "a.md", "b.md", "c/x.txt", "c/d/e.md", "z/1.md"]
    assert selected("c", "b.md", "c/x.txt", "./z").paths == [
        "c/x.txt",
        "c/d/e.md",
        "b.md",
        "./z/1.md",
    ]


def test_named_files_are_read_in_any_case() -> None:
    write("a.md", "ignored.md", "large.md", "x.unknown", text="doi:10.1000/182" + " " * 1985)
    write("doiuri.toml", text="max-size = 1000")
    write(".gitignore", text="ignored.md\n")
    git("init")
    names = ["ignored.md", "large.md", "x.unknown"]
    assert selected(*names, exclude="*.md").paths == names
    size = "left out: 2,000 bytes; max-size is 1,000"
    assert selected("--changed") == selected() == ([], [("a.md", size), ("large.md", size)])
    assert "2 files skipped: too large." in doiuri("check", "--offline").stderr
    write("doiuri.toml", text="max-size = 2000")
    assert selected().paths == ["a.md", "large.md"]


def test_what_git_ignores_is_left_out_but_not_what_it_tracks() -> None:
    write("a.md", "build/b.md", "build/tracked.md", "log.txt", "docs/build/c.md")
    write("docs/d.md", "docs/draft.md", "docs/secret.md", "docs/sub/draft.md")
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


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 15 + "*b", "a" * 200),
        ("**/a/" * 15 + "b", "a/" * 100),
        ("**/*a*/" * 15 + "b", "aa/" * 100),
    ],
    ids=["stars", "folders", "both"],
)
def test_patterns_with_many_stars_are_matched_fast(pattern: str, path: str) -> None:
    write(f"{path}c.md", f"{path}b.txt")
    assert is_fast(lambda: selected(exclude=pattern), 1)
    assert selected(include=f"{pattern}.txt").paths == [f"{path}b.txt"]


@pytest.mark.parametrize(
    ("include", "exclude", "paths"),
    [
        ("docs/", "", "docs/b.md docs/d.txt docs/old/c.md"),
        ("*.txt /a.MD", "", "a.MD docs/d.txt"),
        ("*.Md src/", "docs/", "a.MD old/e.md"),  # extensions in any case
        ("old/", "", "docs/old/c.md old/e.md"),
        ("*.lua", "", "src/b.LUA src/c.lua"),  # a type that is not known
        ("*.LUA", "", "src/b.LUA src/c.lua"),
        ("NEWS", "", "NEWS old/NEWS"),
        ("", "old/ b.md/ #*.md", "a.MD docs/b.md docs/d.txt"),
        ("", "docs/* !docs/d.txt", "a.MD docs/d.txt old/e.md"),
    ],
)
def test_include_and_exclude(include: str, exclude: str, paths: str) -> None:
    write("a.MD", "docs/b.md", "docs/old/c.md", "docs/d.txt", "old/e.md", "NEWS", "old/NEWS")
    write("src/b.LUA", "src/c.lua", "src/d.png", "old/Makefile")
    assert selected(include=include, exclude=exclude).paths == paths.split()


def test_named_pipes_are_passed_over_but_not_what_the_shell_opened() -> None:
    write("a.md")
    write("b.md", "c.md", text="\0")
    os.mkfifo("pipe.md")
    assert selected(".").paths == selected("pipe.md", "a.md").paths == ["a.md"]
    run = doiuri("check", "--offline", "pipe.md", ".")
    assert "3 files skipped: binary (2), not a regular file (1)." in run.stderr


def test_links_are_not_followed_in_folders() -> None:
    write("a/x.md")
    Path("a/loop").symlink_to("..")
    Path("a/self.md").symlink_to("self.md")
    Path("b.md").symlink_to("a/x.md")
    assert selected().paths == ["a/x.md"]
    assert selected("b.md").paths == ["b.md"]
    assert selected("a/loop").paths == ["a/loop/a/x.md"]


def test_a_file_is_read_once_however_it_is_named(tmp_path: Path) -> None:
    write("a/x.md")
    Path("link.md").symlink_to("a/x.md")
    Path("b").symlink_to("a")
    assert selected(
        "./a//x.md", "a/x.md", "a", f"{tmp_path}/a/../a/x.md", "link.md", "b"
    ).paths == ["./a//x.md"]


def test_deep_folders_are_read_and_one_that_cannot_be_is_a_problem(tmp_path: Path) -> None:
    write("b.md", deep := f"{'e/' * 400}x.md")
    for _ in range(50):  # longer than the system takes
        os.mkdir("d" * 100)  # noqa: PTH102
        os.chdir("d" * 100)
    os.chdir(tmp_path)
    selection = selected()
    assert selection.paths == ["b.md", deep]
    ((path, reason),) = selection.messages
    assert path.startswith("ddd")
    assert reason == "File name too long"


def changed(*arguments: object, since: str = "") -> list[str]:
    option = f"--changed={since}" if since else "--changed"
    return selected(*map(str, arguments), option).paths


def commit(message: str) -> None:
    git("add", ".")
    git("commit", "-m", message)


def test_what_changed_is_the_same_from_any_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, tree = (tmp_path.parent / f"{tmp_path.name}-{name}" for name in ("link", "tree"))
    link.symlink_to(tmp_path)

    def check(names: list[str], since: str = "") -> None:
        for place in (link / "sub", tmp_path / "sub", tmp_path):
            monkeypatch.chdir(place)
            below = [os.path.relpath(tmp_path / name) for name in names]
            inside = [name for name in below if not name.startswith("../")]
            assert changed(since=since) == changed(".", since=since) == inside, place
            for top in (os.path.relpath(tmp_path), link):
                assert changed(top, since=since) == below
            some = [name for name in below if tmp_path / "sub" in Path(name).resolve().parents]
            assert changed(f"{os.path.relpath(tmp_path)}/sub/", since=since) == some, place

    write(
        "same.md",
        "edited.md",
        "gone.md",
        "sub/edited.txt",
        "é ü.md",
        "sub-old/edited.md",
        "sub/link.md",
    )
    git("init")
    write("never.md")
    git("add", "gone.md", "never.md")
    Path("never.md").unlink()
    Path("sub/linked.md").symlink_to("../edited.md")
    first = ["edited.md", "gone.md", "same.md", "sub-old/edited.md"]
    first += ["sub/edited.txt", "sub/link.md", "é ü.md"]
    check(first)  # before the first commit
    commit("one")
    check([])
    write(
        "edited.md", "sub/edited.txt", "é ü.md", "sub-old/edited.md", text="other doi:10.1000/183"
    )
    write("new.md", "new.png", "sub/new.md")
    Path("gone.md").unlink()
    names = ["edited.md", "new.md", "sub-old/edited.md", "sub/edited.txt", "sub/new.md", "é ü.md"]
    check(names)
    assert changed("new.md", "sub-old") == names[1:3]
    git("worktree", "add", str(tree))
    monkeypatch.chdir(tree)
    assert changed() == []
    monkeypatch.chdir(tmp_path)
    commit("two")
    check([])
    check(names, since="HEAD~1")


def test_changed_files_with_odd_names_and_renamed() -> None:
    odd = ["new\nline.md", "sp ace.md", os.fsdecode(b"caf\xe9.md"), "old.md"]
    write(*odd)
    git("init")
    assert changed() == sorted(odd)
    commit("one")
    git("checkout", "--detach")
    git("mv", "old.md", "moved.md")
    write(*odd[:3], text="other doi:10.1000/183")
    assert changed() == sorted([*odd[:3], "moved.md"])
    git("commit", "-a", "-m", "two")
    assert (
        changed(since="HEAD~1") == changed(since="HEAD~1...HEAD") == sorted([*odd[:3], "moved.md"])
    )


NO_COMMIT = "--changed: {!r} is not a commit; name paths before --changed, or use --changed=REF"
REFERENCES = {name: NO_COMMIT.format(name) for name in ("nope", "..", "docs", "HEAD:a.md")}


@pytest.mark.parametrize("reference", [*REFERENCES, "nope..HEAD"])
def test_what_is_no_commit_is_said(reference: str, tmp_path: Path) -> None:
    def told(path: str = os.environ["PATH"], ceiling: str = "") -> str:
        run = doiuri("find", f"--changed={reference}", PATH=path, GIT_CEILING_DIRECTORIES=ceiling)
        assert (run.returncode, run.stdout, [*Path("docs").iterdir()]) == (2, "", [])
        return run.stderr.removeprefix("doiuri: ")

    Path("docs").mkdir()
    assert told(path="") == "--changed needs git, which is not installed\n"
    assert told(ceiling=str(tmp_path.parent)).startswith("git failed: not a git repository")
    git("init")
    assert told().startswith(REFERENCES.get(reference, "git failed: bad revision 'nope..HEAD'"))


def test_an_empty_list_names_no_file_and_binary_files_are_passed_over(tmp_path: Path) -> None:
    write("a.txt", text="doi:10.1000/182")
    Path("e.txt").write_bytes(b"doi:10.1000/182\0")
    Path("f.txt").write_bytes("doi:10.1000/183".encode("utf-16"))
    assert doiuri("find", "--files-from=-", cwd=tmp_path).stdout == ""
    run = doiuri("check", "--offline", "-o", "concise", cwd=tmp_path)
    assert "Could not check any of 2 DOIs" in run.stderr
    assert "1 file skipped: binary." in run.stderr


def test_a_stray_nul_hides_no_file_that_is_named(tmp_path: Path) -> None:
    Path("a.md").write_bytes(b"doi:10.1000/182 \0\n")
    Path("image.md").write_bytes(b"\x89PNG\r\n\0\0\0\rdoi:10.1000/183\n")

    named = doiuri("check", "--offline", "a.md", "image.md", cwd=tmp_path)
    walked = doiuri("check", "--offline", cwd=tmp_path)

    assert "Could not check 1 DOI" in named.stderr
    assert "1 file skipped: binary." in named.stderr
    assert "2 files skipped: binary." in walked.stderr


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
    run = doiuri("check", "--offline", "--force-exclude", "data", cwd=tmp_path)
    assert "0 files skipped" not in run.stderr
    above = "--isolated", "--exclude=data/", "--force-exclude", "../../data"
    assert doiuri("find", *above, cwd=tmp_path / "data" / "b").stdout == ""
    assert doiuri("fix", "--force-exclude", *named, cwd=tmp_path).returncode == 0
    assert Path("data/a.md").read_text() == link
    write("doiuri.toml", text='exclude = ["data/"]\nforce-exclude = true')
    assert doiuri("find", *named, cwd=tmp_path).stdout == "a.md:1:1: 10.1000/182\n"
    assert (
        doiuri("find", "-", "--force-exclude", stdin=link.encode()).stdout == "-:1:1: 10.1000/182\n"
    )


@pytest.mark.parametrize("command", ["check", "fix"])
@pytest.mark.parametrize(
    ("more", "is_told"), [([], False), (["a.md"], True), (["a.md", "-q"], False)]
)
def test_a_file_that_does_not_exist_gives_one_line(
    command: str, more: list[str], is_told: bool
) -> None:
    write("a.md", text="<https://doi.org/10.1000/>")  # an error; a problem is worse
    run = doiuri(command, "--offline", "none.md", *more)
    *summary, last = run.stderr.splitlines()
    assert (run.returncode, "error[syntax]" in run.stdout, bool(summary)) == (
        2,
        bool(more),
        is_told,
    )
    assert last == "doiuri: none.md: no such file or folder"
