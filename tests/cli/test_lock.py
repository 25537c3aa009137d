"""``doiuri lock``: what it writes, keeps and drops, in how many requests; Sphinx and Markdown read it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from itertools import product
from math import inf
from pathlib import Path
from typing import Any
from urllib.parse import quote

import markdown
import pytest
from doiuri.resolver import Entry, Key, LockContent, LockFile
from doiuri_proxy.pytest_plugin import Proxies
from markdown_doiuri import DOIExtension
from support.checks import assert_same
from support.cli.command import doiuri
from support.cli.library import (
    ALIAS,
    BAD,
    BARE,
    BIBTEX,
    CSL,
    DEAD,
    DIKES,
    KAHN,
    RECORDS,
    item,
    work,
)
from support.doi_org import doi_org
from support.foreign import FOREIGN, REMEDIES
from support.servers.faults import FAULTS
from support.servers.web import JSON, Answer, Asked, answering, site
from support.sphinx_build import build, write

pytestmark = pytest.mark.doi_records(RECORDS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.md").write_text(f"<https://doi.org/{KAHN}> doi:{DEAD}\n")
    (tmp_path / "tree" / "b.rst").write_text(f":doi:`{ALIAS}`\n")
    return tmp_path / "tree"


def lock(proxy: Proxies, folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    cache = str(folder.parent / "cache.sqlite")  # unless --cache names another
    with doi_org(proxy.url):
        return doiuri("lock", *arguments, cwd=folder, DOIURI_CACHE=cache)


def content(folder: Path) -> Any:
    return json.loads((folder / "doi.lock.json").read_text())


ALL = ["10.5555/ALIAS", "10.5555/KAHN-2006", "10.5555/NOPE", "10.5555/TARGET"]


def names(folder: Path) -> list[str]:
    answers = content(folder)
    return sorted({*answers.get("record", ()), *answers.get("exists", ())})


def test_records_sorted_and_without_the_resolver(folder: Path, doi_proxy: Proxies) -> None:
    run = lock(doi_proxy, folder)
    assert (run.returncode, run.stdout) == (0, "")
    assert (
        run.stderr
        == "4 DOIs in doi.lock.json: 4 added, 0 changed, 0 removed. 1 is not registered.\n"
    )
    records = content(folder)["record"]
    assert [*records] == ALL
    assert records[DEAD.upper()]["json"]["responseCode"] == 100
    assert "://" not in (folder / "doi.lock.json").read_text().replace("https://example.org/", "")


def test_dois_in_recorded_http_are_locked_only_if_the_file_is_named(
    folder: Path, doi_proxy: Proxies
) -> None:
    (folder / "recorded.yaml").write_text(f"interactions:\n- uri: https://doi.org/{BARE}\n")
    run = lock(doi_proxy, folder)
    assert names(folder) == ALL
    assert "1 DOI in recorded HTTP not looked up" in run.stderr
    lock(doi_proxy, folder, "recorded.yaml")
    assert names(folder) == sorted([*ALL, BARE.upper()])


@pytest.mark.parametrize("more", [[], ["--refresh"]])
def test_what_another_resolver_does_not_know_is_named_and_not_written(
    more: list[str], folder: Path, doi_proxy: Proxies
) -> None:
    lock(doi_proxy, folder)
    before = (folder / "doi.lock.json").read_bytes()
    doi_proxy.load([item(DEAD)])
    (folder / "b.rst").unlink()
    (folder / "c.md").write_text(f"doi:{BARE}\n")
    options = ("--resolver", doi_proxy.url, "--cache=:memory:", "--works", *more)

    run = doiuri("lock", *options, cwd=folder)

    said = "Not locked: only https://doi.org can confirm that these are unregistered: "
    names_said = run.stderr.partition(said)[2].partition(".\n")[0]
    assert {*names_said.split(", ")} == {KAHN, BARE}
    assert content(folder)["record"][KAHN.upper()] == json.loads(before)["record"][KAHN.upper()]
    assert names(folder) == ALL
    told = doiuri("check", "--locked", "-o", "concise", cwd=folder)
    missing = [line for line in told.stdout.splitlines() if "[lock-missing]" in line]
    assert [line.split()[2] for line in missing] == [BARE]


def test_a_work_stays_when_its_agency_has_no_metadata_any_more(
    folder: Path, doi_proxy: Proxies
) -> None:
    """A portal may say so. The summary names it, and without its line the new answer is written."""
    lock(doi_proxy, folder, "--works")
    before = content(folder)
    doi_proxy.load([item(KAHN), item(ALIAS)])
    refresh = ("--cache=:memory:", "--works", "--refresh")

    for words in ([], ["--prune"], ["--existence"]):
        run = lock(doi_proxy, folder, *refresh, *words)
        told = "No metadata any more, so the old work stays; delete its line to drop it"
        assert f" {told}: {KAHN}." in run.stderr, words
        assert content(folder)["work"][KAHN.upper()] == before["work"][KAHN.upper()], words

    without_line = content(folder)
    del without_line["work"][KAHN.upper()]
    (folder / "doi.lock.json").write_text(json.dumps(without_line))
    assert "No metadata" not in lock(doi_proxy, folder, *refresh).stderr
    assert content(folder)["work"][KAHN.upper()] is None


@pytest.mark.parametrize("more", [[], ["--existence"], ["--works"], ["--existence", "--works"]])
def test_nothing_is_asked_twice(more: list[str], folder: Path, doi_proxy: Proxies) -> None:
    lock(doi_proxy, folder, *more)
    before = (folder / "doi.lock.json").read_bytes()
    requests = len(doi_proxy.log)
    assert (b"https://example.org/kahn-2006" in before) == ("--existence" not in more)
    assert ("work" in content(folder)) == ("--works" in more)
    (folder.parent / "cache.sqlite").unlink()
    (folder / "a.md").write_text(f"<https://doi.org/{KAHN}>\n")
    run = lock(doi_proxy, folder, *more)
    assert run.stderr[1:] == " DOIs in doi.lock.json: 0 added, 0 changed, 0 removed.\n"
    assert (folder / "doi.lock.json").read_bytes() == before
    assert len(doi_proxy.log) == requests
    assert doiuri("check", "--locked", "--ignore=lock-unused", cwd=folder).stdout == ""


@pytest.mark.parametrize(
    ("option", "cause"),
    [
        ("--offline", "offline: request not sent"),
        ("--resolver=http://127.0.0.1:1", "127.0.0.1:1: Connection refused"),
    ],
)
def test_a_file_that_is_not_written_is_not_said_to_hold_anything(
    option: str, cause: str, folder: Path
) -> None:
    run = doiuri("lock", "--works", "--cache", ":memory:", option, cwd=folder)
    told = "doi.lock.json was not written: it would be empty. 3 without an answer: "
    assert (run.returncode, run.stderr) == (0, f"{told}{cause}.\n")
    assert not (folder / "doi.lock.json").exists()


def test_check_says_what_is_due_without_a_request(folder: Path, doi_proxy: Proxies) -> None:
    (folder / "c.md").write_text(f"doi:{KAHN.upper()}\n")
    run = lock(doi_proxy, folder, "--check")
    assert run.returncode == 1
    lines = [f"{name} is not in the lock file" for name in (ALIAS, KAHN, DEAD)]
    assert run.stdout.splitlines() == lines
    assert not (folder / "doi.lock.json").exists()
    assert doi_proxy.log == []
    lock(doi_proxy, folder)
    run = lock(doi_proxy, folder, "--check")
    assert (run.returncode, run.stdout) == (0, "")  # check --locked reports the dead one
    assert lock(doi_proxy, folder, "--check", "--works").returncode == 1


def test_only_prune_drops_entries_and_not_those_of_aliases(
    folder: Path, doi_proxy: Proxies
) -> None:
    lock(doi_proxy, folder)
    (folder / "a.md").write_text("No DOI.\n")
    assert lock(doi_proxy, folder, "--check").returncode == 0
    run = lock(doi_proxy, folder, "--check", "--prune")
    assert run.returncode == 1
    gone = ["10.5555/KAHN-2006", "10.5555/NOPE"]
    assert run.stdout == "".join(
        f"{name} is in the lock file, but no file mentions it\n" for name in gone
    )
    assert len(names(folder)) == 4
    run = doiuri("check", "--locked", "-o", "concise", cwd=folder)
    assert [line.split("] ")[1].split(" ")[0] for line in run.stdout.splitlines()] == gone
    lock(doi_proxy, folder, "--prune")
    assert names(folder) == ["10.5555/ALIAS", "10.5555/TARGET"]
    subprocess.run(["git", "init"], cwd=folder, check=True, capture_output=True)
    for words, code in (("--prune --changed", 2), ("--changed", 0)):
        assert lock(doi_proxy, folder, *words.split()).returncode == code


def test_what_is_accepted_goes_only_with_its_line(folder: Path, doi_proxy: Proxies) -> None:
    (folder / "a.md").write_text("No DOI.\n")
    path = folder / "doi.lock.json"
    kept = ["10.5555/ALIAS", "10.5555/NOPE", "10.5555/TARGET"]
    for accept in (["--accept", DEAD, "--reason", "a test"], []):
        lock(doi_proxy, folder, "--prune", *accept)
        assert names(folder) == kept
        assert content(folder)["accepted"] == {"10.5555/NOPE": "a test"}
    told = doiuri("check", "--locked", cwd=folder).stdout
    assert "delete its line under accepted, then run doiuri lock --prune" in told

    path.write_text(path.read_text().replace('"10.5555/NOPE": "a test"', ""))
    told = doiuri("check", "--locked", cwd=folder).stdout
    assert "no file mentions it; run doiuri lock --prune" in told
    lock(doi_proxy, folder, "--prune")
    assert names(folder) == ["10.5555/ALIAS", "10.5555/TARGET"]


def test_no_entry_is_lost_without_a_network(folder: Path, doi_proxy: Proxies) -> None:
    lock(doi_proxy, folder, "--works")
    before = (folder / "doi.lock.json").read_bytes()
    (folder / "c.md").write_text(f"doi:{BARE}\n")
    for fault in FAULTS:
        if str(fault) in {"429 in seconds", "HTML in place of JSON"}:
            with fault.serve() as server:
                (folder / "doiuri.toml").write_text("budget = 3\n")
                options = (
                    "--resolver",
                    server.url,
                    "--cache=:memory:",
                    "--refresh",
                    "--prune",
                    "--works",
                )
                run = doiuri("lock", *options, cwd=folder)
            assert (run.returncode, "without an answer: " in run.stderr) == (0, True), fault
            assert (folder / "doi.lock.json").read_bytes() == before, fault


FOUND = 1
GONE = 100
LOOK_UPS = {
    # what is in the file, and the answer: what is in the file then, without and with --refresh
    "10.1000/A": (FOUND, FOUND, "found", "found"),
    "10.1000/B": (FOUND, GONE, "found", "not-found"),
    "10.1000/C": (FOUND, None, "found", "found"),
    "10.1000/D": (GONE, FOUND, "found", "found"),
    "10.1000/E": (GONE, None, "not-found", "not-found"),
    "10.1000/F": ("accepted", FOUND, "accepted", "found"),
    "10.1000/G": ("accepted", GONE, "accepted", "accepted"),
    "10.1000/H": ("accepted", None, "accepted", "accepted"),
    "10.1000/I": (None, FOUND, "found", "found"),
    "10.1000/J": (None, GONE, "not-found", "not-found"),
    "10.1000/K": (None, None, None, None),
}


@pytest.mark.parametrize("refresh", [False, True])
def test_a_look_up_replaces_only_what_has_a_new_answer(refresh: bool, tmp_path: Path) -> None:
    def body(name: str, code: object) -> bytes:
        if not code:
            return b"<"
        return json.dumps({"responseCode": code, "handle": name, "values": []}).encode()

    def reply(asked: Asked) -> Answer:
        name = asked.target.partition("/api/handles/")[2]
        return Answer(200, JSON, body(name, LOOK_UPS[name][1]))

    def fill(content: LockContent) -> None:
        for name, (before, *_) in LOOK_UPS.items():
            if before == "accepted":
                content.accepted[name] = "an example"
            code = GONE if before == "accepted" else before
            if code:
                key = Key("record", "https://doi.org", name)
                content.add({key: Entry(body(name, code), "application/json", inf)})
        key = Key("work", "https://doi.org", "10.1000/C")
        content.add({key: Entry(b'{"title": "T"}', "application/json", inf)})

    file = LockFile(tmp_path / "doi.lock.json")
    file.edit(fill)
    (tmp_path / "a.md").write_text("".join(f"doi:{name}\n" for name in LOOK_UPS))
    lacking = doiuri("lock", "--check", "--works", "--offline", cwd=tmp_path)
    assert [line[8] for line in lacking.stdout.splitlines()] == [*"ABIJK"]
    with site(reply) as server, doi_org(server.url):
        options = ["--cache", ":memory:", *["--refresh"] * refresh]
        due = doiuri("lock", "--check", *options, cwd=tmp_path)
        run = doiuri("lock", *options, cwd=tmp_path)
    assert [line[8] for line in due.stdout.splitlines()] == [*("BDFIJK" if refresh else "IJK")]
    content = file.read()
    for name, (_, _, without_refresh, with_refresh) in LOOK_UPS.items():
        status = "accepted" if name in content.accepted else content.status(name)
        assert status == (with_refresh if refresh else without_refresh), name
    unanswered = 4 if refresh else 2
    assert f" {unanswered} without an answer" in run.stderr


def test_works_that_are_locked_later_leave_the_records(folder: Path, doi_proxy: Proxies) -> None:
    lock(doi_proxy, folder)
    before = content(folder)["record"]
    (folder.parent / "cache.sqlite").unlink()
    for settings in ("budget = 0.5\nrate = 4\n", ""):  # existence first, if time is short
        (folder / "doiuri.toml").write_text(settings)
        lock(doi_proxy, folder, "--works")
        assert content(folder)["record"] == before, settings
    assert content(folder)["work"]["10.5555/KAHN-2006"]["author"][0]["family"] == "Kahn"
    assert content(folder)["work"].get("10.5555/ALIAS", "nothing") is None
    doi_proxy.load([item(KAHN, metadata={CSL: work("Another title", "R.", "Kahn", 2007)})])
    titles = {
        "--works": "A framework for digital object services",
        "--works --refresh": "Another title",
    }
    for words, title in titles.items():
        lock(doi_proxy, folder, "--cache=:memory:", *words.split())
        assert content(folder)["work"]["10.5555/KAHN-2006"]["title"] == title
    lock(doi_proxy, folder, "--accept", DEAD, "--reason", "an example")
    about_dead = [one.target for one in doi_proxy.log if one.target.upper().endswith(DEAD.upper())]
    assert [target for target in about_dead if not target.startswith("/api/handles/")] == []
    doi_proxy.load([item(DEAD, metadata={CSL: work("Registered by now", "R.", "Kahn", 2007)})])
    lock(doi_proxy, folder, "--cache=:memory:", "--works", "--refresh")
    assert content(folder)["work"]["10.5555/NOPE"]["title"] == "Registered by now"


def test_short_dois_are_checked_found_and_locked_like_dois(
    folder: Path, doi_proxy: Proxies
) -> None:
    doi_proxy.load([{"handle": "10/abcd", "values": []}])
    (folder / "b.rst").unlink()
    (folder / "a.md").write_text("See https://doi.org/10/abcd and [x](doi:10/dead).\n")
    remedy = "{0} is a short DOI; write the DOI that https://doi.org/{0}?noredirect shows"
    expected = [
        f"a.md:1:5: warning[short-doi] {remedy.format('10/abcd')}",
        "a.md:1:37: error[not-found] 10/dead is not registered",
        f"a.md:1:37: warning[short-doi] {remedy.format('10/dead')}",
    ]
    asked = doiuri("check", "--resolver", doi_proxy.url, "-o", "concise", cwd=folder)
    assert asked.stdout.splitlines() == expected
    assert doiuri("find", cwd=folder).stdout == "a.md:1:5: 10/abcd\na.md:1:37: 10/dead\n"
    lock(doi_proxy, folder)
    assert names(folder) == ["10/ABCD", "10/DEAD"]
    assert doiuri("check", "--locked", "-o", "concise", cwd=folder).stdout.splitlines() == expected
    lock(doi_proxy, folder, "--accept", "10/dead", "--reason", "an example")
    assert "not-found" not in doiuri("check", "--locked", cwd=folder).stdout


def test_accept_needs_a_reason_and_a_dead_name(folder: Path, doi_proxy: Proxies) -> None:
    names = "x", "10.1000", "doi:10.1000/"
    invalid = [["--accept", name, "--reason", "x"] for name in names]
    for arguments in (["--accept", DEAD], ["--reason", "x"], *invalid):
        assert lock(doi_proxy, folder, *arguments).returncode == 2
    assert lock(doi_proxy, folder, "--accept", DEAD, "--reason", " ").returncode == 2
    run = lock(doi_proxy, folder, "--accept", KAHN, "--reason", "it is new")
    assert (run.returncode, "is registered" in run.stderr) == (2, True)
    assert not (folder / "doi.lock.json").exists()


def test_a_name_that_was_registered_since_is_accepted_unless_it_is_looked_up_again(
    folder: Path, doi_proxy: Proxies
) -> None:
    lock(doi_proxy, folder)
    doi_proxy.load([item(DEAD)])
    accept = "--cache=:memory:", "--accept", DEAD, "--reason", "a test"
    before = (folder / "doi.lock.json").read_bytes()

    refreshed = lock(doi_proxy, folder, "--refresh", *accept)
    assert_same("the exit code of lock --accept --refresh", refreshed.returncode, 2)
    assert f"{DEAD} is registered" in refreshed.stderr
    assert_same("the lock file", (folder / "doi.lock.json").read_bytes(), before)
    assert_same("the exit code of lock --accept", lock(doi_proxy, folder, *accept).returncode, 0)


@pytest.mark.parametrize("more", [[], ["--offline"]])
def test_an_accepted_name_is_no_finding_and_stays(
    more: list[str], folder: Path, doi_proxy: Proxies
) -> None:
    assert doiuri("check", "--resolver", doi_proxy.url, cwd=folder).returncode == 1
    accept = "--accept", f"doi:{DEAD}", "--reason", "an\nexample"
    run = lock(doi_proxy, folder, "--cache=:memory:", *more, *accept)
    unknown = " 2 without an answer: offline: request not sent." if more else ""
    assert (run.returncode, run.stderr.partition("removed.")[2]) == (0, f"{unknown}\n")
    assert content(folder)["accepted"] == {"10.5555/NOPE": "an example"}
    assert names(folder) == (["10.5555/NOPE"] if more else ALL)
    (folder / "c.bib").write_text(f"@misc{{a, doi = {{{DEAD}}}}}")
    requests = len(doi_proxy.log)
    for options in (["--offline"], ["--locked"], ["--resolver", doi_proxy.url]):
        run = doiuri("check", "--compare", *options, "--ignore=lock-missing", cwd=folder)
        assert (run.returncode, run.stdout) == (0, ""), options
    assert not [one for one in doi_proxy.log[requests:] if DEAD in one.target]


def test_a_configuration_file_alone_names_no_resolver(folder: Path, doi_proxy: Proxies) -> None:
    (folder / "doiuri.toml").write_text(f'resolver = "{doi_proxy.url}"')
    for options in ([], ["--check"]):
        run = doiuri("lock", *options, cwd=folder)
        assert (run.returncode, run.stdout) == (2, ""), options
        assert run.stderr.endswith("name the resolver with --resolver or DOIURI_RESOLVER\n"), (
            options
        )
    assert doi_proxy.log == []
    assert doiuri("lock", cwd=folder, DOIURI_RESOLVER=doi_proxy.url).returncode == 0


@pytest.mark.parametrize("is_link", [False, True], ids=["file", "link"])
@pytest.mark.parametrize("text", FOREIGN.values(), ids=FOREIGN)
def test_what_is_no_lock_file_stays_and_the_message_says_what_to_do(
    text: bytes, is_link: bool, folder: Path, doi_proxy: Proxies
) -> None:
    path = folder.parent / "theirs.json" if is_link else folder / "doi.lock.json"
    path.write_bytes(text)
    if is_link:
        (folder / "doi.lock.json").symlink_to(path)

    named = "--lock=doi.lock.json"
    for run in (
        lock(doi_proxy, folder, named),
        lock(doi_proxy, folder, named, "--prune", "--refresh"),
        lock(doi_proxy, folder, "--accept", DEAD, "--reason", "an example", named),
        doiuri("check", cwd=folder),
        doiuri(
            "check", "--cache=doi.lock.json", "--lock=", "--resolver", doi_proxy.url, cwd=folder
        ),
    ):
        assert (run.returncode, run.stdout) == (2, ""), run.stderr
        assert re.fullmatch(rf"doiuri: .*doi\.lock\.json .*; ({REMEDIES})\n", run.stderr)

    assert (path.read_bytes(), (folder / "doi.lock.json").is_symlink()) == (text, is_link)
    assert doi_proxy.log == []


def test_a_lock_file_that_is_named_and_missing_is_told(folder: Path) -> None:
    run = doiuri("check", "--lock=gone.json", cwd=folder)
    assert "does not exist; run doiuri lock" in run.stderr


@pytest.mark.parametrize(
    ("name", "text", "code", "message"),
    [
        ("broken.txt", b"\xff\xfe\xff", 2, "not utf-16-le, which its byte order mark says"),
        ("a.ipynb", b'{"cells": [{"source": ["doi:10.1000/182"]', 0, "read as plain text: "),
    ],
)
def test_what_a_file_may_mention_that_cannot_be_read_is_not_dropped(
    name: str, text: bytes, code: int, message: str, folder: Path, doi_proxy: Proxies
) -> None:
    lock(doi_proxy, folder)
    (folder / "a.md").unlink()
    (folder / name).write_bytes(text)
    run = lock(doi_proxy, folder, "--prune")
    assert (run.returncode, run.stderr.startswith(f"doiuri: {name}: {message}")) == (code, True), (
        run
    )
    told = "doiuri: --prune drops nothing: a file was read as plain text" in run.stderr.splitlines()
    assert told == (code == 0)
    assert {*ALL} <= {*names(folder)}
    assert doiuri("find", cwd=folder).stderr == run.stderr.splitlines(keepends=True)[0]
    assert "lock-unused" not in doiuri("check", "--locked", cwd=folder).stdout
    assert "No files to check" not in doiuri("check", "--locked", name, cwd=folder).stderr


def test_the_place_of_the_lock_file(folder: Path, doi_proxy: Proxies) -> None:
    (folder / "pyproject.toml").write_text("[tool.doiuri]\nlocked = true\n")
    (folder / "deep").mkdir()
    (folder / "deep" / "c.md").write_text(f"doi:{BARE}\n")
    told = lock(doi_proxy, folder / "deep", "--cache", ":memory:").stderr
    assert told == "1 DOI in doi.lock.json: 1 added, 0 changed, 0 removed.\n"
    assert names(folder) == ["10.5555/BARE"]
    offline = ("--offline", "--cache", ":memory:")
    assert doiuri("lock", *offline, "--check", cwd=folder / "deep").returncode == 0, (
        "it is read, too"
    )
    lock(doi_proxy, folder, "--lock", "other.json")
    lock(doi_proxy, folder / "deep", "--isolated")
    assert (folder / "other.json").is_file()
    assert (folder / "deep" / "doi.lock.json").is_file()


def test_no_lock_file_is_written_over_a_link(folder: Path, doi_proxy: Proxies) -> None:
    (folder / "doi.lock.json").symlink_to("../outside.json")
    run = lock(doi_proxy, folder)
    assert run.returncode == 2
    assert run.stderr == "doiuri: doi.lock.json is a symbolic link; name its target with --lock\n"
    assert lock(doi_proxy, folder, "--lock", "doi.lock.json").returncode == 0
    assert (folder.parent / "outside.json").is_file()


def test_bibtex_entries_keyed_by_name(folder: Path, doi_proxy: Proxies) -> None:
    unfit = [DIKES, *map("10.5555/a{}b".format, ',{}%#~\\"=')]
    more = [{"handle": name, "values": []} for name in unfit[1:]]
    doi_proxy.load(RECORDS | {"records": RECORDS["records"] + more})
    links = "".join(f"<https://doi.org/{quote(name)}>\n" for name in unfit)
    (folder / "0.txt").write_text(f"doi:{BAD} {BARE}\n{links}")
    run = lock(doi_proxy, folder, "--bib", "refs.bib")
    assert run.returncode == 0
    text = (folder / "refs.bib").read_text()
    assert text == (
        "@article{10.5555/kahn-2006, title={A framework}, DOI={10.5555/kahn-2006}, year={2006} }\n\n"
        "@article{10.5555/Retracted, title={On cold fusion}}\n"
    )
    problems = [line.split(": ")[1] for line in run.stderr.splitlines() if "BibTeX" in line]
    assert sorted(problems) == sorted([ALIAS, BARE, *unfit])
    assert run.stderr.count(": not in the BibTeX file: a key cannot hold this name\n") == len(unfit)
    requests = len(doi_proxy.log)
    assert lock(doi_proxy, folder, "--bib", "refs.bib", "--check").stdout == ""
    assert lock(doi_proxy, folder, "--bib", "refs.bib", "--check", "--works").returncode == 1
    (folder / "refs.bib").write_text(old := text.replace("cold fusion", "hot air"))
    lock(doi_proxy, folder, "--bib", "refs.bib")
    assert (folder / "refs.bib").read_text() == old
    assert len(doi_proxy.log) == requests
    lock(doi_proxy, folder, "--bib", "refs.bib", "--refresh")
    assert (folder / "refs.bib").read_text() == text


@pytest.mark.parametrize("spelled", ["refs.bib", "./refs.bib", "{}/refs.bib"])
def test_bibtex_entries_stay_without_a_network_and_go_with_prune(
    folder: Path, doi_proxy: Proxies, spelled: str
) -> None:
    bib = spelled.format(folder)
    lock(doi_proxy, folder, "--bib", bib)
    text = (folder / "refs.bib").read_text()
    options = ("--offline", "--cache", ":memory:", "--bib", bib)
    told = doiuri("lock", *options, "--refresh", cwd=folder).stderr
    assert told.endswith("\ndoiuri: 2 entries could not be looked up: offline: request not sent\n")
    assert (folder / "refs.bib").read_text() == text
    (folder / "a.md").unlink()
    assert doiuri("lock", *options, "--check", cwd=folder).returncode == 0
    assert doiuri("lock", *options, "--prune", "--check", cwd=folder).returncode == 1
    doiuri("lock", *options, "--prune", cwd=folder)
    assert (folder / "refs.bib").read_text() == ""


OTHERS = "contains text that is not a complete BibTeX entry; name a file that only doiuri writes"


@pytest.mark.parametrize(
    ("options", "text", "message"),
    [
        ("--bib=doi.lock.json", None, "--bib and --lock name the same file"),
        ("--lock=x.bib --bib=./x.bib", None, "--bib and --lock name the same file"),
        ("--bib=.", None, "'.' is not a file; name a file that only doiuri writes"),
        ("--bib=", None, "'' is not a file; name a file that only doiuri writes"),
        (
            "--bib=x.bib",
            "@article{kahn, title={A}}\n",
            "x.bib contains the entry kahn; name a file that",
        ),
        ("--bib=x.bib", "My notes\n@misc{10.5555/x, title={A}}\n", f"x.bib {OTHERS}"),
        ("--bib=x.bib", "@article{10.5555/kahn-2006,\n title = {x\n", f"x.bib {OTHERS}"),
        ("--bib=x.bib", "<<<<<<< HEAD\n@misc{10.5555/x}\n=======\n", f"x.bib {OTHERS}"),
        ("--bib=x.bib", "@string{a = {b}}\n@misc{10.5555/x}\n", f"x.bib {OTHERS}"),
        ("--bib=x.bib", "@comment{mine}\n", f"x.bib {OTHERS}"),
        ("--bib=x.bib", '{"title": "A"}\n', f"x.bib {OTHERS}"),
        (
            "--bib=x.bib",
            "@misc{10.5555/x, title={A}}\n@misc{10.5555/X, title={B}}\n",
            "x.bib contains two entries of 10.5555/X; delete one of them",
        ),
        ("--bib=x.bib", "\udcff\n", "x.bib is not in UTF-8; name a file that only doiuri writes"),
    ],
)
def test_a_bibliography_that_is_not_ours_is_known_before_any_look_up(
    options: str, text: str | None, message: str, folder: Path, doi_proxy: Proxies
) -> None:
    if text is not None:
        (folder / "x.bib").write_bytes(os.fsencode(text))
    run = lock(doi_proxy, folder, *options.split())
    assert (run.returncode, run.stdout, message in run.stderr) == (2, "", True), run.stderr
    assert text is None or (folder / "x.bib").read_bytes() == os.fsencode(text)
    assert doi_proxy.log == []


@pytest.mark.parametrize("is_link", [False, True], ids=["file", "link"])
@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_what_is_no_bibliography_of_ours_stays_as_it_is(
    content: bytes, is_link: bool, folder: Path, doi_proxy: Proxies
) -> None:
    bib = folder / "refs.bib"
    path = folder.parent / "theirs.bib" if is_link else bib
    path.write_bytes(content)
    if is_link:
        bib.symlink_to(path)

    for options in ([], ["--prune", "--refresh"]):
        run = lock(doi_proxy, folder, "--bib", "refs.bib", *options)
        assert run.returncode == 2
        assert run.stderr.startswith("doiuri: refs.bib ")
        assert run.stderr.endswith("; name a file that only doiuri writes\n")

    assert (path.read_bytes(), bib.is_symlink(), doi_proxy.log) == (content, is_link, [])


def test_two_runs_that_write_one_bibliography_lose_nothing(
    folder: Path, doi_proxy: Proxies
) -> None:
    """While the first one looks up its entries, the second one reads and writes the file."""
    bib = folder / "refs.bib"
    theirs = "@misc{10.5555/theirs, title={Written meanwhile}}\n"

    def reply(asked: Asked) -> Answer:
        if asked.headers["accept"] == BIBTEX:
            bib.write_text(theirs)
            return Answer(200, {"Content-Type": BIBTEX}, b"@misc{a, title={Ours}}")
        return answering([{"handle": name, "values": []} for name in (KAHN, ALIAS)])(asked)

    with site(reply) as server, doi_org(server.url):
        run = doiuri("lock", "--cache", ":memory:", "--bib", "refs.bib", cwd=folder)

    assert run.returncode == 0
    assert bib.read_text().count("title={Ours}") == 2
    assert bib.read_text().endswith(theirs)


def commands(tex: str) -> set[str]:
    """Return the commands that TeX reads, which takes ^^ and a character or two digits for another one."""
    last = ""
    while last != tex:
        last = tex
        tex = re.sub(r"\^\^([0-9a-f]{2})", lambda code: chr(int(code[1], 16)), tex, count=1)
        if last == tex:
            tex = re.sub(r"\^\^([ -~])", lambda code: chr(ord(code[1]) ^ 64), tex, count=1)
    return {*re.findall(r"\\([A-Za-z]+|[^A-Za-z])", tex)}


def test_only_commands_that_are_known_to_be_harmless_reach_tex(
    folder: Path, doi_proxy: Proxies
) -> None:
    kept = r"\emph{On} \'{e}t\'e, \& $\frac{1}{2}\alpha$, \ifmmode \check{Z}\else \v{Z}\fi"
    written = r"\input{/etc/passwd} \write18{date} \csname input\endcsname \begin{filecontents}"
    pieces = ("\\", "^^5c", "^^\x1c", "^", "input", "^^69nput", "put", " ")
    tricks = " ".join(map("".join, product(pieces, repeat=3)))
    entry = f"@misc{{a, title={{{kept}}}, note={{{written}}}, abstract={{{tricks}}}}}"
    doi_proxy.load([{"handle": KAHN, "values": [], "metadata": {BIBTEX: entry}}])

    lock(doi_proxy, folder, "--bib", "refs.bib")
    bib = (folder / "refs.bib").read_text()
    resolved = doiuri(
        "resolve", "--as=bibtex", "--cache=:memory:", "--resolver", doi_proxy.url, KAHN, cwd=folder
    ).stdout

    harmless = {*commands(kept), "textbackslash", "textasciicircum"}
    for text in (bib, resolved):
        assert kept in text
        assert r"\textbackslash{}input{/etc/passwd} \textbackslash{}write18{date}" in text
        assert {name for name in commands(text) if name.isalpha()} <= harmless


def test_what_another_process_writes_meanwhile_is_kept(folder: Path) -> None:
    file = LockFile(folder / "doi.lock.json")
    key = Key("record", "https://doi.org", BARE.upper())

    def reply(asked: Asked) -> Answer:
        file.put_many({key: Entry(b'{"responseCode":1}', "application/json", inf)})
        return answering([{"handle": name, "values": []} for name in (KAHN, ALIAS)])(asked)

    with site(reply) as server, doi_org(server.url):
        doiuri("lock", "--cache", ":memory:", cwd=folder)
    assert {BARE.upper(), KAHN.upper(), DEAD.upper()} <= {*names(folder)}


def test_sphinx_writes_the_same_bytes_and_keeps_what_is_accepted(
    tmp_path: Path, doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(
        tmp_path / "src", {"index.rst": f"T\n=\n\n:doi:`{KAHN}`\n:doi:`{ALIAS}`\n:doi:`{DEAD}`\n"}
    )
    monkeypatch.setenv("DOIURI_CACHE", str(tmp_path / "sphinx.sqlite"))
    lock(doi_proxy, source)
    written = (source / "doi.lock.json").read_bytes()
    (source / "doi.lock.json").unlink()
    with doi_org(doi_proxy.url):
        assert build(source, tmp_path / "lock", "doi-lock").status == 0
    assert (source / "doi.lock.json").read_bytes() == written
    lock(doi_proxy, source, "--accept", DEAD, "--reason", "an example")
    with doi_org(doi_proxy.url):
        assert build(source, tmp_path / "lock", "doi-lock").warnings == ""
    assert content(source)["accepted"] == {"10.5555/NOPE": "an example"}


def test_markdown_reads_works_of_it(folder: Path, doi_proxy: Proxies) -> None:
    lock(doi_proxy, folder, "--works", "--accept", DEAD, "--reason", "an example")
    warned: list[str] = []
    extension = DOIExtension(lock=str(folder / "doi.lock.json"), offline=True, warn=warned.append)
    page = markdown.markdown(f"<doi:{DEAD}> and [@doi:{KAHN}]", extensions=[extension])
    assert ("Kahn" in page, warned) == (True, [])
