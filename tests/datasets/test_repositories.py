"""What each repository does in its own way."""

from __future__ import annotations

import copy
import hashlib
from pathlib import Path
from typing import Any

import pytest
from fsspec_doiuri import lock
from support.servers import repositories
from support.servers.repositories import (
    DOIS,
    FILES,
    NOTES,
    TABLE,
    Shelf,
    Start,
    as_json,
    error,
    md5,
)
from support.servers.web import Answer, record

CONCEPT = "10.5281/zenodo.4924874"
FILE = f"{DOIS['dataverse']}/F71"
TAB = TABLE.replace(
    ".csv", ".tab"
)  # the name under which Dataverse keeps the table after it has read it
TABLE_ESCAPED = "t%C3%A4glich%20100%25.csv"
ODD = {
    "a b#c?d%e%20f&g+h=i;j.txt": b"odd",
    "ü/[*]~'().txt": b"marks",
    "x::y.txt": b"colons",
    " a\xa0b ": b"blanks",
    "%FF.txt": b"no UTF-8",
}


def listed(shelf: Shelf) -> list[str]:
    """The names of all files."""
    return [name.rpartition("/")[2] for name in shelf.fs().find(shelf.address())]


@pytest.mark.parametrize("kind", ["inveniordm", "figshare"])
def test_names_with_any_character_open_again(start: Start, kind: str) -> None:
    shelf = start(kind, files=ODD)
    fs = shelf.fs()
    contents = [fs.cat_file(f"doi://{address}") for address in fs.find(shelf.address())]
    assert sorted(contents) == sorted(ODD.values())
    for name, body in ODD.items():
        assert fs.cat_file(shelf.address(name)) == body
        assert fs.cat_file(fs.unstrip_protocol(shelf.address(name))) == body
        assert fs.glob(shelf.address(name)) == [shelf.address(name).removeprefix("doi://")]
    assert fs.cat_file(f"{shelf.address()}/%FF.txt") == ODD["%FF.txt"]


@pytest.mark.parametrize(
    "landing", ["/record/4924875", "/records/4924875", "/doi/10.5281/zenodo.4924875"]
)
def test_each_landing_page_of_inveniordm_leads_to_the_record(start: Start, landing: str) -> None:
    """Also with Zenodo's legacy JSON."""
    legacy = {"id": 4924875, "doi": DOIS["inveniordm"], "conceptdoi": CONCEPT, "files": []}
    for answers in {}, {r"/records/4924875$": as_json(legacy)}:
        shelf = start("inveniordm", records={DOIS["inveniordm"]: landing}, answers=answers)
        assert shelf.fs().cat_file(shelf.address(NOTES)) == FILES[NOTES], answers


def test_hidden_and_unfinished_files_cannot_be_opened(start: Start) -> None:
    entry = {"size": 3.0, "checksum": md5(b"abc", "MD5:"), "status": "completed"}
    answers = repositories.invenio_files(
        {"key": "seen", **entry},
        {"key": "hidden", **entry, "access": {"hidden": True}},
        {"key": "pending", **entry, "status": "pending"},
    )
    shelf = start("inveniordm", answers={**answers, "/seen/": Answer(200, {}, b"abc")})
    assert listed(shelf) == ["pending", "seen"]
    assert shelf.fs().cat_file(shelf.address("seen")) == b"abc"
    assert shelf.fs().info(shelf.address("seen"))["size"] == 3
    with pytest.raises(OSError, match="upload is pending"):
        shelf.fs().open(shelf.address("pending"))


def test_a_record_without_files_is_an_empty_folder(start: Start) -> None:
    shelf = start("inveniordm", answers={"/files$": as_json({"enabled": False, "links": {}})})
    assert shelf.fs().ls(shelf.address()) == []


def test_a_file_that_is_a_web_page_is_read(start: Start) -> None:
    page = Answer(200, {"Content-Type": "text/html"}, b"<html>")
    shelf = start("inveniordm", files={"index.HTM": page.body}, answers={"/content": page})
    assert shelf.fs().cat_file(shelf.address("index.HTM")) == page.body


@pytest.mark.parametrize(
    ("doi", "landing"),
    [
        ("10.6084/m9.figshare.14763051", "/articles/dataset/Tables/14763051"),
        ("10.6084/M9.FIGSHARE.14763051.V1", "/articles/Tables/14763051"),
    ],
)
def test_an_article_is_found_by_its_doi_or_its_url(start: Start, doi: str, landing: str) -> None:
    shelf = start("figshare", records={doi.lower(): landing})
    assert shelf.fs().cat_file(shelf.address(NOTES, doi)) == FILES[NOTES]
    version = "/versions/1" if doi.lower().endswith(".v1") else ""
    assert f"/v2/articles/14763051{version}" in [asked.target for asked in shelf.server.seen]


