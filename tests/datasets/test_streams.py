"""Any split of the stream: reads of any size, overlap and order, bodies that never end, a fork."""

from __future__ import annotations

import gzip
import io
import random
import threading
import tracemalloc
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

# Private: with the real limits, each case would send some 16 MiB
from fsspec_doiuri import DOIFileSystem, _filesystem, _web
from fsspec_doiuri._web import WHOLE
from support.checks import exactly
from support.manual.building import ROOT
from support.processes import in_child
from support.servers import faults, repositories
from support.servers.repositories import (
    CONTENT,
    DOIS,
    FILES,
    NOTES,
    Repository,
    Shelf,
    Start,
    as_json,
    invenio_files,
)
from support.servers.web import Answer, Asked

MIB = 2**20
KEPT = MIB
"""The most bytes of a file that these tests let the filesystem keep in memory."""
MOST = 4 * MIB
"""The most bytes that they let it receive if nobody says how many there are."""
LARGE = bytes(range(251)) * (72 * 64)  # 1.1 MiB: received in ranges
END = len(LARGE)
CHANGED = LARGE[: END // 2] + b"!" + LARGE[END // 2 + 1 :]
MIDDLE = END // 2
PIECE = 3 * 2**16

# Where each read begins and ends
SPLITS: dict[str, Sequence[tuple[int, int]]] = {
    "at once": [(0, END)],
    "overlapping": [(0, MIDDLE + 9), (MIDDLE - 9, END)],
    "the begin again": [(0, MIDDLE), (0, MIDDLE), (0, END)],
    "equal pieces": [(start, min(start + PIECE, END)) for start in range(0, END, PIECE)],
    "the last byte alone": [(0, END - 1), (END - 1, END)],
    "a look at the end first": [(END - 8, END), (0, MIDDLE), (MIDDLE, END)],
    "back and forth": [(0, 5), (MIDDLE, MIDDLE + 5), (5, MIDDLE), (2, MIDDLE + 3), (MIDDLE, END)],
    "beyond the end": [(0, MIDDLE), (MIDDLE - 1, END + 9)],
}
# Splits that leave out bytes, so that the checksum cannot be verified
GAPS: dict[str, Sequence[tuple[int, int]]] = {
    "a byte left out": [(0, 5), (6, END)],
    "not to the end": [(0, END - 1)],
    "nothing": [(5, 5), (END, END + 9)],
}


def read(file: Any, split: Sequence[tuple[int, int]]) -> list[bytes]:
    pieces = []
    for start, end in split:
        file.seek(start)
        pieces.append(file.read(end - start))
    return pieces


@pytest.fixture(autouse=True)
def _small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the limits, so that fewer bytes reach them."""
    monkeypatch.setattr(_web, "WHOLE", KEPT)
    monkeypatch.setattr(_filesystem, "WHOLE", KEPT)
    monkeypatch.setattr(_web, "MAX_SIZE", MOST)


def test_a_file_is_received_whole_up_to_the_size_that_the_manual_states() -> None:
    manual = (ROOT / "docs/howto/datasets.rst").read_text()
    promise = f"Files up to {WHOLE // MIB} MiB, or of unknown size, are received whole"
    assert promise in manual, f"the manual does not say: {promise}"


@pytest.mark.parametrize(("size", "ranges"), [(KEPT, 0), (KEPT + 1, 1)])
def test_a_file_up_to_the_limit_is_received_whole_and_of_a_longer_one_a_range(
    start: Start, size: int, ranges: int
) -> None:
    shelf = start("inveniordm", files={"x": bytes(size)})

    with shelf.fs().open(shelf.address("x"), cache_type="none") as file:
        assert file.read(1) == b"\0"

    asked = [one.headers["range"] for one in shelf.server.seen if "range" in one.headers]
    exactly(ranges, "ranges", asked)


@pytest.fixture
def large(start: Start) -> Shelf:
    return start("inveniordm", files={"large.bin": LARGE, NOTES: FILES[NOTES]})


@pytest.mark.parametrize("split", [*SPLITS, *GAPS])
def test_reads_return_the_bytes_that_are_there_and_a_change_is_noticed_at_the_end(
    large: Shelf, split: str
) -> None:
    """Whatever was verified when the file was open before."""
    fs = large.fs()
    name = large.address("large.bin")
    ranges = {**SPLITS, **GAPS}[split]
    with fs.open(name, cache_type="readahead", block_size=5 * 2**16) as file:
        assert read(file, ranges) == [LARGE[start:end] for start, end in ranges]
    with fs.open(name, cache_type="none") as file:
        for _ in range(2):
            assert read(file, ranges) == [LARGE[start:end] for start, end in ranges]
    large.repository.files = {"large.bin": CHANGED}
    with fs.open(name, cache_type="none") as file:
        if split in GAPS:
            assert read(file, ranges) == [CHANGED[start:end] for start, end in ranges]
            return
        with pytest.raises(
            OSError, match=r"large\.bin: .* sent bytes with the checksum md5:.*, expected"
        ):
            read(file, ranges)


@pytest.mark.parametrize("kind", ["inveniordm", "figshare", "dataverse"])
def test_only_the_ranges_that_are_read_are_received(start: Start, kind: str) -> None:
    shelf = start(kind, files={"large.bin": LARGE})
    with shelf.fs().open(shelf.address("large.bin"), cache_type="none") as file:
        read(file, [(500_000, 500_100), (END - 10, END)])
    ranges = [asked.headers["range"] for asked in shelf.server.seen if "range" in asked.headers]
    assert ranges == ["bytes=500000-500099", f"bytes={END - 10}-{END - 1}"]


@pytest.mark.parametrize(
    "said", [None, "", f"bytes 0-9/{END + 1}", f"bytes 1-10/{END}", "bytes 0-9/*"]
)
def test_without_the_right_ranges_the_whole_file_is_received_once(
    large: Shelf, said: str | None
) -> None:
    def content(asked: Asked) -> Answer:
        if said is None or "range" not in asked.headers:
            return Answer(200, {}, LARGE)
        return Answer(206, {"Content-Range": said}, b"0123456789")

    large.repository.answers[CONTENT] = content
    with large.fs().open(large.address("large.bin"), cache_type="none") as file:
        assert read(file, [(0, 10), (MIDDLE, END), (3, 8)]) == [
            LARGE[:10],
            LARGE[MIDDLE:],
            LARGE[3:8],
        ]
    assert sum("/large.bin/content" in asked.target for asked in large.server.seen) == 2


@pytest.mark.parametrize("body", [b"", b"0123", LARGE[:11]], ids=len)
def test_a_range_of_another_length_is_an_error(large: Shelf, body: bytes) -> None:
    large.repository.answers[CONTENT] = Answer(206, {"Content-Range": f"bytes 0-9/{END}"}, body)
    opened = large.fs().open(large.address("large.bin"), cache_type="none")
    with (
        opened,
        pytest.raises(OSError, match=rf"large\.bin: {large.host} sent {len(body)} of 10 bytes"),
    ):
        opened.read(10)


def get(fs: Any, address: str, folder: Path) -> bytes:
    fs.get(address, str(folder / "copy"))
    return (folder / "copy").read_bytes()


def read_all(fs: Any, address: str, _folder: Path) -> bytes:
    with fs.open(address) as file:
        return bytes(file.read())


def copy_out(fs: Any, address: str, _folder: Path) -> bytes:
    out = io.BytesIO()
    try:
        fs.get_file(address, out)
    except OSError:
        assert not out.getvalue(), "unverified bytes were written"
        raise
    return out.getvalue()


WAYS: dict[str, Callable[[Any, str, Path], bytes]] = {
    "open": read_all,
    "cat": lambda fs, address, _: fs.cat_file(address),
    "get": get,
    "an open file": copy_out,
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_received_whole_is_verified_in_every_way(
    large: Shelf, tmp_path: Path, way: str
) -> None:
    fs = large.fs()
    name = large.address("large.bin")
    for _ in range(2):
        assert WAYS[way](fs, name, tmp_path) == LARGE
    large.repository.files = {"large.bin": CHANGED}
    with pytest.raises(OSError, match="expected md5"):
        WAYS[way](fs, name, tmp_path)
    assert all(path.read_bytes() == LARGE for path in tmp_path.iterdir()), "the older copy is gone"


@pytest.mark.parametrize("way", WAYS)
def test_without_checksums_a_table_whose_checksum_is_that_of_another_form_opens_with_a_warning(
    start: Start, tmp_path: Path, way: str
) -> None:
    """Its size has to be right, so that nothing is cut off."""
    table = b"day,depth\n1,20\n"
    entry = repositories.dataverse_entry(70, "table.csv", table)
    entry["dataFile"]["checksum"]["value"] = "0" * 32
    listing = {"data": {"versionNumber": 1, "versionMinorNumber": 0, "files": [entry]}}
    answers = {"latest-published": as_json(listing)}
    shelf = start("dataverse", files={"table.csv": table}, answers=answers)
    address = shelf.address("table.csv")

    with pytest.raises(OSError, match="expected md5:0"):
        WAYS[way](shelf.fs(), address, tmp_path)
    fs = shelf.fs(checksums=False)
    with pytest.warns(UserWarning, match=rf"^table\.csv: {shelf.host} sent .* expected md5:0"):
        assert WAYS[way](fs, address, tmp_path) == table
    shelf.repository.files = {"table.csv": table[:-1]}
    with pytest.raises(OSError, match="sent 14 bytes, expected 15"):
        WAYS[way](fs, address, tmp_path)


@pytest.mark.parametrize("way", WAYS)
def test_without_checksums_a_large_file_that_changed_is_read_with_a_warning(
    large: Shelf, tmp_path: Path, way: str
) -> None:
    fs = large.fs(checksums=False)
    fs.info(large.address("large.bin"))
    large.repository.files = {"large.bin": CHANGED}
    with pytest.warns(UserWarning, match=r"^large\.bin: .* opened without proof$"):
        assert WAYS[way](fs, large.address("large.bin"), tmp_path) == CHANGED


# What a server makes of the bytes of a file if it says that it compressed them
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "compressed": gzip.compress,
    "stored": lambda body: gzip.compress(body, 0),
    "in two members": lambda body: gzip.compress(body[:5]) + gzip.compress(body[5:]),
    "not at all": lambda body: body,
}
BODIES = {
    "text": FILES[NOTES],
    "an archive": gzip.compress(FILES[NOTES]),
    "random": random.Random(1).randbytes(300_000),
    "almost a chunk": random.Random(2).randbytes(2**18 - 4),  # compressed, it is more than one
    "nothing": b"",
}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("body", BODIES)
def test_a_file_is_the_same_whether_it_was_compressed_on_its_way_or_not(
    start: Start, tmp_path: Path, body: str, packed: str
) -> None:
    """An archive is not unpacked, even if the server labels it as compressed."""
    content = PACKED[packed](BODIES[body])
    shelf = start(
        "inveniordm",
        files={"x": BODIES[body]},
        answers={CONTENT: Answer(200, {"Content-Encoding": "gzip"}, content)},
    )
    fs = shelf.fs()
    for way in WAYS.values():
        assert way(fs, shelf.address("x"), tmp_path) == BODIES[body]
    assert {asked.headers["accept-encoding"] for asked in shelf.server.seen} == {"identity"}


BOMB = gzip.compress(bytes(20 * MIB))
# What is sent as gzip, and what is said of it
NOT_THE_FILE: dict[str, tuple[str, bytes]] = {
    "other bytes": ("gzip", gzip.compress(b"other bytes of the")),
    "more bytes": ("gzip", BOMB),
    "twice": ("gzip", gzip.compress(gzip.compress(FILES[NOTES]))),
    "two layers": ("gzip, gzip", gzip.compress(gzip.compress(FILES[NOTES]))),
    "cut off": ("gzip", gzip.compress(FILES[NOTES])[:-9]),
    "another encoding": ("br", gzip.compress(FILES[NOTES])),
    "no gzip": ("gzip", b"x" * 40),
}


@pytest.mark.parametrize("sent", NOT_THE_FILE)
def test_what_is_compressed_and_not_the_file_is_an_error(
    start: Start, tmp_path: Path, sent: str
) -> None:
    encoding, content = NOT_THE_FILE[sent]
    answers = {CONTENT: Answer(200, {"Content-Encoding": encoding}, content)}
    shelf = start("inveniordm", answers=answers)
    fs = shelf.fs()
    for way in WAYS.values():
        with pytest.raises(OSError, match=rf"notes\.txt: {shelf.host} sent .*, expected 19"):
            way(fs, shelf.address(NOTES), tmp_path)
    assert not [*tmp_path.iterdir()]


def test_no_more_is_unpacked_than_the_listing_says(start: Start) -> None:
    size = 100_000
    entry = {"key": "x", "size": size, "checksum": "md5:" + "0" * 32}
    answer = Answer(200, {"Content-Encoding": "gzip"}, BOMB)
    shelf = start("inveniordm", answers={**invenio_files(entry), CONTENT: answer})
    fs = shelf.fs()
    fs.info(shelf.address("x"))

    tracemalloc.start()
    try:
        with pytest.raises(OSError, match=f"sent {len(BOMB):,} bytes, expected 100,000"):
            fs.cat_file(shelf.address("x"))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert most < 16 * MIB, "the whole of it was unpacked"


FRAMINGS = ["Transfer-Encoding: chunked", "Connection: close"]
ENDLESS = 48 * MIB  # more than a client may take; a socket and its buffers hold much less
# By the size in the listing, if there is one, what is said of an endless body
TOO_LONG: dict[int | str | None, str] = {
    19: "sent more than 19 bytes, expected 19",
    2 * KEPT: "sent more than 2,097,152 bytes, expected 2,097,152",
    None: "sent more than 4,194,304 bytes without saying how many there are",
    "redirect": "redirected to 'ftp://x/', which is not an http or https URL",
}


@pytest.mark.parametrize(("way", "framing"), [*zip(WAYS, FRAMINGS * 2, strict=True)])
@pytest.mark.parametrize("size", TOO_LONG, ids=str)
def test_a_body_that_never_ends_is_left_at_a_bound(
    leading_to: Callable[..., DOIFileSystem],
    tmp_path: Path,
    size: int | str | None,
    way: str,
    framing: str,
) -> None:
    """However it is read, no more travels than what was asked for, and no copy is left."""
    sent = [0]
    listing = Repository("inveniordm", files={NOTES: b"x"})
    piece = b"%x\r\n%s\r\n" % (MIB, b"x" * MIB) if "chunked" in framing else b"x" * MIB

    def answer(_server: faults.Server, connection: Any, request: bytes) -> None:
        target = request.split(b" ")[1].decode()
        if not target.endswith("/content"):
            body = listing(Asked("GET", target, {})).body
            stated = b'"size": %d,' % size if isinstance(size, int) else b""
            body = body.replace(b'"size": 1,', stated)
            connection.sendall(faults.reply("200 OK", body))
            return
        status = "302 Found\r\nLocation: ftp://x/" if size == "redirect" else "200 OK"
        connection.sendall(f"HTTP/1.1 {status}\r\n{framing}\r\n\r\n".encode())
        while sent[0] < ENDLESS:
            connection.sendall(piece)
            sent[0] += MIB

    with faults.serving(answer) as server:
        fs = leading_to(f"{server.url}/records/4924875", private=True)
        with pytest.raises(OSError, match=TOO_LONG[size]):
            WAYS[way](fs, f"doi://{DOIS['inveniordm']}/{NOTES}", tmp_path)
        assert not [*tmp_path.iterdir()]
        assert sent[0] < ENDLESS, "all was received"


@pytest.mark.parametrize("length", [MOST + 1, 0])
def test_a_file_of_no_listed_size_may_be_as_long_as_its_answer_says(
    start: Start, tmp_path: Path, length: int
) -> None:
    answers = {**invenio_files({"key": NOTES}), CONTENT: Answer(200, {}, b"x" * length)}
    shelf = start("inveniordm", answers=answers)
    shelf.fs().get(shelf.address(NOTES), str(tmp_path / "copy"))
    assert (tmp_path / "copy").stat().st_size == length
    with shelf.fs().open(shelf.address(NOTES)) as file:
        assert file.seek(0, io.SEEK_END) == length


def test_a_fork_while_a_thread_lists_shares_neither_locks_nor_connections(large: Shelf) -> None:
    """Parent and child each have connections of their own; the server has one thread for each."""
    fs = large.fs()
    listing = threading.Event()
    go_on = threading.Event()
    threads = []

    def content(asked: Asked) -> Answer:
        threads.append(threading.get_ident())
        return Repository("inveniordm", large.repository.files)(asked)

    def wait_once(asked: Asked) -> Answer:
        del large.repository.answers["/files$"]
        listing.set()
        assert go_on.wait(60)
        return large.repository(asked)

    def read_on() -> None:
        assert file.read(5) == LARGE[5:10]
        assert fs.cat_file(large.address(NOTES)) == FILES[NOTES]

    large.repository.answers[CONTENT] = content
    with (
        fs.open(large.address("large.bin"), cache_type="none") as file,
        ThreadPoolExecutor() as pool,
    ):
        assert file.read(5) == LARGE[:5]
        fs.invalidate_cache()
        large.repository.answers["/files$"] = wait_once
        listed = pool.submit(fs.ls, large.address(), detail=False)
        assert listing.wait(60)
        status = in_child(read_on)
        go_on.set()
        assert status == 0
        assert len(listed.result()) == 2
        read_on()
    before, *child, after, last = threads
    assert before == after == last
    assert before not in child
