"""``doiuri resolve``, ``cache`` and ``rule``, and shell completion, which is click's own."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import click
import pytest
from doiuri.resolver import Entry, Key, SQLiteStore

# Private: the entry point is a function, and the group lists its commands
from doiuri_cli._main import doiuri as doiuri_cli
from doiuri_proxy.pytest_plugin import Proxies
from support.cli.command import COMMAND, codes, doiuri, remember
from support.cli.library import ALIAS, BARE, BIBTEX, CSL, DEAD, KAHN, RECORDS, RIS
from support.servers.faults import FAULTS

pytestmark = pytest.mark.doi_records(RECORDS)


def resolve(
    proxy: Proxies, folder: Path, *arguments: object, stdin: bytes = b""
) -> subprocess.CompletedProcess[str]:
    options = ("--resolver", proxy.url, "--cache", folder / "cache.sqlite")
    return doiuri("resolve", *options, *arguments, cwd=folder, stdin=stdin)


FORMS = {
    "url": "https://example.org/kahn-2006",
    "agency": "Crossref",
    "citation": "Kahn, R., & Wilensky, R. (2006). A framework for digital object services. https://doi.org/10.5555/kahn-2006",
    "citation --style numeric --locale de-DE": "R. Kahn und R. Wilensky, "
    "A framework for digital object services, 2006, doi: 10.5555/kahn-2006.",
    "bibtex": "@article{Kahn_2006, title={A framework}, DOI={10.5555/kahn-2006}, year={2006} }",
    "ris": "TY  - JOUR\nTI  - A framework\nDO  - 10.5555/kahn-2006\nER  -",
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_name_is_resolved_to_each_form_and_asked_for_once(
    form: str, doi_proxy: Proxies, tmp_path: Path
) -> None:
    run = resolve(doi_proxy, tmp_path, "--as", *form.split(), f"https://doi.org/{KAHN}")
    assert (run.returncode, run.stdout.rstrip(), run.stderr) == (0, FORMS[form], "")
    requests = len(doi_proxy.log)
    again = resolve(doi_proxy, tmp_path, "--as", *form.split(), KAHN)
    assert (again.stdout, len(doi_proxy.log)) == (run.stdout, requests)


def test_json_lines_are_records_that_the_proxy_serves(doi_proxy: Proxies, tmp_path: Path) -> None:
    run = resolve(doi_proxy, tmp_path, "--as", "json", KAHN, DEAD, ALIAS, BARE)
    (tmp_path / "records.jsonl").write_text(run.stdout, "utf-8")
    recorded = doi_proxy(tmp_path / "records.jsonl")
    for name, status in ((KAHN, 0), (BARE, 0), (DEAD, 1)):
        options = ("--resolver", recorded.url, "--cache", ":memory:")
        again = doiuri("resolve", *options, "--as", "json", name, cwd=tmp_path)
        assert again.returncode == status, name
        assert again.stdout in ["", *run.stdout.splitlines(keepends=True)], (name, status)


def test_csl_is_an_object_or_null_in_a_line_for_each_name(
    doi_proxy: Proxies, tmp_path: Path
) -> None:
    run = resolve(doi_proxy, tmp_path, "--as", "csl", KAHN, BARE)
    work, nothing = map(json.loads, run.stdout.splitlines())
    assert (work["id"], work["DOI"], work["author"][0]["family"]) == (KAHN, KAHN, "Kahn")
    assert nothing is None
    assert run.returncode == 1
    assert run.stderr.startswith(f"doiuri: {BARE}: ")


def test_a_line_for_each_name_and_errors_on_stderr(doi_proxy: Proxies, tmp_path: Path) -> None:
    names = f"doi:{KAHN}\r\n\n{DEAD}\nno doi\xff\n  https://doi.org/{BARE}  ".encode("latin-1")
    run = resolve(doi_proxy, tmp_path, stdin=b"\xef\xbb\xbf" + names)
    assert run.stdout == "https://example.org/kahn-2006\n\n\nhttps://example.org/bare\n"
    first, second = run.stderr.splitlines()
    assert first == f"doiuri: {DEAD}: not found"
    assert second.startswith("doiuri: no doi\\xff: not a DOI: ")
    assert run.returncode == 1
    same = resolve(doi_proxy, tmp_path, KAHN, "-", stdin=BARE.encode())
    assert same.stdout.splitlines() == ["https://example.org/kahn-2006", "https://example.org/bare"]


def test_entries_are_separated_by_empty_lines(doi_proxy: Proxies, tmp_path: Path) -> None:
    run = resolve(doi_proxy, tmp_path, "--as", "bibtex", KAHN, DEAD, "10.5555/retracted")
    assert [entry[:9] for entry in run.stdout.split("\n\n")] == ["@article{"] * 2
    assert run.stderr == f"doiuri: {DEAD}: not found\n"


def test_a_citation_keeps_what_is_raised(doi_proxy: Proxies, tmp_path: Path) -> None:
    title = "<math><msup><mn>10</mn><mn>5</mn></msup></math> H<sub>2</sub>O"
    metadata = {CSL: json.dumps({"title": title, "type": "article"})}
    doi_proxy.load([{"handle": "10.7777/x", "values": [], "metadata": metadata}])

    run = resolve(doi_proxy, tmp_path, "--as", "citation", "10.7777/x")

    assert run.stdout.startswith("10⁵ H₂O")


LACKING = {
    "url": "the record has no URL",
    "agency": "the registration agency is not known",
    "ris": "the answer is not RIS: '<p>no RIS</p>'",
    "bibtex": "its BibTeX entry cannot be read",
}


@pytest.mark.parametrize("form", LACKING)
def test_what_a_registered_name_lacks_is_said(
    form: str, doi_proxy: Proxies, tmp_path: Path
) -> None:
    value = {"index": 1, "type": "EMAIL", "data": {"format": "string", "value": "a@example.org"}}
    metadata = {RIS: "<p>no RIS</p>", BIBTEX: "@misc{x, title = {Not closed"}
    doi_proxy.load([{"handle": "10.7777/x", "values": [value], "metadata": metadata}])
    run = resolve(doi_proxy, tmp_path, "--as", form, "10.7777/x")
    stdout = "" if form in {"bibtex", "ris"} else "\n"
    expected = (1, stdout, f"doiuri: 10.7777/x: {LACKING[form]}\n")
    assert (run.returncode, run.stdout, run.stderr) == expected


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("more", "cause"), [("", ""), ("x", ""), ("--offline", "offline: request not sent")]
)
def test_unknown_is_3_and_invalid_is_1(form: str, more: str, cause: str, tmp_path: Path) -> None:
    (fault,) = (fault for fault in FAULTS if str(fault) == "429 in seconds")
    (tmp_path / "doiuri.toml").write_text("budget = 2\n")
    with fault.serve() as server:
        options = ("--cache=:memory:", "--resolver", server.url, "--as", *form.split())
        run = doiuri("resolve", *options, KAHN, BARE, *more.split(), cwd=tmp_path)
    assert run.returncode == (1 if more == "x" else 3)
    named = [line.split(": ")[1] for line in run.stderr.splitlines()]
    assert named == [KAHN, BARE, *more.split()[cause != "" :]]
    assert run.stderr.startswith(
        f"doiuri: {KAHN}: unknown: {cause or server.url[7:] + ': HTTP status 429'}\n"
    )


@pytest.mark.parametrize("name", doiuri_cli.list_commands(click.Context(doiuri_cli)))
def test_an_option_with_one_value_is_given_once(name: str, tmp_path: Path) -> None:
    """Of two values, the last would count and nobody would be told. Flags may be repeated."""
    command = doiuri_cli.get_command(click.Context(doiuri_cli), name)
    assert command is not None
    options = [option for option in command.params if isinstance(option, click.Option)]
    for option in options:
        if option.multiple:
            continue
        word = option.opts[-1]
        twice = [word, word] if option.is_flag else [f"{word}=1", f"{word}=2"]
        run = doiuri(name, *twice, "--help", cwd=tmp_path)
        told = run.stderr == f"doiuri: {word} is given more than once; give it once\n"
        assert told == (not option.is_flag), word


@pytest.mark.parametrize(
    "words", ["--as pdf", "--as citation --style none", "--as citation --locale xx"]
)
def test_a_wrong_option_is_said_before_any_request(
    words: str, doi_proxy: Proxies, tmp_path: Path
) -> None:
    run = resolve(doi_proxy, tmp_path, *words.split(), KAHN)
    assert (run.returncode, run.stdout, run.stderr[:8]) == (2, "", "doiuri: ")
    assert doi_proxy.log == []


@pytest.fixture
def terminal() -> Iterator[int]:
    """A pseudo-terminal; a container may have none."""
    try:
        ends = os.openpty()
    except OSError as error:
        pytest.skip(f"NOT TESTED: this machine has no pseudo-terminals: {error}")
    yield ends[1]
    for end in ends:
        os.close(end)


@pytest.mark.parametrize(
    ("words", "code"),
    [("", 2), ("10.5555/x", 3), ("10.5555/x <&-", 3), ("<&-", 0)],
    ids=["no name", "a name", "a name, input closed", "no name, input closed"],
)
def test_a_terminal_is_not_waited_for_nor_a_closed_input(
    words: str, code: int, terminal: int
) -> None:
    command = f"{sys.executable} -m doiuri_cli resolve --offline --cache :memory: {words}"
    run = subprocess.run(["sh", "-c", command], stdin=terminal, capture_output=True, check=False)
    assert (run.returncode, b"Traceback" in run.stderr) == (code, False), run


def test_answers_come_before_the_input_ends(tmp_path: Path, doi_proxy: Proxies) -> None:
    words = [*COMMAND, "resolve", "--resolver", doi_proxy.url]
    with subprocess.Popen(
        words, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{KAHN}\n".encode() * 600)
        process.stdin.flush()
        assert process.stdout.readline() == b"https://example.org/kahn-2006\n"
        process.stdin.close()
        assert process.stdout.read().count(b"\n") == 599
    assert process.returncode == 0


def test_messages_name_what_is_wrong(tmp_path: Path) -> None:
    run = doiuri("resolve", "--offline", "", "10.5555/" + 10_000 * "a", cwd=tmp_path)
    assert run.stderr.startswith("doiuri: '': not a DOI: the text is empty\ndoiuri: 10.5555/aaa")
    assert len(run.stderr) < 700


LOCK = '{"doiuri-lock":1,"accepted":{"10.1000/182":"mine"}}'
ANSWER = Entry(b"{}" * 500, "application/json", 9e9)
ENTRIES = {Key("record", "https://doi.org", f"10.1000/{number}"): ANSWER for number in range(900)}


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with entries; others wait for it only shortly."""
    monkeypatch.setattr(SQLiteStore.__init__, "__kwdefaults__", {"timeout": 0.05, "limit": 10**9})
    store = SQLiteStore(tmp_path / "answers.sqlite")
    store.put_many(ENTRIES)
    store.close()
    return store.path