def test_the_listing_has_to_be_that_of_the_doi(start: Start) -> None:
    shelf = start("inveniordm", records={"10.5281/zenodo.1": "/records/4924875"})
    with pytest.raises(
        OSError, match=r"10\.5281/zenodo\.1: .* is that of 10\.5281/zenodo\.4924875"
    ):
        shelf.fs().ls(shelf.address("", "10.5281/zenodo.1"))
    shelf = start("figshare", records={"10.6084/m9.figshare.1": "/account/home"})
    with pytest.raises(OSError, match=rf"{shelf.host} has no article with this DOI"):
        shelf.fs().ls(shelf.address("", "10.6084/m9.figshare.1"))


@pytest.mark.parametrize("count", [9, 10, 11, 3000])
def test_all_pages_of_an_article_are_read(start: Start, count: int) -> None:
    shelf = start("figshare", files={f"{number:04}.txt": b"%d" % number for number in range(count)})
    assert len(listed(shelf)) == count
    assert len(shelf.server.seen) <= 3 + count // 1000
    last = f"{count - 1:04}.txt"
    assert shelf.fs().cat_file(shelf.address(last)) == b"%d" % (count - 1)


def test_a_link_names_where_it_leads_and_files_of_one_name_are_all_listed(start: Start) -> None:
    far = {"is_link_only": True, "download_url": "https://far.example/z", "computed_md5": ""}
    files: list[dict[str, Any]] = [{"id": 0, "name": "far.zip", "size": 0, **far}]
    for number, name in enumerate(["a", "a", "a.csv", "a.csv"], 1):
        files.append({"id": number, "name": name, "size": 1, "computed_md5": md5(b"x")})
    folders = {str(number): "v1.0" for number in range(5)}
    article = {"id": 14763051, "doi": DOIS["figshare"], "files": files, "folder_structure": folders}
    shelf = start("figshare", answers={"/versions/1$": as_json(article)})
    assert listed(shelf) == ["a", "a%20%282%29", "a%20%284%29.csv", "a.csv", "far.zip"]
    with pytest.raises(OSError, match=r"https://far\.example/z"):
        shelf.fs().open(shelf.address("v1.0/far.zip"))


@pytest.mark.parametrize("member", ["computed_md5", "supplied_md5"])
def test_the_checksum_that_figshare_states_is_verified(start: Start, member: str) -> None:
    files = [{"id": 1, "name": "x", "size": 1, member: "0" * 32}]
    article = {"id": 14763051, "doi": DOIS["figshare"], "files": files}
    answers = {"/versions/1$": as_json(article), "/file/download/1$": Answer(200, {}, b"x")}
    shelf = start("figshare", answers=answers)
    with pytest.raises(OSError, match="expected md5:0"):
        shelf.fs().cat_file(shelf.address("x"))


def test_a_collection_has_a_folder_for_each_article_and_is_locked_whole(
    start: Start, tmp_path: Path
) -> None:
    doi = "10.6084/m9.figshare.c.4362224.v1"
    light = as_json([{"id": 4362224, "doi": doi}])
    member = {"id": 14763051, "doi": DOIS["figshare"]}
    answers = {
        r"^/v2/collections\?doi=": light,
        "^/v2/collections/4362224/versions/1$": as_json({"id": 4362224, "doi": doi}),
        r"^/v2/collections/4362224/articles\?": as_json([member, {"id": 2}]),
        "^/v2/articles/14763051$": error(500, "a newer version"),
        "^/v2/articles/2$": as_json(
            {"id": 2, "doi": "10.6084/2", "files": [{"id": 1, "name": "x"}]}
        ),
    }
    shelf = start("figshare", answers=answers, records={doi: "/collections/All_tables/4362224/1"})
    fs = shelf.fs()
    root = shelf.address("", doi)
    assert fs.ls(root, detail=False) == [f"{doi}/14763051", f"{doi}/2"]
    assert not any("articles/14763051" in asked.target for asked in shelf.server.seen)
    folder = f"{doi}/14763051"
    assert fs.find(folder) == [f"{folder}/{NOTES}", f"{folder}/tables/{TABLE_ESCAPED}"]
    assert fs.info(f"{root}/14763051/{NOTES}")["version"] == DOIS["figshare"]
    assert fs.cat_file(f"{root}/14763051/{TABLE}") == FILES[TABLE]
    lock(root, tmp_path / "doi.lock.json", **shelf.options)
    fs = shelf.fs(lock=tmp_path / "doi.lock.json")
    assert fs.info(root)["version"] == doi
    assert fs.cat_file(f"{root}/14763051/{NOTES}") == FILES[NOTES]


