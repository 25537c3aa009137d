"""What the lock file, the cache and the registry say, in how many requests; no answer is no finding."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from doiuri.resolver import LockFile, Resolver
from doiuri_cli._config import Config
from doiuri_cli.registry._check import check_names
from doiuri_cli.registry._lock import Lock
from doiuri_cli.rules import LOCK_CODES
from doiuri_proxy.pytest_plugin import Proxies
from support.cli.command import doiuri
from support.servers.faults import FAULTS, NAME, Fault

DEAD = "10.5555/nope"
KNOWN = [f"10.1000/{number}" for number in range(180, 190)]
RECORDS = {
    "records": [{"handle": name, "values": []} for name in KNOWN],
    "agencies": {"10.1000": "Crossref"},
}

pytestmark = pytest.mark.doi_records(RECORDS)


def lock_of(path: Path, names: list[str], url: str) -> Lock:
    """Write a lock file as Sphinx does, and read it."""
    with Resolver(url, store=LockFile(path)) as resolver:
        list(resolver.check(names))
    return Lock.read(str(path))


def test_each_name_once_in_few_requests(doi_proxy: Proxies) -> None:
    names = [*KNOWN, *(name.lower() for name in KNOWN), DEAD, DEAD.upper()]
    answers = check_names(names, Config(resolver=doi_proxy.url))
    assert (answers.dois, answers.known, answers.asked) == (11, 0, 11)
    assert answers.requests == len(doi_proxy.log) == 2  # Which RA for all, and the API for the doubtful one
    assert answers.statuses == dict.fromkeys(KNOWN, "found") | {DEAD.upper(): "not-found"}
    assert not answers.unknown


def test_the_store_answers_the_second_time(doi_proxy: Proxies, tmp_path: Path) -> None:
    config = Config(resolver=doi_proxy.url, cache=str(tmp_path / "answers.sqlite"))
    first = check_names(KNOWN, config)
    again = check_names([*KNOWN, "10.1000/new"], config)
    assert (again.known, again.asked) == (10, 1)
    assert first.requests + again.requests == len(doi_proxy.log)
    offline = check_names(KNOWN, Config(resolver=doi_proxy.url, cache=config.cache, offline=True))
    assert (offline.known, offline.asked, offline.requests) == (10, 0, 0)


def test_the_lock_file_answers_first(doi_proxy: Proxies, tmp_path: Path) -> None:
    lock = lock_of(tmp_path / "doi.lock.json", [*KNOWN[:5], DEAD], doi_proxy.url)
    before = len(doi_proxy.log)
    answers = check_names([*KNOWN[:5], DEAD], Config(resolver="http://127.0.0.1:1"), lock)
    assert answers.statuses == dict.fromkeys(KNOWN[:5], "found") | {DEAD.upper(): "not-found"}
    assert (answers.known, answers.asked, answers.requests) == (6, 0, 0)
    more = check_names(KNOWN, Config(resolver=doi_proxy.url), lock)
    assert (more.known, more.asked, more.missing) == (5, 5, frozenset())
    assert more.requests == len(doi_proxy.log) - before


def test_locked_asks_nothing(doi_proxy: Proxies, tmp_path: Path) -> None:
    lock = lock_of(tmp_path / "doi.lock.json", KNOWN[:5], doi_proxy.url)
    before = len(doi_proxy.log)
    answers = check_names(KNOWN, Config(resolver=doi_proxy.url, lock=lock.path, locked=True), lock)
    assert answers.missing == {*KNOWN[5:]}
    assert [str(cause) for cause in answers.unknown] == ["not in the lock file"] * 5
    assert len(doi_proxy.log) == before


def test_offline_the_cache_answers_too_but_the_lock_file_is_incomplete(
    doi_proxy: Proxies, tmp_path: Path
) -> None:
    lock = lock_of(tmp_path / "doi.lock.json", KNOWN[:5], doi_proxy.url)
    config = Config(resolver=doi_proxy.url, cache=str(tmp_path / "answers.sqlite"), lock=lock.path)
    check_names(KNOWN[5:7], config)
    answers = check_names(KNOWN, config._replace(offline=True), lock)
    assert answers.missing == {*KNOWN[5:]}
    assert (answers.known, [cause.kind for cause in answers.unknown]) == (7, ["offline"] * 3)
    assert "lock-missing" in config._replace(offline=True).codes
    assert "lock-missing" not in config.codes


def test_works_in_a_lock_file_exist(tmp_path: Path) -> None:
    path = tmp_path / "doi.lock.json"
    works = {"10.1000/182": {"type": "book"}, "10.1000/183": None}
    references = {"apa en-US 10.1000/184": "A book."}
    path.write_text(json.dumps({"doiuri-lock": 2, "entries": {}, "works": works, "references": references}))
    lock = Lock.read(str(path))
    dois = ["10.1000/182", "10.1000/183", "10.1000/184"]
    assert [lock.status(doi) for doi in dois] == ["found", None, None]
    assert [finding.doi for finding in lock.unused([])] == dois


@pytest.mark.parametrize("content", ["", "[]", "{", '{"doiuri-lock": 9, "entries": {}}', "[" * 100_000])
def test_broken_lock_files(content: str, tmp_path: Path) -> None:
    path = tmp_path / "doi.lock.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=re.escape(str(path))):
        Lock.read(str(path))


@pytest.mark.parametrize(
    "content",
    [
        {"doiuri-lock": True, "entries": {}},
        {"doiuri-lock": 1, "entries": {"record https://doi.org 10.1000/182": 5}},
        {"doiuri-lock": 1, "entries": {"record https://doi.org 10.1000/182": {}}},
        {"doiuri-lock": 2, "entries": {}, "works": {"10.1000/182": 5}},
        {"doiuri-lock": 2, "entries": {}, "references": {"10.1000/182": "A book."}},
        {"doiuri-lock": 2, "entries": {}, "references": {"apa en-US 10.1000/182": 5}},
        {"doiuri-lock": 2, "entries": {}, "accepted": {"10.1000/182": 5}},
    ],
)
def test_lock_files_that_the_resolver_refuses_are_refused(content: object, tmp_path: Path) -> None:
    path = tmp_path / "doi.lock.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=re.escape(str(path))):
        LockFile(path)
    with pytest.raises(ValueError, match=re.escape(str(path))):
        Lock.read(str(path))


@pytest.mark.parametrize(
    "answer", [{"json": {"responseCode": 2}}, {"json": {"responseCode": [1]}}, {"text": ""}]
)
def test_an_entry_without_an_answer_is_missing_and_used(answer: object, tmp_path: Path) -> None:
    path = tmp_path / "doi.lock.json"
    path.write_text(json.dumps({"doiuri-lock": 1, "entries": {"record https://doi.org 10.1000/182": answer}}))
    lock = Lock.read(str(path))
    answers = check_names(["10.1000/182"], Config(lock=str(path), locked=True), lock)
    assert answers.missing == {"10.1000/182"}
    assert not [*lock.unused(answers.statuses.keys() | answers.missing)]
    assert lock.status("10.1000/182") is None


def test_a_lock_file_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="does not exist; run doiuri lock"):
        Lock.read(str(tmp_path / "gone.json"))


def test_differences_to_the_lock_file_are_findings(doi_proxy: Proxies, tmp_path: Path) -> None:
    lock_of(tmp_path / "doi.lock.json", KNOWN[:3], doi_proxy.url)
    (tmp_path / "a.txt").write_text(f"doi:{KNOWN[0]} doi:{KNOWN[5]}")
    options = ("check", "--locked", "-o", "concise", "--resolver", f"{doi_proxy.url}/")
    run = doiuri(*options, cwd=tmp_path)
    lines = run.stdout.splitlines()
    assert lines[0].startswith(f"a.txt:1:17: warning[lock-missing] {KNOWN[5]} is not in the lock file")
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


def test_wrong_resolvers_and_caches_exit_with_2(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("doi:10.1000/182")
    run = doiuri("check", "--resolver", "nope", cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("doiuri: resolver: ")
    run = doiuri("check", "--cache", "ftp://x", cwd=tmp_path)
    assert run.returncode == 2
    assert run.stderr.startswith("doiuri: cache: ")
