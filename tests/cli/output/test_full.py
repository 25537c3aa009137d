"""``full`` and standard error, for people at a terminal; ``-o``: files that are whole; hostile names."""

from __future__ import annotations

import io
import itertools
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.cli.command import MAIN, doiuri, remember


def shown(folder: Path, text: str) -> tuple[str, str]:
    """Return the excerpt and the carets of the first DOI, which is told as it is in no lock file."""
    (folder / "none.json").write_text('{"doiuri-lock": 1}')
    words = (
        "check",
        "--isolated",
        "-q",
        "--lock",
        "none.json",
        "--locked",
        "-",
        "--stdin-filename=a.txt",
    )
    run = doiuri(*words, cwd=folder, stdin=text.encode())
    _, line, carets, *_ = run.stdout.splitlines()
    assert line[5:8] == carets[5:8] == " | "
    return line[8:], carets[8:]


WIDE = {
    "漢字 ": 5,
    "\uff21 ": 3,
    "cafe\u0301 ": 5,
    "\u1112\u1161\u11ab ": 3,
    "\U0001f600 ": 3,
    "\x1b[31m ": 9,
    "\u202e": 6,  # shown as \\x1b[31m and \\u202e
}


@pytest.mark.parametrize("before", WIDE)
def test_carets_line_up_by_columns(before: str, tmp_path: Path) -> None:
    line, carets = shown(tmp_path, f"{before}10.1000/182 end")
    assert line.endswith("10.1000/182 end")
    assert carets == " " * WIDE[before] + "^" * 11