def test_a_table_is_listed_as_it_was_uploaded_and_opens_under_both_names(start: Start) -> None:
    shelf = start("dataverse")
    fs = shelf.fs()
    assert not any(name.endswith(".tab") for name in fs.find(shelf.address()))
    assert fs.cat_file(shelf.address(TAB)) == fs.cat_file(shelf.address(TABLE)) == FILES[TABLE]
    assert fs.info(shelf.address(TAB))["size"] == len(FILES[TABLE])


@pytest.mark.parametrize("first", ["", "a listing", "the cache", "its absence"])
@pytest.mark.parametrize("old", [False, True], ids=["file.xhtml", "citation, before Dataverse 6.2"])
def test_the_doi_of_a_file_is_a_folder_with_that_file(start: Start, first: str, old: bool) -> None:
    """Also if a listing or the cache has the data set, whose DOI is shorter, or it was registered later."""
    landing = "citation" if old else "file.xhtml"
    records = {FILE: f"/{landing}?persistentId=doi:{FILE}"}
    if first == "its absence":
        records = {}
    shelf = start("dataverse", records=records)
    entry = repositories.dataverse_entry(71, NOTES, FILES[NOTES])
    if old:
        shelf.repository.answers = {
            "^/api/files/:persistentId/versions/": error(
                404, "API endpoint does not exist on this server."
            ),
            "^/api/files/:persistentId": as_json({"data": entry}),
        }
    fs = shelf.fs()
    if not first:  # the longest registered name counts, whatever the data set has
        shelf.repository.files = {**FILES, f"F71/{NOTES}": b"in a folder"}
    if first == "its absence":
        assert not fs.exists(shelf.address(NOTES, FILE))
        pages = {
            FILE: f"{landing}?persistentId=doi:{FILE}",
            shelf.doi: f"citation?persistentId=doi:{shelf.doi}",
        }
        shelf.proxy.load([record(doi, f"{shelf.server.url}/{page}") for doi, page in pages.items()])
        fs.invalidate_cache()
    elif first:
        (fs if first == "a listing" else shelf.fs()).info(shelf.address(NOTES))
    assert fs.cat_file(shelf.address(NOTES, FILE)) == FILES[NOTES]
    assert fs.find(shelf.address("", FILE)) == [f"{FILE}/{NOTES}"]
    assert fs.info(shelf.address(NOTES, FILE))["version"] == ("" if old else "1.0")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [(["a.tab", "a-1.tab"], ["a-1.tab", "a.csv"]), (["a.tab", "a.csv"], ["a.csv", "a.tab"])],
)
def test_an_original_with_the_name_of_another_file_keeps_that_of_its_table(
    start: Start, labels: list[str], expected: list[str]
) -> None:
    """Of two tables the first has the name; a file that is no table always has its own."""
    entries = [repositories.dataverse_entry(70 + n, "a.csv", b"1") for n in range(2)]
    if "a.csv" in labels:
        entries[1] = repositories.dataverse_entry(71, "a.txt", b"2")
    entries = [{**entry, "label": label} for entry, label in zip(entries, labels, strict=True)]
    data = {"versionNumber": 2, "versionMinorNumber": 1, "files": entries}
    shelf = start(
        "dataverse", answers={"latest-published": as_json({"status": "OK", "data": data})}
    )
    assert listed(shelf) == expected


ENTRIES: dict[str, list[dict[str, Any]]] = {
    "inveniordm": [
        {"key": key, "size": 1, "checksum": md5(b"1", "md5:"), "mimetype": "text/plain"}
        for key in ("a", "b/c")
    ],
    "figshare": [
        {"id": number, "name": "a", "size": 1, "computed_md5": md5(b"1"), "mimetype": "text/plain"}
        for number in range(2)
    ],
    "dataverse": [
        repositories.dataverse_entry(70, "a.csv", b"1"),
        repositories.dataverse_entry(71, "a.csv", b"1") | {"label": "a-1.tab"},
        repositories.dataverse_entry(72, "a.txt", b"1"),
    ],
}
# The members of an entry that a repository may leave out, and what ``info`` then does not say
OPTIONAL = [
    *(("inveniordm", member, member) for member in ("size", "checksum", "mimetype")),
    *(("figshare", member, member) for member in ("size", "mimetype")),
    ("figshare", "computed_md5", "checksum"),
    ("dataverse", "originalFileSize", "size"),
    ("dataverse", "filesize", "size"),
    ("dataverse", "checksum", "checksum"),
    ("dataverse", "contentType", "mimetype"),
    ("dataverse", "originalFileFormat", "mimetype"),
]


