"""The lock file, which is committed, reviewed and merged."""

from __future__ import annotations

import errno
import json
import math
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from doiuri import DOI, NoValues, ResolverUnavailable
from doiuri.resolver import Entry, Key, LockContent, LockFile, Resolver, StoreWarning
from doiuri.rest import CSL_JSON
from doiuri.works import Work
from doiuri_proxy import resolver_for
from support.proxy_records import value
from support.store_contract import BASE, JSON, Kept, key

KAHN = DOI("10.1000/Kähn <1>")
EMPTY = DOI("10.1000/empty")
CSL = {"title": "A <i>framework</i>", "author": ["Kahn"]}
URL = {
    "timestamp": "2014-09-26T14:40:46Z",
    "ttl": 86400,
    "type": "URL",
    "index": 1,
    "data": {"value": "https://a.example/", "format": "string"},
}
METADATA = {
    CSL_JSON: CSL,
    "text/x-bibliography": "Kahn, R. &amp; Co. (2006).",
    "application/x-bibtex": "@misc{a}",
}
ITEMS: list[dict[str, Any]] = [
    {"handle": KAHN.name, "values": [URL], "metadata": METADATA},
    {"handle": EMPTY.name, "values": []},
]
RECORD = key(KAHN.key)
TEXT = key("10.1000/1", "metadata", detail="text/plain")
RECORD_LINE = (
    '"10.1000/KäHN <1>": {"json":{"handle":"10.1000/Kähn <1>","responseCode":1,'
    '"values":[{"data":{"format":"string","value":"https://a.example/"},"index":1,"type":"URL"}]}}'
)
EMPTY_LINE = '"10.1000/EMPTY": {"json":{"handle":"10.1000/empty","responseCode":200,"values":[]}},'
WORK = '{"author":[{"literal":"Kahn"}],"retrieved":"2026-03-31","title":"A <i>framework</i>","type":"document"}'
CONTENT = f"""{{"doiuri-lock": 1,
"bibtex": {{
"10.1000/KäHN <1>": {{"text":"@misc{{a}}","type":"application/x-bibtex"}}
}},
"metadata text/plain": {{
"10.1000/1": {{"text":"Knuth\\n","type":"text/plain"}}
}},
"record": {{
{EMPTY_LINE}
{RECORD_LINE}
}},
"work": {{
"10.1000/EMPTY": null,
"10.1000/KäHN <1>": {WORK}
}}}}
"""


EXPIRES = 1774915200.0 + 30 * 86400  # of an answer on 2026-03-31