@pytest.mark.parametrize(
    ("text", "line", "carets"),
    [
        ("x 10.1000/漢字 y", "x 10.1000/漢字 y", "  " + "^" * 12),
        ("\ta\t10.1000/182", "\ta\t10.1000/182", "\t \t" + "^" * 11),
        (f"see 10.1000/{'z' * 200} there", f"see 10.1000/{'z' * 88}…", "    " + "^" * 96),
        (f"{'a' * 500} 10.1000/182 {'b' * 500}", f"…{'a' * 29} 10.1000/182 {'b' * 58}…", " " * 31 + "^" * 11),
    ],
    ids=["wide", "tabs", "a long name", "a long line"],
)  # fmt: skip
def test_an_excerpt_fits_a_line_and_the_carets_fit_it(
    text: str, line: str, carets: str, tmp_path: Path
) -> None:
    assert shown(tmp_path, text) == (line, carets)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def main(
    stream: str,
    output: io.StringIO,
    words: list[str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> str:
    """Return what the command writes to a stream of this process."""
    monkeypatch.setattr(sys, stream, output)
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit):
        MAIN(["check", "--isolated", "--offline", *words])
    return output.getvalue()


@pytest.mark.parametrize(
    ("names", "stream", "colour"),
    [
        ([], io.StringIO, False),
        ([], Terminal, True),
        (["NO_COLOR"], Terminal, False),
        (["FORCE_COLOR"], io.StringIO, True),
        (["FORCE_COLOR", "NO_COLOR"], Terminal, False),
    ],
)
def test_colours_on_a_terminal_unless_no_color_is_set(
    names: list[str],
    stream: type[io.StringIO],
    colour: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "a.md").write_text("<http://doi.org/10.1000/182> <https://doi.org/10.1000/>")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name in names:
        monkeypatch.setenv(name, "1")
    written = main("stdout", stream(), ["-q", "-o", "full:a.txt"], tmp_path, monkeypatch)
    labels = "\x1b[33m\x1b[1mwarning[not-https]\x1b[0m", "\x1b[31m\x1b[1merror[syntax]\x1b[0m"
    assert [one in written for one in labels] == ["\x1b" in written] * 2 == [colour] * 2
    assert "\x1b" not in (tmp_path / "a.txt").read_text()


@pytest.mark.parametrize(
    ("stream", "quiet", "is_shown"),
    [(Terminal, "", True), (Terminal, "-q", False), (io.StringIO, "", False)],
    ids=["terminal", "quiet", "file"],
)
def test_progress_is_one_line_of_a_terminal_that_is_redrawn_and_removed(
    stream: type[io.StringIO],
    quiet: str,
    is_shown: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number in range(4):
        (tmp_path / f"{number}.md").write_text("doi:10.1000/182")
    clock = itertools.count(1000, 0.6)  # seconds
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    monkeypatch.setenv("COLUMNS", "21")
    *drawn, rest = main("stderr", stream(), ["-j1", *quiet.split()], tmp_path, monkeypatch).split(
        "\r"
    )
    assert bool(drawn) == is_shown
    if is_shown:
        rows = [
            *itertools.accumulate(drawn, lambda row, new: new + row[len(new) :])
        ]  # as on a terminal
        assert [row for row in map(str.rstrip, rows) if row][:1] == ["Reading files: 2 of"]
        assert (rows[-1].strip(), "Reading files: 4 of" in map(str.rstrip, rows)) == ("", True)
        assert rest.startswith("Could not check 1 DOI")


SUMMARIES = json.loads(Path(__file__).with_name("summaries.json").read_text("utf-8"))


@pytest.mark.parametrize(
    ("files", "lines"), SUMMARIES, ids=[" ".join(lines) for _, lines in SUMMARIES]
)
def test_the_summary_says_what_was_checked_and_found(
    files: dict[str, str], lines: list[str], tmp_path: Path
) -> None:
    remember(
        tmp_path / "cache",
        {"10.1000/a": True, "10.1000/dead": False, "10.1000/dead.pdf": False, "10.1000/a–b": True},
    )
    for folder in ("fixtures", "cassettes"):
        (tmp_path / "tree" / folder).mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / "tree" / name).write_text(text)
    words = "check", "--isolated", "--offline", "--cache", tmp_path / "cache"
    assert doiuri(*words, cwd=tmp_path / "tree").stderr.splitlines() == lines


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.md").write_text("<http://doi.org/10.1000/182>")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return doiuri("check", "--isolated", "--offline", "-q", "a.md", *arguments)


def test_files_come_besides_the_standard_output(here: Path) -> None:
    done = run("-o", "sarif:a.sarif", "--output-format", "markdown:a:b.md")
    assert done.stdout == run("-o", "full").stdout
    assert json.loads(Path("a.sarif").read_text("utf-8"))["version"] == "2.1.0"
    assert Path("a:b.md").read_text("utf-8").startswith("| Place")
    assert sorted(path.name for path in here.iterdir()) == ["a.md", "a.sarif", "a:b.md"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("-o xml", "'xml' is not a format; choose from full, concise,"),
        ("-o sarif:", "'sarif:' names no file; write sarif:FILE, or sarif for standard output"),
        ("-o json -o github", "two formats for standard output; write FORMAT:FILE"),
        ("-o json:a -o sarif:./a", "two formats for a; write FORMAT:FILE"),
        ("-o json:none/a.json", "cannot write none/a.json: there is no folder "),
        ("-o json:.", "cannot write .: it is a folder"),
    ],
)
def test_wrong_use_is_said_before_anything_is_written(words: str, message: str, here: Path) -> None:
    done = run(*words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert [*here.iterdir()] == [here / "a.md"]


@pytest.mark.parametrize("path", ["link.json", "inside/a.json", "read.json", "./sub/../read.json"])
@pytest.mark.parametrize("name", ["check", "fix"])
def test_no_link_in_the_tree_and_no_file_that_is_checked_is_written(
    name: str, path: str, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    outside = tmp_path / "outside"
    for folder in (tree, outside, tree / "sub"):
        folder.mkdir()
    (tree / "link.json").symlink_to(outside / "a.json")
    (tree / "inside").symlink_to(outside)
    (tree / "read.json").write_text("{}")
    for cwd, place in ((tree, path), (tmp_path, f"tree/{path}"), (outside, f"{tree}/{path}")):
        done = doiuri(name, "--isolated", f"-ojson:{place}", tree, cwd=cwd, DOIURI_OFFLINE="1")
        assert (done.returncode, done.stdout) == (2, ""), (cwd, place)
        assert f"doiuri: cannot write {place}: " in done.stderr
        assert (tree / "read.json").read_text() == "{}", (cwd, place)
        assert not [*outside.iterdir()], (cwd, place)
    for _ in (1, 2):  # over what the first has written
        assert (
            doiuri(name, "--isolated", "-ojson:a", tree, cwd=tree, DOIURI_OFFLINE="1").returncode
            == 0
        )


NAMES = [
    "\x1b]0;owned\x07.md",
    "a\n+++ b.md",
    "q\"\\'.md",
    "with space\x7f.md",
    "日本.md",
    "bad\udcff.md",
]
LATIN = "é\n\nhttp://dx.doi.org/10.1000/182".encode("latin-1")


@pytest.mark.parametrize(
    "arguments", [["find"], ["check", "--offline", "-o", "concise"], ["fix", "--check"]]
)
def test_output_is_printable(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "\x1b[31m\n.md").write_bytes(LATIN)
    (tmp_path / "\x1b[32m\n.ipynb").write_text("no notebook")
    run = doiuri(*arguments, cwd=tmp_path)
    assert "\\x1b[32m\\n.ipynb:" in run.stdout + run.stderr
    assert [line for line in (run.stdout + run.stderr).split("\n") if not line.isprintable()] == []
    (tmp_path / "doiuri.toml").write_text('"\\u001b##[key" = 1')
    told = doiuri(*arguments, cwd=tmp_path).stderr
    assert told.startswith("doiuri: doiuri.toml: \\x1b#\\x23[key: unknown key")
    assert told.rstrip("\n").isprintable()


OLD = b"http://dx.doi.org/10.1000/182"
FILES = dict.fromkeys(NAMES, LATIN) | {"mark.md": b"\xef\xbb\xbf%b\r\nx\r\n" % OLD, "line.md": OLD}
FILES |= {"cr.md": b"x\r%b\r\n\n" % OLD, "same.md": b"x", "binary.md": b"\0"}
WRONG = {"wrong.md": b"\xff\xfe\0\xd8"}  # not what its byte order mark says


@pytest.mark.parametrize(
    ("files", "code", "named"),
    [(FILES, 1, ()), (FILES | WRONG, 2, [f"./{name}" for name in FILES | WRONG])],
    ids=["due", "problem"],
)
def test_a_diff_that_is_applied_does_what_fix_does(
    files: dict[str, bytes], code: int, named: Sequence[str], tmp_path: Path
) -> None:
    def held(place: str) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in Path(tmp_path, place).iterdir()}

    for place in ("diff", "fix"):
        (tmp_path / place).mkdir()
        for name, content in files.items():
            (tmp_path / place / name).write_bytes(content)
    told = [f"doiuri: {name}: not utf-16-le, which its byte order mark says" for name in named[-1:]]
    due = ["Would fix 9 in 9 files; 0 left."]
    for options, summary in (("--check", due), ("--diff -q", []), ("--diff", due)):
        done = doiuri("fix", "--isolated", *options.split(), *named, cwd=tmp_path / "diff")
        assert (done.returncode, done.stderr.splitlines(), held("diff")) == (
            code,
            summary + told,
            files,
        )
    diff = done.stdout.encode(errors="surrogateescape")
    elsewhere = doiuri(
        "fix", "--isolated", "--diff", tmp_path / "diff", cwd=tmp_path / "fix"
    ).stdout
    assert named or elsewhere == re.sub(
        '(?m)^([-+]{3} "?[ab])/', rf"\1{tmp_path}/diff/", done.stdout
    )
    subprocess.run(["git", "apply", "-"], input=diff, cwd=tmp_path / "diff", check=True)
    assert doiuri("fix", "--isolated", cwd=tmp_path / "fix").returncode == (2 if code == 2 else 0)
    new = {name: content.replace(b"http://dx.", b"https://") for name, content in files.items()}
    assert held("diff") == held("fix") == new