def listing_of(kind: str, entries: list[dict[str, Any]]) -> dict[str, Answer]:
    """Return the answer that lists these entries, by the pattern of its address."""
    if kind == "inveniordm":
        return repositories.invenio_files(*entries)
    if kind == "figshare":
        article = {"id": 14763051, "doi": DOIS[kind], "files": entries}
        return {"/versions/1$": as_json(article)}
    data = {"versionNumber": 1, "versionMinorNumber": 0, "files": entries}
    return {"latest-published": as_json({"status": "OK", "data": data})}


@pytest.mark.parametrize("number", [None, 0, 1], ids=["of all", "of the first", "of the second"])
@pytest.mark.parametrize(("kind", "member", "field"), OPTIONAL)
def test_an_optional_member_that_is_left_out_changes_nothing_but_itself(
    start: Start, kind: str, member: str, field: str, number: int | None
) -> None:
    entries = copy.deepcopy(ENTRIES[kind])
    shelf = start(kind, answers=listing_of(kind, entries))
    full = shelf.fs().find(shelf.address(), detail=True)

    shortened = entries if number is None else [entries[number]]
    for entry in shortened:
        entry.get("dataFile", entry).pop(member, None)
    shelf.repository.answers = {**listing_of(kind, entries)}
    short = shelf.fs().find(shelf.address(), detail=True)

    assert [*short] == [*full], f"without {member}"
    for name, info in short.items():
        expected = full[name]
        if info[field] != expected[field]:
            expected = expected | {field: None if field == "size" else ""}
        assert info == expected, f"{name} without {member}"


def test_dataverse_is_asked_in_the_spelling_of_the_landing_page(start: Start) -> None:
    """Before Dataverse 6.5 names are compared with regard to case."""
    shelf = start("dataverse")
    assert shelf.fs().cat_file(shelf.address(NOTES, shelf.doi.lower())) == FILES[NOTES]


SHA1 = "a9993e364706816aba3e25717850c26c9cd0d89d"


@pytest.mark.parametrize(
    ("members", "wrong"),
    [
        ({"checksum": {"type": "SHA-256", "value": hashlib.sha256(b"abc").hexdigest()}}, None),
        ({"checksum": {"type": "SHA-1", "value": f"{SHA1[:-1]}e"}}, f"sha1:{SHA1[:-1]}e"),
        ({"checksum": {"type": "MD5", "value": "900150983CD24FB0D6963F7D28E17F72"}}, None),
        ({"md5": "900150983cd24fb0d6963f7d28e17f73"}, "md5:900150983cd24fb0d6963f7d28e17f73"),
        ({"md5": "", "filesize": 4}, "4"),
        ({"originalFileFormat": "text/csv", "originalFileSize": 0}, None),
        ({"originalFileFormat": "text/csv", "originalFileSize": -1}, None),
    ],
)
def test_every_checksum_and_size_is_proved(
    start: Start, members: dict[str, Any], wrong: str | None
) -> None:
    entry = {"label": "x", "dataFile": {"id": 70, "filesize": 3, **members}}
    listing = as_json({"data": {"versionNumber": 1, "versionMinorNumber": 0, "files": [entry]}})
    shelf = start(
        "dataverse", answers={"latest-published": listing, "datafile": Answer(200, {}, b"abc")}
    )
    if wrong is None:
        assert shelf.fs().cat_file(shelf.address("x")) == b"abc"
        return
    with pytest.raises(OSError, match=f"expected {wrong}"):
        shelf.fs().cat_file(shelf.address("x"))


UNKNOWN_CHECKSUMS = {
    "of an unknown kind": "crc32:352441c2",
    "of tables": "UNF:6:x",
    "without a kind": "900150983cd24fb0d6963f7d28e17f72",
    "without a value": "md5:",
}


@pytest.mark.parametrize("checksum", UNKNOWN_CHECKSUMS.values(), ids=UNKNOWN_CHECKSUMS)
@pytest.mark.parametrize("size", [3, 20 * 2**20], ids=["received whole", "read in ranges"])
def test_a_checksum_that_cannot_be_verified_is_said(start: Start, checksum: str, size: int) -> None:
    body = b"x" * size
    entries = repositories.invenio_files({"key": "x", "size": size, "checksum": checksum})
    shelf = start("inveniordm", files={"x": body}, answers=entries)
    fs = shelf.fs()

    with pytest.warns(UserWarning, match=rf"^x: only its size.*'{checksum}' is of an unknown"):
        opened = fs.open(shelf.address("x"), cache_type="none")

    with opened:
        assert opened.read() == body
