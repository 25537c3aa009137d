"""What each repository does in its own way."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import pytest
from support.servers.repositories import (
    DOIS,
    FILES,
    KINDS,
    NOTES,
    TAB,
    TABLE,
    Repository,
    as_json,
    error,
    md5,
)
from support.servers.web import Answer, Asked
from support.shelf import Shelf, Start

CONCEPT = "10.5281/zenodo.4924874"
ODD = {
    "a b#c?d%e%20f&g+h=i;j.txt": b"odd",
    "ü/[*]~'().txt": b"marks",
    "x::y.txt": b"colons",
    " a\xa0b ": b"blanks",
}


@pytest.mark.parametrize("kind", ["inveniordm", "figshare"])
@pytest.mark.parametrize("name", ODD)
def test_names_with_any_character_open_again(start: Start, kind: str, name: str) -> None:
    shelf = start(kind, files=ODD)
    fs = shelf.fs()
    contents = [fs.cat_file(f"doi://{address}") for address in fs.find(shelf.address())]
    assert sorted(contents) == sorted(ODD.values())
    assert fs.cat_file(shelf.address(name)) == ODD[name]
    assert fs.glob(shelf.address(name)) == [shelf.address(name).removeprefix("doi://")]


def test_a_concept_is_its_latest_version(start: Start) -> None:
    shelf = start("inveniordm", records={CONCEPT: "/records/4924874"})
    fs = shelf.fs()
    assert fs.info(shelf.address(NOTES, CONCEPT))["version"] == DOIS["inveniordm"]
    assert fs.cat_file(shelf.address(NOTES, CONCEPT)) == FILES[NOTES]
    assert sum("4924874" in asked.target for asked in shelf.server.seen) == 1


@pytest.mark.parametrize("landing", ["/record/4924875", "/records/4924875", "/doi/10.5281/zenodo.4924875"])
def test_each_landing_page_of_inveniordm_leads_to_the_record(start: Start, landing: str) -> None:
    shelf = start("inveniordm", records={DOIS["inveniordm"]: landing})
    assert shelf.fs().cat_file(shelf.address(NOTES)) == FILES[NOTES]


def test_the_record_has_to_be_that_of_the_doi(start: Start) -> None:
    shelf = start("inveniordm", records={"10.5281/zenodo.1": "/records/4924875"})
    with pytest.raises(OSError, match=r"10\.5281/zenodo\.1: .* is that of 10\.5281/zenodo\.4924875"):
        shelf.fs().ls(shelf.address("", "10.5281/zenodo.1"))


def test_the_legacy_json_of_zenodo_is_read_too(start: Start) -> None:
    legacy = {"id": 4924875, "doi": DOIS["inveniordm"], "conceptdoi": CONCEPT, "files": []}
    shelf = start("inveniordm", answers={r"/records/4924875$": as_json(legacy)})
    assert shelf.fs().cat_file(shelf.address(NOTES)) == FILES[NOTES]


def test_hidden_and_unfinished_files_cannot_be_opened(start: Start) -> None:
    entry = {"size": 3, "checksum": md5(b"abc", "md5:"), "status": "completed"}
    entries = [
        {"key": "seen", **entry},
        {"key": "hidden", **entry, "access": {"hidden": True}},
        {"key": "pending", **entry, "status": "pending"},
    ]
    listing = as_json({"enabled": True, "entries": entries})
    shelf = start("inveniordm", answers={"/files$": listing, "/seen/": Answer(200, {}, b"abc")})
    fs = shelf.fs()
    names = [name.rpartition("/")[2] for name in fs.find(shelf.address())]
    assert names == ["pending", "seen"]
    with pytest.raises(OSError, match="upload is pending"):
        fs.open(shelf.address("pending"))


def test_a_record_without_files_is_an_empty_folder(start: Start) -> None:
    shelf = start("inveniordm", answers={"/files$": as_json({"enabled": False, "links": {}})})
    assert shelf.fs().ls(shelf.address()) == []


@pytest.mark.parametrize(
    ("doi", "landing"),
    [
        ("10.6084/m9.figshare.14763051", "/articles/dataset/Tables/14763051"),
        ("10.6084/m9.figshare.14763051.v1", "/articles/Tables/14763051"),
        ("10.6084/M9.FIGSHARE.14763051.V1", "/articles/dataset/Tables/14763051/1"),
    ],
)
def test_an_article_is_found_by_its_doi_or_its_url(start: Start, doi: str, landing: str) -> None:
    shelf = start("figshare", records={doi.lower(): landing})
    assert shelf.fs().cat_file(shelf.address(NOTES, doi)) == FILES[NOTES]
    version = "/versions/1" if doi.lower().endswith(".v1") else ""
    assert f"/v2/articles/14763051{version}" in [asked.target for asked in shelf.server.seen]


def test_all_pages_of_an_article_are_read(start: Start) -> None:
    files = {f"{number:05}.txt": b"%d" % number for number in range(10_000)}
    shelf = start("figshare", files=files)
    fs = shelf.fs()
    assert len(fs.find(shelf.address())) == 10_000
    assert len(shelf.server.seen) <= 15
    assert fs.cat_file(shelf.address("09999.txt")) == b"9999"


def test_a_link_names_where_it_leads(start: Start) -> None:
    link = {
        "id": 1,
        "name": "far.zip",
        "size": 0,
        "is_link_only": True,
        "download_url": "https://far.example/z",
    }
    article = {"id": 14763051, "doi": DOIS["figshare"], "files": [{**link, "computed_md5": ""}]}
    shelf = start("figshare", answers={"/versions/1$": as_json(article)})
    fs = shelf.fs()
    assert len(fs.find(shelf.address())) == 1
    with pytest.raises(OSError, match=r"https://far\.example/z"):
        fs.open(shelf.address("far.zip"))


def test_files_of_one_name_are_all_listed(start: Start) -> None:
    files = [{"id": n, "name": "a", "size": 1, "computed_md5": md5(b"x")} for n in (1, 2)]
    files += [{"id": n, "name": "a.csv", "size": 1, "computed_md5": md5(b"x")} for n in (3, 4)]
    article = {"id": 14763051, "doi": DOIS["figshare"], "files": files}
    article["folder_structure"] = {str(n): "v1.0" for n in range(1, 5)}
    shelf = start("figshare", answers={"/versions/1$": as_json(article)})
    names = [name.rpartition("/")[2] for name in shelf.fs().find(shelf.address())]
    assert names == ["a", "a%20%282%29", "a%20%284%29.csv", "a.csv"]


COLLECTION = "10.6084/m9.figshare.c.4362224.v1"


@pytest.fixture
def collection(start: Start) -> Shelf:
    light = {"id": 4362224, "doi": COLLECTION}
    answers: dict[str, Any] = {
        r"^/v2/collections\?doi=": as_json([light]),
        "^/v2/collections/4362224/versions/1$": as_json(light),
        r"^/v2/collections/4362224/articles\?": as_json([{"id": 14763051, "doi": DOIS["figshare"]}]),
    }
    records = {COLLECTION: "/collections/All_tables/4362224/1"}
    return start("figshare", answers=answers, records=records)


def test_a_collection_has_a_folder_for_each_article(collection: Shelf) -> None:
    fs, root = collection.fs(), collection.address("", COLLECTION)
    assert fs.ls(root, detail=False) == [f"{COLLECTION}/14763051"]
    assert not any("articles/14763051" in asked.target for asked in collection.server.seen)
    assert len(fs.find(root)) == 2
    assert fs.info(f"{root}/14763051/{NOTES}")["version"] == DOIS["figshare"]
    assert fs.cat_file(f"{root}/14763051/{NOTES}") == FILES[NOTES]


def test_a_table_is_listed_as_it_was_uploaded_and_opens_under_both_names(start: Start) -> None:
    shelf = start("dataverse")
    fs = shelf.fs()
    assert not any(name.endswith(".tab") for name in fs.find(shelf.address()))
    assert fs.cat_file(shelf.address(TAB)) == fs.cat_file(shelf.address(TABLE)) == FILES[TABLE]
    assert fs.info(shelf.address(TAB))["size"] == len(FILES[TABLE])


@pytest.mark.parametrize("landing", ["file.xhtml", "citation"])
def test_the_doi_of_a_file_is_a_folder_with_that_file(start: Start, landing: str) -> None:
    doi = f"{DOIS['dataverse']}/F71"
    shelf = start("dataverse", records={doi: f"/{landing}?persistentId=doi:{doi}"})
    fs = shelf.fs()
    assert fs.find(shelf.address("", doi)) == [f"{doi}/{NOTES}"]
    assert fs.info(shelf.address(NOTES, doi))["version"] == "1.0"
    assert fs.cat_file(shelf.address(NOTES, doi)) == FILES[NOTES]


def test_the_longer_name_is_found_although_the_cache_knows_the_shorter(start: Start) -> None:
    doi = f"{DOIS['dataverse']}/F71"
    shelf = start("dataverse", records={doi: f"/file.xhtml?persistentId=doi:{doi}"})
    shelf.fs().info(shelf.address(NOTES))
    assert shelf.fs().cat_file(shelf.address(NOTES, doi)) == FILES[NOTES]


def test_an_original_with_the_name_of_another_file_keeps_that_of_its_table(start: Start) -> None:
    def listing(asked: Asked) -> Answer:
        repository = Repository("dataverse", files={"a.csv": b"1"})
        first = repository._dataverse_file(70, "a.csv")
        second = repository._dataverse_file(71, "a.csv")
        second["label"] = "a-1.tab"
        data = {"versionNumber": 2, "versionMinorNumber": 1, "files": [first, second]}
        return as_json({"status": "OK", "data": data})

    shelf = start("dataverse", answers={"latest-published": listing})
    names = shelf.fs().find(shelf.address())
    assert [name.rpartition("/")[2] for name in names] == ["a-1.tab", "a.csv"]


@pytest.mark.parametrize(
    ("checksum", "is_right"),
    [
        ({"type": "SHA-1", "value": "a9993e364706816aba3e25717850c26c9cd0d89d"}, True),
        ({"type": "SHA-256", "value": hashlib.sha256(b"abc").hexdigest()}, True),
        ({"type": "SHA-1", "value": "a9993e364706816aba3e25717850c26c9cd0d89e"}, False),
        ({"type": "MD5", "value": "900150983CD24FB0D6963F7D28E17F72"}, True),
    ],
)
def test_other_checksums_are_proved_too(start: Start, checksum: dict[str, str], is_right: bool) -> None:
    entry = {"label": "x", "dataFile": {"id": 70, "filesize": 3, "checksum": checksum}}
    listing = as_json({"data": {"versionNumber": 1, "versionMinorNumber": 0, "files": [entry]}})
    shelf = start("dataverse", answers={"latest-published": listing, "datafile": Answer(200, {}, b"abc")})
    if is_right:
        assert shelf.fs().cat_file(shelf.address("x")) == b"abc"
        return
    with pytest.raises(OSError, match="expected sha1:a9993e364706816aba3e25717850c26c9cd0d89e"):
        shelf.fs().cat_file(shelf.address("x"))


def test_another_repository_is_an_error_with_its_host_and_page(start: Start) -> None:
    shelf = start("inveniordm")
    fs = shelf.fs(repositories=None)
    page = re.escape(f"{shelf.server.url}/records/4924875")
    with pytest.raises(OSError, match=rf"127\.0\.0\.1.*repositories=.*landing page is {page}"):
        fs.ls(shelf.address())


@pytest.mark.parametrize("kind", KINDS)
def test_a_data_set_that_the_repository_lacks_is_an_error_not_a_missing_file(start: Start, kind: str) -> None:
    shelf = start(kind, answers={".": error(404, "Not found.")})
    with pytest.raises(OSError, match=rf"{shelf.host} (answered 404|has no article)") as caught:
        shelf.fs().exists(shelf.address(NOTES))
    assert not isinstance(caught.value, FileNotFoundError)


def test_the_repository_is_recognized_by_the_landing_page() -> None:
    from doiuri import DOI
    from fsspec_doiuri._repositories import find_place

    for doi, landing, expected in [
        ("10.5281/zenodo.1", "https://zenodo.org/records/1", ("inveniordm", "https://zenodo.org/api")),
        (
            "10.5281/zenodo.1",
            "http://zenodo.org/doi/10.5281/zenodo.1",
            ("inveniordm", "https://zenodo.org/api"),
        ),
        (
            "10.22002/4rgh7-zss31",
            "https://d.example/records/4rgh7-zss31",
            ("inveniordm", "https://d.example/api"),
        ),
        (
            "10.1184/R1/1",
            "https://k.example/articles/dataset/T/1",
            ("figshare", "https://api.figshare.com/v2"),
        ),
        (
            "10.6084/m9.figshare.c.1",
            "https://figshare.com/collections/T/1",
            ("figshare", "https://api.figshare.com/v2"),
        ),
        (
            "10.1000/x",
            "http://d.example/dataset.xhtml?persistentId=doi:10.1000/x",
            ("dataverse", "https://d.example/api"),
        ),
    ]:
        place = find_place(DOI(doi), landing, {})
        assert tuple(place) == (*expected, landing)
    for landing in (
        "https://osf.io/abc",
        "https://b.example/records/1",
        "https://zenodo.org.evil.example/records/1",
    ):
        with pytest.raises(OSError, match="not known as a repository"):
            find_place(DOI("10.1000/x"), landing, {})


def test_an_article_without_a_number_is_named(start: Start) -> None:
    shelf = start("figshare", records={"10.6084/m9.figshare.1": "/account/home"})
    with pytest.raises(OSError, match=rf"{shelf.host} has no article with this DOI"):
        shelf.fs().ls(shelf.address("", "10.6084/m9.figshare.1"))
