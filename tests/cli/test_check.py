"""``doiuri check`` and ``doiuri find`` as their users run them, and how a run ends."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from doiuri_proxy.pytest_plugin import Proxies
from support.cli.command import (
    COMMAND,
    INTERRUPTIBLE,
    codes,
    doiuri,
    doiuri_process,
    findings,
    piece,
    register,
    remember,
)

TEXT = "See https://doi.org/10.1000/182\nand <https://doi.org/10.5555/nope>.\n"

pytestmark = pytest.mark.doi_records([{"handle": "10.1000/182", "values": []}])


@pytest.mark.parametrize(
    ("limit", "codes"), [("error", (1, 0)), ("warning", (1, 1)), ("never", (0, 0))]
)
def test_findings_a_summary_and_the_exit_code(
    limit: str, codes: tuple[int, int], tmp_path: Path, doi_proxy: Proxies
) -> None:
    (tmp_path / "a.md").write_text(TEXT)
    (tmp_path / "b.bib").write_text("@misc{a, doi = {10.1000/182}}\n@misc{b, doi = {10.5555/nope}}")
    words = "check", "-o", "concise", "--compare", "--fail-on", limit
    run = doiuri(*words, "--resolver", doi_proxy.url, cwd=tmp_path)
    places = {"a.md:2:6": "", "b.bib:2:17": "b: "}
    assert run.stdout.splitlines() == [
        f"{place}: error[not-found] {entry}10.5555/nope is not registered"
        for place, entry in places.items()
    ]
    # the metadata are asked for, but not those of what does not exist
    others = [one.target for one in doi_proxy.log if not one.target.startswith("/api/handles/")]
    assert (others != [], [target for target in others if "nope" in target]) == (True, [])
    checked = f"Checked 2 DOIs: 0 known, 2 asked in {len(doi_proxy.log)} requests."
    assert run.stderr.splitlines() == [
        checked,
        "2 errors. doiuri rule CODE explains a code.",
    ]
    (tmp_path / "a.md").write_text("<http://dx.doi.org/10.1000/182>\n")
    assert (run.returncode, doiuri(*words, "--offline", cwd=tmp_path).returncode) == codes


def test_what_is_registered_is_not_doubted_and_the_prefix_for_tests_is_told_once(
    tmp_path: Path,
) -> None:
    remember(
        tmp_path / "cache",
        {"10.1000/1.pdf": True, "10.1000/2.pdf": False}
        | dict.fromkeys(("10.5072/a", "10.5072/b", "10.5072/c"), False),
    )
    (tmp_path / "a.md").write_text("10.1000/1.pdf 10.1000/2.pdf 10.5072/a 10.5072/b\n")
    (tmp_path / "b.md").write_text("10.5072/c\n")
    run = doiuri(
        *("check", "--offline", "--cache", tmp_path / "cache", "-o", "concise", "a.md", "b.md"),
        cwd=tmp_path,
    )
    assert [line.partition(": ")[2] for line in run.stdout.splitlines()] == [
        (
            "error[not-found] 10.1000/2.pdf is not registered; '.pdf' looks like part of a page's address; "
            "did you mean 10.1000/2?"
        ),
        "error[not-found] 10.5072/a is not registered; 10.5072 is the prefix for tests, reported only once",
    ]


@pytest.mark.parametrize("paths", [["a.md", "tests/b.md"], ["c/tests/a.md", "d.md"]])
def test_the_prefix_for_tests_is_told_once_in_test_data_and_once_elsewhere(
    paths: list[str], tmp_path: Path
) -> None:
    names = [f"10.5072/{number}" for number in range(6)]
    remember(tmp_path / "cache", dict.fromkeys(names, False))
    for number, path in enumerate([*paths, "tests/x.md", "z.md"]):
        (tmp_path / "tree" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / path).write_text(f"{names[number]} {names[5]}\n")

    options = "--offline", "--cache", tmp_path / "cache", "-o", "jsonl"
    run = doiuri("check", *options, ".", cwd=tmp_path / "tree")

    told = [json.loads(line)["path"] for line in run.stdout.splitlines()]
    assert sorted("tests" in path for path in told) == [False, True], f"told in {told}"


def test_a_dead_doi_and_its_confirmed_correction_are_one_finding(
    tmp_path: Path, doi_proxy: Proxies
) -> None:
    (tmp_path / "a.md").write_text("See 10.1000/182.pdf.\n")
    options = "--resolver", doi_proxy.url, "--cache", ":memory:"

    run = doiuri("check", "-o", "jsonl", *options, cwd=tmp_path)

    (line,) = run.stdout.splitlines()
    finding = json.loads(line)
    assert finding["code"] == "not-found"
    assert finding["message"] == "10.1000/182.pdf is not registered; did you mean 10.1000/182?"
    assert finding["fix"] == {"start": 4, "end": 19, "replacement": "10.1000/182", "safe": False}


def test_of_several_corrections_that_nobody_confirms_each_is_a_finding(tmp_path: Path) -> None:
    remember(tmp_path / "cache", {"10.1000/a–b.pdf": False})

    told = codes("a.md", "See 10.1000/a–b.pdf.\n", "--cache", tmp_path / "cache")

    assert told == ["look-alike", "not-found", "page-address"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.bib", "@misc{k, doi = {https://doi.org/10.1000/dead}}\n"),
        ("a.bib", "@misc{k, title = {A}, url = {http://dx.doi.org/10.1000/dead}}\n"),
        ("a.md", "See http://dx.doi.org/10.1000/dead.\n"),
    ],
)
def test_how_a_dead_doi_is_written_is_no_second_finding(
    path: str, text: str, tmp_path: Path
) -> None:
    remember(tmp_path / "cache", {"10.1000/dead": False})
    assert codes(path, text, "--cache", tmp_path / "cache") == ["not-found"], text
    assert codes(path, text, "--cache", tmp_path / "unknown") in (["field-form"], ["not-https"])


@pytest.mark.parametrize("link", ["https://doi.org/f3sz4k", "http://dx.doi.org/f3sz4k"])
@pytest.mark.parametrize(
    ("path", "form", "otherwise"),
    [
        ("a.bib", "@misc{{k, doi = {{{}}}}}", ["syntax"]),
        ("a.bib", "@misc{{k, title = {{A}}, url = {{{}}}}}", []),
        ("a.yaml", "doi: {}\n", ["syntax"]),
        ("a.md", "See [x]({}), 10.1000/182.\n", []),
        ("a.md", "See {}.\n", []),
    ],
)
def test_a_link_to_a_short_doi_without_10_is_told_if_the_registry_has_it(
    path: str, form: str, otherwise: list[str], link: str, tmp_path: Path
) -> None:
    text = form.format(link)
    remember(tmp_path / "yes", {"10/f3sz4k": True, "10.1000/182": True})
    (told,) = findings(path, text, "--cache", tmp_path / "yes")
    assert (told["code"], told["doi"], piece(text, told)) == ("short-doi", "10/f3sz4k", link)
    remember(tmp_path / "no", {"10/f3sz4k": False})
    assert codes(path, text, "--cache", tmp_path / "no") == otherwise
    assert codes(path, text, "--cache", tmp_path / "unknown") == otherwise


@pytest.mark.parametrize(
    "text",
    [
        *("https://doi.org/f3sz4k/more", "https://doi.org/f3sz4k.html", "https://doi.org/abcdef"),
        *("https://api.doi.org/f3sz4k", "https://a.example/?u=https://doi.org/f3sz4k", "f3sz4k"),
        *("https://doi.org/F3SZ4K", "https://doi.org/f3sz4k123", "https://doi.org/a1"),
    ],
)
def test_other_links_to_the_proxy_are_no_short_dois(text: str, tmp_path: Path) -> None:
    remember(tmp_path / "cache", {"10/f3sz4k": True, "10/a1": True, "10/abcdef": True})
    assert codes("a.md", text, "--cache", tmp_path / "cache") == []


def test_a_pipe_is_read_once(tmp_path: Path, doi_proxy: Proxies) -> None:
    arguments = "check", "--resolver", doi_proxy.url, "-o", "concise", "/dev/stdin"
    run = doiuri_process(*arguments, cwd=tmp_path, stdin=TEXT.encode())
    assert run.stdout == "/dev/stdin:2:6: error[not-found] 10.5555/nope is not registered\n"


def test_a_file_that_cannot_be_parsed_is_read_as_text_and_can_be_ignored(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text('{"cells": 1\n http://doi.org/10.1000/182')
    run = doiuri("check", "--offline", "-o", "concise", cwd=tmp_path)
    assert run.returncode == 0
    assert run.stdout.splitlines() == [
        "a.ipynb:2:2: warning[not-https] http://doi.org/10.1000/182",
        "a.ipynb:2:2: warning[unreadable] read as plain text: Expecting ',' delimiter",
    ]
    assert (
        doiuri("fix", "--check", cwd=tmp_path).stderr
        == "Would fix 0 in 0 files; 2 warnings left.\n"
    )
    (tmp_path / "doiuri.toml").write_text('[per-file-ignores]\n"*.ipynb" = ["unreadable"]')
    assert "unreadable" not in doiuri("check", "--offline", cwd=tmp_path).stdout


WITH_WORKERS = """
import multiprocessing, sys
if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv.pop(1))
    from importlib.metadata import entry_points
    entry_points(group='console_scripts')['doiuri'].load()()