def test_place_size_and_clear(path: Path) -> None:
    folder = path.parent
    size = doiuri("cache", cwd=folder, DOIURI_CACHE=str(path)).stdout
    assert size.startswith(f"{path}: 900 entries, ")
    assert int(size.split()[-2].replace(",", "")) >= 900_000
    run = doiuri("cache", "clear", "--cache", path, cwd=folder)
    assert run.stdout.startswith(f"{path}: removed 900 entries, ")
    assert (run.returncode, path.stat().st_size < 100_000) == (0, True)
    assert doiuri("cache", "--cache", path, cwd=folder).stdout.startswith(f"{path}: 0 entries, ")


def test_clear_while_another_process_reads(path: Path) -> None:
    reader = sqlite3.connect(path)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM entries").fetchone()
    run = doiuri("cache", "clear", "--cache", path, cwd=path.parent)
    assert (run.returncode, "removed 900 entries" in run.stdout) == (0, True)
    assert reader.execute("SELECT count(*) FROM entries").fetchone() == (900,)
    reader.close()


def test_a_cache_that_does_not_exist_is_empty_and_not_made(tmp_path: Path) -> None:
    gone = tmp_path / "gone.sqlite"
    assert doiuri("cache", "--cache", gone, cwd=tmp_path).stdout == f"{gone}: 0 entries, 0 bytes\n"
    assert not gone.exists()
    remember(gone, {"10.1000/182": True})
    assert doiuri("cache", "--cache", gone, cwd=tmp_path).stdout.startswith(f"{gone}: 1 entry, ")
    run = doiuri("cache", "clear", "--cache", ":memory:", cwd=tmp_path)
    assert run.stdout == ":memory:: removed 0 entries, 0 bytes\n"


