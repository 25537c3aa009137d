"""The lock file: written by a builder, read by later builds instead of the network."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from doiuri.resolver import Entry, Key, LockContent, LockFile, SQLiteStore
from support.checks import assert_same, assert_times, exactly, only
from support.doi_org import doi_org
from support.foreign import FOREIGN, REMEDIES
from support.servers.web import Site, answering, resolver, site
from support.sphinx_build import Build, Serve, build, write

FOUND = {f"10.1000/{number}": "https://example.org/" for number in range(9)}
PAGE = "T\n=\n\n:doi:`10.1000/1`\n:doi:`10.1000/lost`\n"
RUN = "run sphinx-build -b doi-lock to"


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The lock file of the page, as the builder writes it."""
    folder = tmp_path_factory.mktemp("locked")
    source = write(folder / "src", {"index.rst": PAGE})
    written = lock(source, folder)
    assert written.status == 0
    assert f"DOIs in lock file {source / 'doi.lock.json'}: 2" in written.said
    return (source / "doi.lock.json").read_text("utf-8")


@pytest.fixture
def source(locked: str, tmp_path: Path) -> Path:
    """A project with a lock file."""
    return write(tmp_path / "src", {"index.rst": PAGE, "doi.lock.json": locked})


@pytest.fixture
def file(source: Path) -> Path:
    """Its lock file."""
    return source / "doi.lock.json"