"""


WAITS = """
import os, time
def read(source):
    os.write(1, b"r")
    time.sleep(600)
"""


COUNTS = """
from doiuri_cli import Part
def read(source):
    open("reads", "a").write("r")
    yield Part(source.text)
"""


@pytest.mark.parametrize(
    ("words", "reads"),
    [(["check", "--locked"], 1), (["find"], 1), (["lock", "--offline"], 1), (["fix"], 2)],
)
def test_each_file_is_examined_once_and_once_more_for_the_proof_of_a_fix(
    words: list[str], reads: int, tmp_path: Path
) -> None:
    """Even if a DOI is not in the lock file and a comment needs the answers."""
    register(tmp_path, "counts", COUNTS, {".counts": "read"})
    (tmp_path / "doi.lock.json").write_text('{"doiuri-lock": 1}')
    (tmp_path / "a.counts").write_text("http://doi.org/10.1000/182 doi:10.1000/183\n")
    run = doiuri_process(*words, "a.counts", cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert run.returncode == 0, run
    assert (tmp_path / "reads").read_text() == "r" * reads


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_workers_end_with_a_command_that_is_killed(method: str, tmp_path: Path) -> None:
    register(tmp_path, "waits", WAITS, {".waits": "read"})
    for name in ("a.waits", "b.waits"):
        (tmp_path / name).write_text("text\n" * 100_000)
    (tmp_path / "start.py").write_text(WITH_WORKERS)
    words = [
        sys.executable,
        "start.py",
        method,
        "check",
        "--offline",
        "-j",
        "2",
        "a.waits",
        "b.waits",
    ]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(2) == b"rr"
        process.kill()
        assert process.communicate(timeout=60)[0] == b""  # ends when no process holds the pipe


ODD = """
from doiuri_cli import Part
def read(source): yield Part(source.text, entry=lambda: 0)  # which no process can hand to another
"""


def test_a_failure_is_one_line_and_not_the_exit_code_of_findings(tmp_path: Path) -> None:
    register(tmp_path, "odd", ODD, {".odd": "read"})
    for name in ("a.odd", "b.odd"):
        (tmp_path / name).write_text("10.1000/182")
    run = doiuri_process("check", "--offline", "-j", 2, "a.odd", "b.odd", cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, "")
    assert re.fullmatch("doiuri: [A-Za-z]+Error: .+\n", run.stderr)


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    # more than a pipe holds
    (tmp_path / "a.md").write_text("<http://doi.org/10.1000/182>\n" * 2500)
    words = [*COMMAND, "check", "--offline", "-q", "-o", "concise"]
    with subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode in {141, -signal.SIGPIPE}


@pytest.mark.parametrize(("output", "code"), [(">&-", 1), (">/dev/full", 2), (">&- 2>&-", 1)])
def test_a_closed_output_is_no_traceback(output: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("<http://doi.org/10.1000/182>\n")
    command = f"{sys.executable} -m doiuri_cli check --offline --fail-on=warning {output}"
    run = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert not re.search("Traceback|Exception", run.stderr)
    assert run.returncode == code


def test_an_interrupt_is_no_traceback(tmp_path: Path) -> None:
    words = [*INTERRUPTIBLE, "check", "--offline", "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=tmp_path, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        process.stdin.write(b"text " * 100_000)  # more than a pipe holds: the command reads
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=300) == (b"", b"")
    assert process.returncode == 130


@pytest.mark.parametrize(
    ("words", "told"),
    [(["check", "--offline"], "not-https"), (["find"], "10.1000/")],
    ids=["check", "find"],
)
def test_names_and_texts_that_the_terminal_cannot_show(
    words: list[str], told: str, tmp_path: Path
) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9\xff.md")).write_text(
        "<http://doi.org/10.1000/\u00e9>\n", "utf-8"
    )
    run = doiuri_process(*words, cwd=tmp_path, PYTHONIOENCODING="ascii")
    assert (run.returncode, told in run.stdout, "Traceback" in run.stderr) == (0, True, False)


def test_no_command_shows_the_help(tmp_path: Path) -> None:
    run = doiuri(cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("Usage: doiuri [OPTIONS] COMMAND")


def test_this_repository_has_no_findings_but_in_the_data_of_its_tests() -> None:
    words = "check", "--offline", "--lock=", "-j", 1, "-o", "concise"

    run = doiuri(*words, cwd=Path(__file__).parents[2])

    assert run.returncode == 0, run.stdout
    assert re.fullmatch(r"[0-9]+ findings in test data \([^\n]+\n", run.stdout), run.stdout


def test_find_writes_json(tmp_path: Path) -> None:
    (file := tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("See doi:10.1000/182.")
    place = {
        "path": r"caf\xe9.txt",
        "line": 1,
        "column": 5,
        "end_line": 1,
        "end_column": 20,
        "cell": None,
    }
    place |= {"entry": None, "text": "doi:10.1000/182", "doi": "10.1000/182"}
    assert json.loads(doiuri("find", "-o", "json", cwd=tmp_path).stdout) == [place]
    assert json.loads(doiuri("find", "--output-format=jsonl", cwd=tmp_path).stdout) == place
    file.unlink()
    assert json.loads(doiuri("find", "-o", "json", cwd=tmp_path).stdout) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("meta.yaml", '{% set name = "x" %}\nabout:\n  doi_url: https://doi.org/10.1000/182\n'),
        ("a.ipynb", '{"cells": [{"cell_type": "markdown", "source": ["doi:10.1000/182"]'),
        ("a.json", '[{"id": "x", "type": "book", "title": "t", "DOI": "10.1000/182"'),
        ("CITATION.cff", "doi: 10.1000/182\nauthors: [\n"),
    ],
)
def test_all_commands_read_the_same_in_a_file_that_is_not_what_its_name_says(
    name: str, text: str, tmp_path: Path
) -> None:
    """What find and lock do not see, check would report as missing in the lock file."""
    (tmp_path / name).write_text(text)
    found = doiuri("find", "--unique", cwd=tmp_path)
    assert (found.returncode, found.stdout) == (0, "10.1000/182\n"), found
    accepted = ("--accept", "10.1000/182", "--reason", "a test")
    assert doiuri("lock", "--offline", *accepted, cwd=tmp_path).returncode == 0
    assert doiuri("lock", "--check", "--prune", cwd=tmp_path).stdout == ""
    assert doiuri("check", "--locked", "--ignore=unreadable", cwd=tmp_path).stdout == ""


CITING = {
    "a.rst": ":cite:p:`{}` :cite:t:`a,{}` :footcite:`{{see}}{}{{p. 3}}`\n",
    "a.md": "{{cite:p}}`{}` {{cite:t}}`a;{}` {{cite}}`b, {}`\n",
    "a.py": '# x\n"""T :cite:p:`{}` :cite:t:`a,{}` :cite:`{}`"""\n',
}


@pytest.mark.parametrize("path", CITING)
def test_a_key_that_an_entry_has_is_no_doi_in_a_role_for_citations(
    path: str, tmp_path: Path
) -> None:
    keys = "10.1000/a", "doi:10.1000/b", "http://dx.doi.org/10.1000/c"
    (tmp_path / path).write_text(CITING[path].format(*keys))
    (tmp_path / "others.bib").write_text(
        "@book{10.1000/a.b, title={T}}\n@book{10.1000, title={T}}\n"
    )

    without_entries = unique(tmp_path)
    (tmp_path / "refs.bib").write_text("".join(f"@book{{{key}, title={{T}}}}\n" for key in keys))
    with_entries = unique(tmp_path)
    read_alone = unique(tmp_path, path)

    assert without_entries == read_alone == ["10.1000/a", "10.1000/b", "10.1000/c"]
    assert with_entries == []
    assert doiuri("check", "--offline", cwd=tmp_path).stdout == ""
    assert doiuri("fix", "--offline", "--diff", cwd=tmp_path).stdout == ""


def unique(folder: Path, *paths: str) -> list[str]:
    return doiuri("find", "--unique", *paths, cwd=folder).stdout.split()