@pytest.mark.parametrize(
    "words",
    [
        "clear --cache doi.lock.json",
        "clear --cache notes.txt",
        "--cache notes.txt",
        "--cache ftp://x",
    ],
)
def test_what_is_no_cache_is_said_and_stays(words: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "doi.lock.json").write_text(LOCK)
    run = doiuri("cache", *words.split(), cwd=tmp_path)
    assert (run.returncode, run.stdout, run.stderr[:8]) == (2, "", "doiuri: ")
    told = doiuri("resolve", "--offline", "--cache=notes.txt/a", KAHN, cwd=tmp_path).stderr
    assert told.startswith(f"doiuri: the DOI store {tmp_path}/notes.txt/a cannot be read "), told
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert (tmp_path / "doi.lock.json").read_text() == LOCK


@pytest.mark.parametrize(
    ("words", "count", "proposed"),
    [
        ("doiuri rule not-", 2, ["plain,not-found", "plain,not-https"]),
        ("doiuri ru", 1, ["plain,rule"]),
    ],
    ids=["codes", "commands"],
)
def test_the_installed_command_completes_words(words: str, count: int, proposed: list[str]) -> None:
    command = Path(sys.executable).with_name("doiuri")
    asked = {"_DOIURI_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(count)}
    run = subprocess.run(
        [command], env=os.environ | asked, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == proposed


def test_a_code_is_explained() -> None:
    title, text, *rest = doiuri("rule", "field-form").stdout.split("\n\n")
    assert title == "field-form (warning)"
    assert text.startswith(
        "A field for a DOI holds a link or a label. Programs that read the field put\n`https"
    )
    example = "Example:\n    doi = {https://doi.org/10.1000/182}\nWrite:\n    doi = {10.1000/182}"
    assert rest == [example, "Fix: doiuri fix, which keeps the DOI\n"]


KNOWN = "cache, check, find, fix, lock, resolve, rule"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("rule", "notfound"), "'notfound' is not a code; did you mean not-found?\n"),
        (("rule", "NOT_HTTPS"), "'NOT_HTTPS' is not a code; did you mean not-https?\n"),
        (("rule", "lookalike"), "'lookalike' is not a code; did you mean look-alike?\n"),
        (("rule", "nosuch"), "'nosuch' is not a code; known are author-differs, "),
        (("chek",), "'chek' is not a command; did you mean check?\n"),
        (("xyz",), f"'xyz' is not a command; known are {KNOWN}\n"),
        (("check", "--nope"), "No such option"),
        (("check", "-j", "0"), "Invalid value for '-j'"),
        (("check", "--changed", "."), "--changed: '.' is not a commit"),
        (("find", "--fail-on"), "No such option"),
    ],
    ids=" ".join,
)
def test_wrong_use_is_said_with_the_nearest_code_or_command(
    words: tuple[str, ...], told: str
) -> None:
    run = doiuri(*words)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith(f"doiuri: {told}")