def answers() -> dict[Key, Entry]:
    """Entries for every kind of answer."""
    store = Kept()
    resolver = resolver_for(ITEMS, store=store)
    resolver.resolve(KAHN)
    resolver.bibtex(KAHN)
    assert [outcome.status for outcome in resolver.works([KAHN, EMPTY])] == ["found", "no-values"]
    store[TEXT] = Entry(b"Knuth\n", "text/plain", 5.0)
    return {one: entry._replace(expires=EXPIRES) for one, entry in store.items()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "doi.lock"


# What it looks like


def test_the_same_answers_give_the_same_bytes_in_any_order(path: Path) -> None:
    entries = answers()
    keys = list(entries)
    for seed in range(5):
        path.unlink(missing_ok=True)
        random.Random(seed).shuffle(keys)
        for one in keys:
            LockFile(path).put_many({one: entries[one]._replace(expires=EXPIRES + seed)})
        assert path.read_text("utf-8") == CONTENT, seed


def test_a_change_of_an_entry_changes_one_line(path: Path) -> None:
    path.write_text(CONTENT, "utf-8")
    os.utime(path, (1, 1))
    before = path.stat()
    entries = answers()
    LockFile(path).put_many(entries)
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    LockFile(path).put_many({TEXT: Entry(b"Liang\n", "text/plain", 7.0)})
    old = CONTENT.splitlines()
    new = path.read_text("utf-8").splitlines()
    assert [
        number for number, (one, other) in enumerate(zip(old, new, strict=True)) if one != other
    ] == [5]


@pytest.fixture
def zone(request: pytest.FixtureRequest) -> Iterator[None]:
    """The time zone of this process, as POSIX writes it."""
    with pytest.MonkeyPatch.context() as patching:
        patching.setenv("TZ", request.param)
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("zone")
@pytest.mark.parametrize("zone", ["UTC", "EAST-14", "WEST+12"], indirect=True)
@pytest.mark.parametrize("hour", [0, 12, 23])
def test_the_day_of_a_work_is_the_same_in_every_time_zone(hour: int) -> None:
    month = 30 * 86_400
    received = datetime(2026, 3, 31, hour, 30, tzinfo=UTC).timestamp()
    content = LockContent()

    content.add({key(KAHN.key, "work"): Entry(b'{"title":"A"}', CSL_JSON, received + month)})

    assert content.retrieved == {KAHN.key: "2026-03-31"}, f"{time.tzname}, {hour} h: another day"


def test_only_a_new_answer_changes_the_day_on_which_a_work_was_retrieved(path: Path) -> None:
    work = key(KAHN.key, "work")
    path.write_text(CONTENT.replace('"retrieved":"2026-03-31",', ""), "utf-8")  # without a day
    file = LockFile(path)
    assert file.read().retrieved == {}
    entry = file.get_many([work])[work]
    for expires, day in (
        (entry.expires, None),
        (EXPIRES, "2026-03-31"),
        (EXPIRES + 9e5, "2026-04-10"),
    ):
        file.put_many({work: entry._replace(expires=expires)})
        assert LockFile(path).read().retrieved.get(KAHN.key) == day
    assert not any(file.edit(lambda content: content.add({work: entry._replace(expires=EXPIRES)})))
    assert path.read_text("utf-8") == CONTENT


# What it answers


@pytest.mark.parametrize("base", [BASE, "https://mirror.example", "http://127.0.0.1:8053"])
def test_it_answers_offline_for_every_resolver(path: Path, base: str) -> None:
    path.write_text(CONTENT, "utf-8")
    resolver = Resolver(base, store=LockFile(path), offline=True)
    assert resolver.resolve(KAHN).url == "https://a.example/"
    assert resolver.work(KAHN) == Work(KAHN, CSL)
    assert resolver.bibtex(KAHN) == "@misc{a}"
    with pytest.raises(NoValues):
        resolver.work(EMPTY)
    with pytest.raises(ResolverUnavailable, match="offline"):
        resolver.metadata(KAHN, "text/x-bibliography; style=ieee")
    assert path.read_text("utf-8") == CONTENT


@pytest.mark.parametrize(
    "body", [b"1.10", b' {"b":1, "a":2}\n', b"null", b"", "\u2028\n\r\0".encode()]
)
def test_bodies_that_are_not_json_are_kept_byte_for_byte(path: Path, body: bytes) -> None:
    entries = {
        TEXT: Entry(body, "text/x-bibliography", math.inf),
        RECORD: Entry(
            b'{"a":"\\ud800"}', JSON, math.inf
        ),  # JSON as we write it, with a lone surrogate
    }
    LockFile(path).put_many(entries)
    assert LockFile(path).get_many([TEXT, RECORD]) == entries


def test_another_editors_line_ends_and_letter_cases_are_read(path: Path) -> None:
    path.write_bytes(
        b"\xef\xbb\xbf" + CONTENT.replace("KäHN", "käHn").replace("\n", "\r\n").encode()
    )
    assert LockFile(path).get_many(list(answers())).keys() == answers().keys()
    LockFile(path).edit(lambda content: content.accepted.update({"10.1000/x": "lower case"}))
    content = LockFile(path).read()
    assert (content.status(KAHN.key), {*content.retrieved}) == ("found", {KAHN.key})
    assert content.accepted == {"10.1000/X": "lower case"}


@pytest.mark.parametrize("body", [b"\xff", b"[]", b"{"])
def test_an_entry_that_contradicts_its_key_is_left_out(path: Path, body: bytes) -> None:
    store = LockFile(path)
    bad = {key("10.1000/1", "work"): Entry(body, CSL_JSON, 0.0)}
    store.put_many(bad)
    assert not path.exists()
    store.put_many({**bad, RECORD: Entry(b"{}", JSON, 0.0)})
    assert store.read().keys == [RECORD]


MIRROR = "https://mirror.example"


def record_of(name: str, code: int, alias: str = "") -> Entry:
    values = [value("HS_ALIAS", alias)] if alias else []
    record = {"responseCode": code, "handle": f"10.1000/{name}", "values": values}
    return Entry(json.dumps(record).encode(), JSON, 0.0)


def agency_of(name: str) -> Entry:
    return Entry(json.dumps({"DOI": f"10.1000/{name}", "RA": "Crossref"}).encode(), JSON, 0.0)


SAID: dict[str, tuple[str, Entry, str | None]] = {
    "ALIAS": ("record", record_of("alias", 1, "10.1000/b"), "found"),
    "EMPTY": ("record", record_of("empty", 200), "found"),
    "DEAD": ("record", record_of("dead", 100), "not-found"),
    "FAILED": ("record", record_of("failed", 2), None),
    "ANOTHER": ("record", record_of("dead", 1), None),
    "ANOTHER-DEAD": ("record", record_of("dead", 100), None),
    "NO-RECORD": ("record", Entry(b"{}", JSON, 0.0), None),
    "RA": ("exists", agency_of("ra"), "found"),
    "ANOTHER-RA": ("exists", agency_of("ra"), None),
    "WORK": ("work", Entry(b'{"title":"A"}', CSL_JSON, 0.0), "found"),
    "NO-WORK": ("work", Entry(b"null", JSON, 0.0), None),
    "TEXT": ("metadata", Entry(b"A", "text/plain", 0.0), None),
    "DATA": ("files", Entry(b"{}", JSON, 0.0), None),
}


@pytest.mark.parametrize("name", SAID)
def test_what_it_says_of_a_doi_is_what_a_resolver_reads_in_it(path: Path, name: str) -> None:
    kind, entry, status = SAID[name]
    file = LockFile(path)
    file.put_many({key(f"10.1000/{name}", kind): entry})
    doi = DOI(f"10.1000/{name}")
    resolver = Resolver(store=file, offline=True)

    said = file.read().status(doi.key)
    (exists,) = resolver.check([doi], batch=True)
    (work,) = resolver.works([doi])

    assert said == status
    assert exists.status == (status if status and kind != "work" else "unknown")
    assert (work.status == "found") == (kind == "work" and status == "found")


EXISTING = ["ALIAS", "EMPTY", "RA", "WORK"]


@pytest.mark.parametrize("name", EXISTING)
def test_an_answer_that_a_doi_exists_takes_the_place_of_one_that_it_does_not(
    path: Path, name: str
) -> None:
    kind, exists, _ = SAID[name]
    file = LockFile(path)
    file.put_many({key(f"10.1000/{name}"): record_of(name.lower(), 100)})
    assert file.read().status(f"10.1000/{name}") == "not-found"

    file.put_many({key(f"10.1000/{name}", kind): exists})

    status = file.read().status(f"10.1000/{name}")
    assert status == "found", f"{name} is {status} after an answer of the kind {kind!r}"
    assert '"responseCode":100' not in path.read_text("utf-8"), "the old line stays"


@pytest.mark.parametrize("used", ["A", "B", "C", "D", "DATA"])
def test_pruning_keeps_what_a_chain_of_aliases_leads_to(path: Path, used: str) -> None:
    """However long it is. A data set stays, since programs use it."""
    chain = "ABCD"
    file = LockFile(path)
    for name, target in zip(chain, [*chain[1:], ""], strict=True):
        alias = f"10.1000/{target.lower()}" if target else ""
        file.put_many({key(f"10.1000/{name}"): record_of(name, 1, alias)})
    file.put_many({key("10.1000/DATA", "files"): Entry(b"{}", JSON, 0.0)})

    file.edit(lambda content: content.prune([f"10.1000/{used}"]))

    led_to = chain[chain.find(used) :] if used in chain else ""
    assert file.read().dois() == {f"10.1000/{name}" for name in [*led_to, "DATA"]}


@pytest.mark.parametrize("base", [BASE, MIRROR, "http://127.0.0.1:8053", "https://dx.doi.org"])
def test_only_doi_org_can_say_that_a_doi_does_not_exist(path: Path, base: str) -> None:
    """All other answers count whoever gave them, and the file does not say who that was."""
    registry = resolver_for(ITEMS, store=LockFile(path), base=base)
    assert [one.status for one in registry.check([KAHN, "10.1000/dead"], batch=True)] == [
        "found",
        "not-found",
    ]
    assert [one.status for one in registry.works([KAHN, EMPTY])] == ["found", "no-values"]

    dead = "not-found" if base == BASE else "unknown"
    for asked in (BASE, MIRROR):
        reader = Resolver(asked, store=LockFile(path), offline=True)
        outcomes = reader.check([KAHN, "10.1000/dead"], batch=True)
        assert [outcome.status for outcome in outcomes] == ["found", dead], asked
    content = LockFile(path).read()
    assert (content.status("10.1000/DEAD") == "not-found") == (base == BASE)
    assert content.work(KAHN.key) == Work(KAHN, CSL)
    assert "://" not in path.read_text("utf-8").replace("https://a.example/", "")


def test_no_metadata_replaces_no_work_until_its_line_is_deleted(path: Path) -> None:
    work = key(KAHN.key, "work")
    nothing = Entry(b"null", JSON, EXPIRES)
    path.write_text(CONTENT, "utf-8")
    file = LockFile(path)

    file.put_many({work: nothing})
    assert path.read_text("utf-8") == CONTENT

    file.edit(lambda content: content.remove([KAHN.key], ["work"]))
    file.put_many({work: nothing})
    assert file.get_many([work])[work].body == b"null"


TYPES = [
    "text/plain",
    'application/ld+json; profile="https://www.w3.org/ns/json-ld#compacted https://a.example"',
    "text/x-bibliography; style=10.1000/a; locale= 10.1000/b",
    "*/* ;q=1 https://doi.org 10.1000/1 ",
]


@pytest.mark.parametrize("media_type", TYPES)
@pytest.mark.parametrize("name", ["10.1000/1", "10.1000/a https://doi.org 10.1000/1", '10.1000/"'])
def test_metadata_of_any_media_type_are_found_again(path: Path, media_type: str, name: str) -> None:
    asked = Key("metadata", BASE, DOI(name).key, media_type)
    entry = Entry(b"Knuth", "text/plain", math.inf)

    LockFile(path).put_many({asked: entry})

    assert LockFile(path).get_many([asked]) == {asked: entry}
    assert LockFile(path).read().keys == [asked]


# Editing


def test_processes_that_write_at_once_lose_nothing(path: Path) -> None:
    script = (
        "import sys\nfrom doiuri.resolver import Entry, Key, LockFile\n"
        "store = LockFile(sys.argv[1], timeout=300)\n"
        "for n in range(30):\n"
        "    key = Key('record', 'https://doi.org', f'10.1000/{sys.argv[2]}-{n:02}')\n"
        "    store.put_many({key: Entry(b'{}', 'application/json', 0)})"
    )
    command = [sys.executable, "-W", "error", "-c", script, str(path)]
    processes = [subprocess.Popen([*command, name]) for name in "ABCD"]
    assert [process.wait(300) for process in processes] == [0] * 4
    written = product("ABCD", range(30))
    assert LockFile(path).read().dois() == {f"10.1000/{name}-{n:02}" for name, n in written}
    assert [file.name for file in path.parent.iterdir()] == ["doi.lock"], "nothing is left behind"


@pytest.mark.parametrize("moment", ["change", "render"])
def test_entries_that_are_put_during_an_edit_are_written_after_it(
    path: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The garbage collector may close an iteration, whose entries are then stored, at any time."""
    file = LockFile(path)
    render = LockContent.render

    def rendered(content: LockContent) -> bytes:
        if moment == "render" and TEXT not in content.keys:
            file.put_many({TEXT: answers()[TEXT]})
        return render(content)

    def change(content: LockContent) -> None:
        if moment == "change":
            file.put_many({TEXT: answers()[TEXT]})
        content.accepted["10.1000/X"] = "mine"

    monkeypatch.setattr(LockContent, "render", rendered)
    file.edit(change)

    content = LockFile(path).read()
    assert (content.keys, content.accepted) == ([TEXT], {"10.1000/X": "mine"})


@pytest.mark.skipif(os.name == "nt", reason="there are no such locks")
def test_entries_that_are_put_while_an_edit_waits_are_written_after_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    file = LockFile(path)
    folder = os.open(path.parent, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)  # as another program does

    def sleep(_seconds: float) -> None:
        file.put_many({TEXT: answers()[TEXT]})
        fcntl.flock(folder, fcntl.LOCK_UN)

    monkeypatch.setattr(time, "sleep", sleep)
    file.edit(lambda content: content.accepted.update({"10.1000/X": "mine"}))
    os.close(folder)

    content = LockFile(path).read()
    assert (content.keys, content.accepted) == ([TEXT], {"10.1000/X": "mine"})


@pytest.mark.parametrize("inner", ["the same", "another", "its neighbour"])
def test_an_edit_within_an_edit_is_refused_at_once(path: Path, inner: str) -> None:
    """The outer one would overwrite what the inner one wrote, or the inner one would wait for the outer one."""
    file = LockFile(path)
    name = "other.json" if inner == "its neighbour" else path.name
    within = file if inner == "the same" else LockFile(path.with_name(name))

    def accept(content: LockContent) -> None:
        content.accepted["10.1000/X"] = "mine"

    def change(_content: LockContent) -> None:
        within.edit(accept)

    with pytest.raises(OSError, match="make one change after the other") as caught:
        file.edit(change)
    assert caught.value.errno == errno.EDEADLK

    assert not path.exists()
    file.edit(accept)
    assert LockFile(path).read().accepted == {"10.1000/X": "mine"}


def test_what_an_editor_saves_during_an_edit_is_not_overwritten(path: Path) -> None:
    """Editors and git know nothing of the lock."""
    file = LockFile(path)
    file.put_many(answers())
    saved = path.read_bytes().replace(b"Knuth", b"The art")

    def change(content: LockContent) -> None:
        path.write_bytes(saved)
        content.accepted["10.1000/X"] = "mine"

    with pytest.raises(OSError, match="changed in the meantime"):
        file.edit(change)

    assert path.read_bytes() == saved


@pytest.mark.skipif(os.name == "nt", reason="there are no such locks")
def test_nobody_waits_long_for_a_lock_of_another_program(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    clock = [1000.0]

    def tick() -> float:
        clock[0] += 0.1
        return clock[0]

    monkeypatch.setattr(time, "monotonic", tick)
    file = LockFile(path)
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with pytest.raises(TimeoutError, match="locked by another program for more than"):
            file.edit(lambda content: content.accepted.update({"10.1000/X": "mine"}))
        with pytest.warns(StoreWarning, match="cannot be written .*locked by another program"):
            assert resolver_for(ITEMS, store=file).resolve(KAHN).url == "https://a.example/"
        file.put_many(answers())  # not tried again yet, so there is no second warning
    finally:
        os.close(descriptor)
    clock[0] += 100
    file.put_many(answers())
    assert file.read().status(KAHN.key) == "found"


# The file


def test_changes_from_outside_are_seen(path: Path) -> None:
    store = LockFile(path)
    assert store.get_many([TEXT]) == {}
    path.write_text(CONTENT, "utf-8")
    os.utime(path, (1, 1))
    assert store.get_many([TEXT])[TEXT].body == b"Knuth\n"
    with path.open("r+b") as file:  # in place, of the same size
        file.write(CONTENT.replace("Knuth", "Liang").encode())
    assert store.get_many([TEXT])[TEXT].body == b"Liang\n"
    path.unlink()
    assert store.get_many([TEXT]) == {}
    store.put_many({key("10.1000/2"): Entry(b"{}", JSON, 0)})
    assert store.read().dois() == {"10.1000/2"}, "what was deleted stays deleted"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("null", "not a lock file of format 1: its format is None"),
        ("[]", "not a lock file"),
        ("{}", "not a lock file"),
        ('{"doiuri-lock": 3, "record": {}}', "its format is 3; upgrade doiuri"),
        ('{"doiuri-lock": "1", "record": {}}', "its format is '1'"),
        ('{"doiuri-lock": 1, "record": []}', "contains an invalid entry"),
        ('{"doiuri-lock": 1, "record": {"k": {"json": {}}}}', "contains an invalid entry"),
        ('{"doiuri-lock": 1, "record": {}, "work": []}', "contains an invalid entry"),
        ('{"doiuri-lock": 1, "work": {"10.1000/1": "text"}}', "a work must be an object"),
        (
            '{"doiuri-lock": 1, "accepted": {"10.1/1": null}}',
            r"\('accepted, 10.1/1': TypeError\('the reason must be a string'\)\)",
        ),
        *(
            (
                f'{{"doiuri-lock": 1, "record": {{"10.1000/1": {entry}}}}}',
                "contains an invalid entry",
            )
            for entry in ("null", "7", "{}", '{"text": 1}', '{"json": {}, "type": 5}')
        ),
        (
            CONTENT.replace(RECORD_LINE, f"<<<<<<< HEAD\n{RECORD_LINE}\n>>>>>>> x"),
            "it has a merge conflict; resolve it, keeping the lines of both sides",
        ),
        (
            '{"doiuri-lock": 1, "accepted": {"10.1/a": "lost", "10.1/A": "withdrawn"}}',
            r"\('accepted, 10.1/A': ValueError\('another line of this DOI says otherwise'\)\)",
        ),
        (
            CONTENT.replace(RECORD_LINE, f"{RECORD_LINE},\n{RECORD_LINE.lower()}"),
            "another line of this DOI says otherwise",
        ),
        (CONTENT.replace(RECORD_LINE, f"{RECORD_LINE},\n{RECORD_LINE}"), "repeats a member"),
        (CONTENT[:200], "not JSON"),
    ],
)
def test_an_invalid_lock_file_is_refused_and_never_overwritten(
    path: Path, content: str, complaint: str
) -> None:
    path.write_text(content, "utf-8")
    with pytest.raises(ValueError, match=complaint) as caught:
        LockFile(path)
    assert str(path) in str(caught.value)
    path.unlink()
    store = LockFile(path)
    path.write_text(content, "utf-8")
    with pytest.warns(StoreWarning, match="cannot be written"):
        store.put_many({TEXT: Entry(b"", "", 0)})
    with pytest.warns(StoreWarning, match="cannot be read"):
        assert store.get_many([TEXT]) == {}
    with pytest.raises(ValueError, match=complaint):
        store.edit(lambda _content: None)
    assert path.read_text("utf-8") == content


def test_an_empty_file_is_a_lock_file_without_entries(path: Path) -> None:
    path.touch()
    store = LockFile(path)
    assert store.read().keys == []
    store.put_many(answers())
    assert path.read_text("utf-8") == CONTENT


def test_two_lines_of_a_doi_that_agree_are_one(path: Path) -> None:
    path.write_text('{"doiuri-lock": 1, "accepted": {"10.1/a": "lost", "10.1/A": "lost"}}')
    LockFile(path).edit(lambda content: content.accepted.update({"10.1/B": "lost, too"}))
    assert LockFile(path).read().accepted == {"10.1/A": "lost", "10.1/B": "lost, too"}


def test_a_folder_or_a_device_is_refused_as_a_lock_file(tmp_path: Path) -> None:
    device = tmp_path / "link"
    device.symlink_to("/dev/zero")
    for path in (tmp_path, device):
        with pytest.raises(
            ValueError, match=f"{path} cannot be read as a lock file: not a regular file"
        ):
            LockFile(path)


def test_writing_keeps_symbolic_links_and_permissions(path: Path, tmp_path: Path) -> None:
    real = tmp_path / "elsewhere" / "real.json"
    real.parent.mkdir()
    real.write_text('{"doiuri-lock": 1}')
    real.chmod(0o640)
    path.symlink_to(real)
    LockFile(path).put_many(answers())
    assert path.is_symlink()
    assert real.read_text("utf-8") == CONTENT
    assert real.stat().st_mode & 0o777 == 0o640