def lock(source: Path, tmp_path: Path, *options: str) -> Build:
    """Write the lock file with answers of a server and an empty cache."""
    with (
        site(resolver(FOUND)) as server,
        doi_org(server.url),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("DOIURI_CACHE", str(tmp_path / f"cache{server.port}"))
        return build(source, tmp_path / "lock", "doi-lock", *options)


def test_builds_with_a_lock_file_need_no_network(
    source: Path, tmp_path: Path, serve: Serve
) -> None:
    server = serve(resolver({}))
    built = build(source, tmp_path / "out")
    assert server.seen == []
    assert built.told == ["index.rst:5: WARNING: DOI not found: 10.1000/lost [doi.not-found]"]
    assert ["doi-not-found" in link.classes for link in built.links()] == [False, True]
    (source / "doi.lock.json").rename(source / "locked.json")
    again = build(source, tmp_path / "again", "html", "-D", "doi_lock=locked.json")
    assert (again.bytes(), again.told) == (built.bytes(), built.told)


def test_missing_and_unused_entries_are_told(source: Path, tmp_path: Path) -> None:
    write(
        source,
        {"index.rst": "T\n=\n\n:doi:`10.1000/1`\n:doi:`10.1000/2`\n\nand\n:doi:`10.1000/2`\n"},
    )
    built = build(source, tmp_path / "out")
    missing = f"10.1000/2 is not in the lock file; {RUN} add it [doi.lock-missing]"
    unused = (
        f"10.1000/LOST is in the lock file but in no document; {RUN} update it [doi.lock-unused]"
    )
    assert built.told == [
        f"doi.lock.json:4: WARNING: {unused}",
        f"index.rst:5: WARNING: {missing}",
        f"index.rst:8: WARNING: {missing}",
    ]
    assert built.status == 0
    write(source, {"index.rst": "T\n=\n"})
    exactly(2, "warnings", build(source, tmp_path / "out").told)  # unused
    assert lock(source, tmp_path).status == 0
    assert json.loads((source / "doi.lock.json").read_text()) == {"doiuri-lock": 1}


def test_metadata_that_the_lock_file_lacks_are_told(tmp_path: Path, server: Site) -> None:
    source = write(
        tmp_path / "src", {"index.rst": "T\n=\n\n:doi:`10.5555/three`, :doi:p:`10.5555/kahn-a`\n"}
    )
    build(source, tmp_path / "lock", "doi-lock")
    assert [*json.loads((source / "doi.lock.json").read_text())["work"]] == ["10.5555/KAHN-A"]
    before = (source / "doi.lock.json").read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOIURI_OFFLINE", "1")
        patch.setenv("DOIURI_CACHE", ":memory:")
        build(source, tmp_path / "away", "doi-lock")
    assert (source / "doi.lock.json").read_bytes() == before
    write(source, {"index.rst": "T\n=\n\n:doi:p:`10.5555/three` :doi:p:`10.5555/kahn-b`\n"})
    built = build(source, tmp_path)
    told = [
        line
        for line in built.at
        if f"is not in the lock file; {RUN} add it [doi.lock-missing]" in line
    ]
    assert [line.partition(" is ")[0] for line in told] == [
        "4: 10.5555/kahn-b",
        "4: the metadata of 10.5555/three",
    ]
    assert [link.text for link in built.links()] == ["doi:10.5555/three", "doi:10.5555/kahn-b"]


def test_a_work_stays_when_its_agency_has_no_metadata_any_more(
    tmp_path: Path, server: Site, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A portal may say so. It is named, no warning stops the build, and the page shows the work."""
    assert server.url
    source = write(tmp_path / "src", {"index.rst": "T\n=\n\n:doi:p:`10.5555/kahn-a`\n"})
    build(source, tmp_path / "lock", "doi-lock")
    before = (source / "doi.lock.json").read_bytes()
    page = build(source, tmp_path / "before").text()
    serve(answering([{"handle": "10.5555/kahn-a", "values": []}]))
    monkeypatch.setenv("DOIURI_CACHE", ":memory:")

    again = build(source, tmp_path / "lock", "doi-lock", "-W", "-E")

    assert (again.status, again.warnings) == (0, "")
    assert "no metadata any more, so the old work stays" in again.said
    assert "10.5555/kahn-a" in again.said.partition("to drop it: ")[2].partition("\n")[0]
    assert json.loads((source / "doi.lock.json").read_text())["work"] == json.loads(before)["work"]
    shown = build(source, tmp_path / "after", "html", "-W")
    assert (shown.status, shown.text()) == (0, page)


def test_what_another_resolver_does_not_know_is_named_and_not_written(
    tmp_path: Path, serve: Serve
) -> None:
    source = write(tmp_path / "src", {"index.rst": PAGE})
    serve(resolver(FOUND))

    built = build(source, tmp_path / "lock", "doi-lock")

    said = "not registered according to this resolver, which only https://doi.org can say"
    assert f"{said}: 10.1000/lost" in built.said
    assert [*json.loads((source / "doi.lock.json").read_text())["record"]] == ["10.1000/1"]


def test_dois_that_are_known_not_to_exist_are_unused_only_if_no_document_has_them(
    source: Path, tmp_path: Path, file: Path
) -> None:

    def change(content: LockContent) -> None:
        content.remove(content.dois() - {"10.1000/1"})
        content.accepted = {"10.1000/LOST": "withdrawn", "10.1000/ÖTHER": "withdrawn"}

    LockFile(file).edit(change)
    told = build(source, tmp_path / "out").told
    unused = only(
        "warning about an unused lock entry", (line for line in told if "lock-unused" in line)
    )
    assert unused == (
        "doi.lock.json:4: WARNING: 10.1000/ÖTHER is accepted in the lock file but in no document;"
        " to drop it, delete its line [doi.lock-unused]"
    )


def test_without_an_answer_the_old_entry_stays_and_a_new_doi_is_told(
    source: Path, tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = file.read_bytes()
    write(source, {"index.rst": PAGE + ":doi:`10.1000/4`\n"})
    monkeypatch.setenv("DOIURI_CACHE", ":memory:")
    built = build(source, tmp_path / "away", "doi-lock")
    missing = "10.1000/4 is not in the lock file: no answer from the resolver [doi.lock-missing]"
    assert built.at == [f"6: {missing}"]
    assert file.read_bytes() == before
    count = re.findall(r"DOIs in lock file .*: (\d+)\n", built.said)
    assert_same("the count of locked DOIs", count, [str(len(json.loads(before)["record"]))])
    write(source, {"index.rst": "T\n=\n\n:doi:`10.1000/4`\n"})
    build(source, tmp_path / "away", "doi-lock")
    assert file.exists(), "nobody said that there is nothing to lock"
    file.unlink()
    built = build(source, tmp_path / "away", "doi-lock")
    exactly(1, "warnings", built.told)
    assert not file.exists()
    assert "no lock file written: there are no answers to keep" in built.said
    assert "doi.lock.json" not in built.said


def refused(source: Path, folder: Path) -> list[str]:
    """What the builder of the lock file, and one that reads it, say of a lock file that is none."""
    told = []
    for builder in ("doi-lock", "html"):
        built = build(source, folder, builder)
        assert built.status == 2, f"{builder} took it"
        assert "reading sources" not in built.said, f"{builder} reads documents first"
        told.append(built.warnings)
    return told


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_what_is_no_lock_file_stays_as_it_is_and_the_error_says_what_to_do(
    content: bytes, source: Path, tmp_path: Path, file: Path
) -> None:
    file.write_bytes(content)

    for told in refused(source, tmp_path):
        assert re.search(rf"doi\.lock\.json .*; ({REMEDIES})", told), told

    assert_same("the file after both builds", file.read_bytes(), content)


def test_a_link_to_what_is_no_lock_file_stays_a_link_and_is_not_read_if_nothing_is_looked_up(
    source: Path, tmp_path: Path, file: Path
) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_bytes(FOREIGN["notes"])
    file.unlink()
    file.symlink_to(theirs)

    refused(source, tmp_path)

    assert file.is_symlink()
    assert_same("the file that is linked to", theirs.read_bytes(), FOREIGN["notes"])
    assert build(source, tmp_path / "off", "text", "-W", "-D", "doi_resolve=no").status == 0


def test_an_empty_file_becomes_the_lock_file(source: Path, tmp_path: Path, file: Path) -> None:
    written = file.read_bytes()
    file.write_bytes(b"")
    assert lock(source, tmp_path).status == 0
    assert file.read_bytes() == written


THEIRS = {"10.1000/7": "of a paper", "10.1000/8": "of the README"}
ACCEPTED = {"10.1000/GONE": "withdrawn by its publisher"}


@pytest.mark.parametrize(
    ("place", "options", "drops"),
    [
        ("doi.lock.json", (), True),
        ("deep/doi.lock.json", (), True),
        ("../doi.lock.json", (), False),
        ("link.json", (), False),
        ("../doi.lock.json", ("-D", "doi_lock_prune=1"), True),
    ],
)
def test_only_a_lock_file_below_the_configuration_loses_what_no_document_needs(
    place: str, options: tuple[str, ...], drops: bool, source: Path, tmp_path: Path, file: Path
) -> None:
    """Others write to a lock file elsewhere; and what a person accepted is in no case dropped."""
    path = source / place
    path.parent.mkdir(exist_ok=True)
    file.rename(path if place != "link.json" else tmp_path / "shared.json")
    if place == "link.json":
        path.symlink_to(tmp_path / "shared.json")
    ours = LockFile(path).read()

    def change(content: LockContent) -> None:
        for doi in THEIRS:
            for kind in ("record", "work"):
                entry = Entry(b"{}", "application/json", 0.0)
                content.add({Key(kind, "https://doi.org", doi): entry})
        content.accepted = ACCEPTED

    LockFile(path).edit(change)
    both = LockFile(path).read()

    built = build(source, tmp_path / "out", "html", "-D", f"doi_lock={place}", *options)
    assert lock(source, tmp_path, "-D", f"doi_lock={place}", *options).status == 0

    content = LockFile(path).read()
    assert content.accepted == ACCEPTED
    assert content.keys == (ours.keys if drops else both.keys)
    command = f"{RUN} update it"
    if not drops:
        command = "run sphinx-build -b doi-lock -D doi_lock_prune=1 to drop it"
    assert_times(len(THEIRS), f"{command} [doi.lock-unused]", built.warnings)
    assert_times(len(ACCEPTED), "to drop it, delete its line [doi.lock-unused]", built.warnings)


def test_the_files_of_data_sets_stay_and_what_no_document_needs_goes(
    source: Path, tmp_path: Path, file: Path
) -> None:
    before = LockFile(file).read().keys
    kept = Key("files", "https://doi.org", "10.1000/5")
    dropped = [
        kept._replace(kind="work", doi="10.1000/1"),
        kept._replace(kind="record", doi="10.1000/6"),
    ]
    LockFile(file).put_many(dict.fromkeys([kept, *dropped], Entry(b"{}", "application/json", 0.0)))
    assert {*LockFile(file).read().keys} == {*before, kept, *dropped}
    lock(source, tmp_path)
    assert {*LockFile(file).read().keys} == {*before, kept}


@pytest.mark.parametrize(
    ("builder", "name", "status", "told"),
    [
        ("html", "", 0, ""),
        ("html", "loked.json", 0, f"loked.json does not exist; {RUN} create it [doi.lock-missing]"),
        ("html", ".", 2, "src is a folder; set it to a file name"),
        ("doi-lock", ".", 2, "src is a folder; set it to a file name"),
        ("doi-lock", "", 2, "doi_lock is off; set it to a file name to write a lock file"),
        ("doi-lock", "index.rst/lock.json", 2, "cannot write the lock file: "),
    ],
)
def test_a_lock_file_that_cannot_be_used_is_named(
    builder: str, name: str, status: int, told: str, source: Path, tmp_path: Path, serve: Serve
) -> None:
    serve(resolver(FOUND | {"10.1000/lost": ""}))
    built = build(source, tmp_path / "out", builder, "-D", f"doi_lock={name}")
    assert built.status == status
    assert told in built.warnings
    assert bool(told) == bool(built.warnings)


def test_an_expired_answer_is_not_written_for_a_doi_without_an_answer(
    source: Path, tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, base, cache = file.read_bytes(), "http://127.0.0.1:1", tmp_path / "cache.sqlite"
    expired = Entry(
        b'{"responseCode":100,"handle":"10.1000/1"}', "application/json", time.time() - 60
    )
    SQLiteStore(cache).put_many({Key("record", base, "10.1000/1"): expired})
    monkeypatch.setenv("DOIURI_RESOLVER", base)
    monkeypatch.setenv("DOIURI_CACHE", str(cache))
    build(source, tmp_path / "again", "doi-lock")
    assert file.read_bytes() == before