CODES = doiuri("rule", "nosuch").stderr.partition("known are ")[2].rstrip("\n").split(", ")


def test_the_codes_are_listed_with_what_they_report() -> None:
    lines = doiuri("rule").stdout.splitlines()
    assert sorted(line.split()[0] for line in lines) == sorted(CODES)
    assert "not-https             warning  A link uses http or an old host." in lines


SEVERITIES = {"syntax": "error", "not-found": "error", "preprint-published": "info"}
SEVERITIES |= dict.fromkeys(("doi-found", "doi-likely"), "info")


@pytest.mark.parametrize("code", CODES)
def test_each_code_is_explained_in_whole_sentences_with_an_example(code: str) -> None:
    title, text, example, *rest = doiuri("rule", code).stdout.split("\n\n")
    severity = SEVERITIES.get(code, "warning")
    assert title == f"{code} ({severity})"
    assert re.fullmatch(r"[A-Z`].*\.", text, re.DOTALL)
    assert text.count("`") % 2 == 0
    shown, _, instead = (
        "\n\n".join([example, *rest[:-1]]).removeprefix("Example:").partition("\nWrite:")
    )
    assert shown.strip()
    assert shown.strip() != instead.strip()
    depends = code == "not-found"  # on what is wrong with the name
    assert instead or depends or rest[-1] == "Fix: none\n"


def example(code: str) -> str:
    text = doiuri("rule", code).stdout.partition("Example:\n")[2]
    return dedent(re.split(r"\n\n(?=Fix: )|\nWrite:\n", text)[0])


FIELD = ("a.bib", "@misc{{k, {}}}")
VALUE = ("a.ris", "TY  - A\nDO  - {}\nER  - \n")
PLACES = {
    **dict.fromkeys(["syntax", "field-form"], FIELD),
    **dict.fromkeys(["trailing-punctuation", "trailing-slash", "placeholder"], VALUE),
    **dict.fromkeys(["text-differs", "unused-ignore"], ("a.md", "{}")),
    "duplicate": ("a.bib", "{}"),
    "unreadable": ("a.ipynb", "{}"),
    "space": ("a.html", '<a href="{}">x</a>'),
    "run-on": ("a.md", "[x]({})"),
}
ELSEWHERE = {"dropped-query", "dropped-fragment"}  # raw-link in a file
ANSWERED = {"lock-missing", "lock-unused", "title-differs", "year-differs", "author-differs"}
ANSWERED |= {"retracted", "concern", "preprint-published", "doi-found", "doi-likely"}


@pytest.mark.parametrize("code", [code for code in CODES if code not in ELSEWHERE | ANSWERED])
def test_the_example_of_a_code_gets_it(code: str, tmp_path: Path) -> None:
    path, around = PLACES.get(code, ("a.txt", "{}"))
    remember(tmp_path / "cache", {"10.1000/182": True, "10.5555/no-such-name": False})
    assert code in codes(path, around.format(example(code)), "--cache", tmp_path / "cache")
