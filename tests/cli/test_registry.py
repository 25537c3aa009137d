"""What the lock file, the cache and the registry say, in how many requests; no answer is no finding."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from doiuri.plugins import DOI_ORG
from doiuri.resolver import Entry, Key, LockContent, LockFile, Resolver, SQLiteStore
from doiuri_cli._config import Config
from doiuri_cli.registry import check_names
from doiuri_cli.registry._lock import read_lock
from doiuri_cli.rules import LOCK_CODES
from doiuri_proxy.pytest_plugin import Proxies
from support.cli.command import doiuri
from support.servers.faults import FAULTS, NAME, Fault

DEAD = "10.5555/nope"
JSON = "application/json"
KNOWN = [f"10.1000/{number}" for number in range(180, 190)]
RECORDS = {
    "records": [{"handle": name, "values": []} for name in KNOWN],
    "agencies": {"10.1000": "Crossref"},
}

pytestmark = pytest.mark.doi_records(RECORDS)


def lock_of(path: Path, names: list[str], url: str) -> LockContent:
    """Write a lock file as Sphinx does, and read it."""
    with Resolver(url, store=LockFile(path)) as resolver:
        list(resolver.check(names))
    return read_lock(str(path))


def test_each_name_once_in_few_requests(doi_proxy: Proxies) -> None:
    names = [*KNOWN, *(name.lower() for name in KNOWN), DEAD, DEAD.upper()]
    answers = check_names(names, Config(resolver=doi_proxy.url))
    assert (answers.dois, answers.known, answers.asked) == (11, 0, 11)
    assert answers.requests == len(doi_proxy.log) == 11
    assert answers.statuses == dict.fromkeys(KNOWN, "found") | {DEAD.upper(): "not-found"}
    assert not answers.unknown


def test_a_registered_name_that_was_probably_meant_is_suggested(doi_proxy: Proxies, tmp_path: Path) -> None:
    meant = {
        "10.1000/18O": "10.1000/180",
        "10.1000/l81": "10.1000/181",
        "10.1000/182.pdf": "10.1000/182",
        "10.1000/183/full/html": "10.1000/183",
        "10.1000/184/fulltext.pdf": "10.1000/184",
        "10.1000/185/supplement": "10.1000/185",
        "10.1000/nope/data": None,
        "10.1000/186": None,
    }
    config = Config(resolver=doi_proxy.url, cache=str(tmp_path / "answers.sqlite"))
    answers = check_names(meant, config)
    expected = {name.upper(): guess for name, guess in meant.items() if guess}
    assert answers.meant == expected
    assert len(meant) < answers.requests == len(doi_proxy.log)
    assert check_names(meant, config).meant == expected
    assert len(doi_proxy.log) == answers.requests + 1  # about the guesses that are not registered
    (tmp_path / "a.txt").write_text("doi:10.1000/18O")
    run = doiuri("check", "-o", "concise", "--resolver", doi_proxy.url, "--cache", config.cache, cwd=tmp_path)
    assert run.stdout.endswith("10.1000/18O is not registered; did you mean 10.1000/180?\n")


FRESH, STALE = time.time() + 3600, 1.0
FOUND, GONE = 1, 100


def entry(name: str, code: int, expires: float) -> Entry:
    """An answer about a name."""
    return Entry(json.dumps({"responseCode": code, "handle": name, "values": []}).encode(), JSON, expires)


LOCKED = {
    "10.1000/LOCKED": FOUND,
    "10.1000/180": GONE,  # the registry knows it by now
    "10.1000/ACCEPTED": GONE,
    "10.1000/UNUSED": FOUND,
}
STORED = [
    ("10.1000/LOCKED", GONE, FRESH, True),
    ("10.1000/FRESH", FOUND, FRESH, True),
    ("10.1000/181", GONE, FRESH, True),
    ("10.1000/182", GONE, STALE, True),
    ("10.1000/STALE", FOUND, STALE, True),
    ("10.1000/183", GONE, FRESH, False),
]
"""DOI, answer, expiry, and whether it is that of the resolver which is asked."""
SOURCES = ["10.1000/LOCKED", "10.1000/180", "10.1000/ACCEPTED", "10.1000/FRESH", "10.1000/181", "10.1000/182"]
SOURCES += ["10.1000/STALE", "10.1000/183", "10.1000/184", DEAD.upper()]
BY_LOCK = ["found", "not-found", "accepted"]


@pytest.mark.parametrize(
    ("mode", "statuses", "figures", "missing"),
    [
        (
            {},
            [*BY_LOCK, "found", "not-found", "found", "not-found", "found", "found", "not-found"],
            (5, 5, 0),
            0,
        ),
        ({"offline": True}, [*BY_LOCK, "found", "not-found", None, "found", None, None, None], (5, 0, 4), 7),
        ({"locked": True}, [*BY_LOCK, *[None] * 7], (3, 0, 7), 7),
        (
            {"resolver": "http://127.0.0.1:1"},
            [*BY_LOCK, "found", "not-found", None, "found", None, None, None],
            (5, 5, 4),
            0,
        ),
    ],
    ids=["online", "offline", "locked", "no network"],
)
def test_the_lock_file_answers_first_then_the_store_then_the_registry(
    mode: dict[str, Any],
    statuses: list[str | None],
    figures: tuple[int, int, int],
    missing: int,
    doi_proxy: Proxies,
    tmp_path: Path,
) -> None:
    config = Config(
        resolver=doi_proxy.url, cache=str(tmp_path / "a.sqlite"), lock=str(tmp_path / "doi.lock.json")
    )
    config = config._replace(**mode)
    file, store = LockFile(str(config.lock)), SQLiteStore(str(config.cache))
    file.put_many({Key("record", DOI_ORG, key): entry(key, code, FRESH) for key, code in LOCKED.items()})
    file.edit(lambda content: content.accepted.update({"10.1000/ACCEPTED": "an example"}))
    for key, code, expires, is_ours in STORED:
        base = str(config.resolver) if is_ours else "https://other.example"
        store.put_many({Key("record", base, key): entry(key, code, expires)})
    store.close()
    answers = check_names(SOURCES, config, read_lock(str(config.lock)))
    assert [answers.statuses.get(name) for name in SOURCES] == [
        status or ("unknown" if not config.locked else None) for status in statuses
    ]
    assert (answers.known, answers.asked, len(answers.unknown)) == figures
    assert answers.missing == {*SOURCES[len(SOURCES) - missing :]}
    assert answers.requests == len(doi_proxy.log) or mode


@pytest.mark.parametrize(
    "answer", [{"json": {"responseCode": 2}}, {"json": {"responseCode": [1]}}, {"text": ""}]
)
def test_an_entry_without_an_answer_is_missing_and_used(answer: object, tmp_path: Path) -> None:
    path = tmp_path / "doi.lock.json"
    path.write_text(json.dumps({"doiuri-lock": 1, "entries": {"record https://doi.org 10.1000/182": answer}}))
    lock = read_lock(str(path))
    answers = check_names(["10.1000/182"], Config(lock=str(path), locked=True), lock)
    assert answers.missing == {"10.1000/182"}
    assert not [*lock.unused(answers.statuses.keys() | answers.missing)]
    assert lock.status("10.1000/182") is None


def test_a_lock_file_that_does_not_exist_or_is_none(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match=re.escape(f"{tmp_path / 'bad.json'} cannot be read as a lock file")):
        read_lock(str(tmp_path / "bad.json"))
    with pytest.raises(ValueError, match="does not exist; run doiuri lock"):
        read_lock(str(tmp_path / "gone.json"))


def test_differences_to_the_lock_file_are_findings(doi_proxy: Proxies, tmp_path: Path) -> None:
    lock_of(tmp_path / "doi.lock.json", KNOWN[:3], doi_proxy.url)
    (tmp_path / "a.txt").write_text(f"doi:{KNOWN[0]} doi:{KNOWN[5]}")
    options = ("check", "--locked", "-o", "concise", "--resolver", f"{doi_proxy.url}/")
    run = doiuri(*options, cwd=tmp_path)
    lines = run.stdout.splitlines()
    command = "doiuri lock --lock doi.lock.json a.txt"
    assert lines[0] == f"a.txt:1:17: warning[lock-missing] {KNOWN[5]} is not in the lock file; run {command}"
    assert [line.partition(" is in")[0].split(": ", 1)[1] for line in lines[1:]] == [
        f"warning[lock-unused] {name}" for name in KNOWN[1:3]
    ]
    assert all(line.startswith("doi.lock.json:") for line in lines[1:])
    assert run.returncode == 0
    # named files are not all files
    assert "lock-unused" not in doiuri(*options, "a.txt", cwd=tmp_path).stdout
    # offline, the same findings; the explanation of each says so
    offline = doiuri("check", "--offline", *options[2:], cwd=tmp_path)
    assert offline.stdout == run.stdout
    for code in sorted(LOCK_CODES):
        text = " ".join(doiuri("rule", code, cwd=tmp_path).stdout.split())
        assert "Reported only with `--locked`, or with `--offline` if there is a lock file." in text


NO_ANSWERS = {"refused", "reset", "403", "429 in seconds", "500", "HTML in place of JSON", "a redirect loop"}


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if str(fault) in NO_ANSWERS], ids=str)
def test_no_answer_is_no_finding(fault: Fault, tmp_path: Path) -> None:
    with fault.serve() as server:
        answers = check_names([NAME, DEAD], Config(resolver=server.url, budget=20))
    assert {*answers.statuses.values()} == {"unknown"}
    assert len(answers.unknown) == 2
    assert all(str(cause).isprintable() and len(str(cause)) < 150 for cause in answers.unknown)


def test_one_line_about_what_could_not_be_checked(tmp_path: Path) -> None:
    (fault,) = (fault for fault in FAULTS if str(fault) == "429 in seconds")
    (tmp_path / "a.txt").write_text("".join(f"doi:10.5555/{number}\n" for number in range(600)))
    with fault.serve() as server:
        run = doiuri("check", "--resolver", server.url, cwd=tmp_path)
        host = server.url.partition("//")[2]
    assert (run.returncode, run.stdout) == (0, "")
    first, second = run.stderr.splitlines()
    assert first.startswith("Checked 600 DOIs: 0 known, 600 asked in ")
    assert first.endswith(f". 600 could not be checked: {host}: HTTP status 429.")
    assert second == "No findings."
