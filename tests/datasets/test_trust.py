"""Errors in place of data that is not the file; tokens for one host; private networks."""

from __future__ import annotations

import gzip
import hashlib
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import requests
from fsspec_doiuri import DOIFileSystem, _dataset, _web
from requests.adapters import HTTPAdapter
from support.ports import refusing
from support.proxy_records import value
from support.servers.httpproxy import http_proxy
from support.servers.repositories import (
    CONTENT,
    FILES,
    NOTES,
    TABLE,
    Repository,
    Shelf,
    Start,
    as_json,
    error,
    invenio_files,
)
from support.servers.rest import handling, proxy
from support.servers.tls import Authority
from support.servers.web import JSON, Answer, Asked, Site, site
from support.targets import PRIVATE_HOSTS, resolve_as
from support.waiting import until

LeadingTo = Callable[..., DOIFileSystem]

HTML = {"Content-Type": "text/html; charset=utf-8"}
NOTE = FILES[NOTES]
DOI = "doi://10.5281/zenodo.4924875"
CUT = {"Content-Length": "19", "Connection": "close"}
ROUND = "/api/access/datafile/1/content/file/download/1"
# What the repository says in place of a file, and what the error says of it
FAULTS: dict[str, tuple[Answer, str]] = {
    "other bytes": (
        Answer(200, {}, NOTE[:-1] + b"!"),
        "notes.txt: HOST sent bytes with the checksum md5:",
    ),
    "fewer bytes": (Answer(200, {}, NOTE[:-1]), "notes.txt: HOST sent 18 bytes, expected 19"),
    "more bytes": (Answer(200, {}, NOTE * 2), "HOST sent more than 19 bytes, expected 19"),
    "cut off": (Answer(200, CUT, NOTE[:4]), "HOST: the answer was cut off"),
    "accepted": (Answer(202, {}, b""), "HOST answered 202"),
    "page": (
        Answer(200, {"Content-Type": "Text/HTML"}, b"<html>"),
        "notes.txt: HOST sent a web page",
    ),
    "XHTML": (
        Answer(200, {"Content-Type": "application/xhtml+xml"}, b"<?xml"),
        "HOST sent a web page",
    ),
    "forbidden": (error(403, "Go away."), "HOST answered 403.*Go away.*token"),
    "unauthorized": (Answer(401), "HOST answered 401.*DOIURI_TOKENS"),
    "guestbook": (
        error(400, "You need a guestbook response."),
        "400.*You need a guestbook response",
    ),
    "unprintable": (error(400, "a\x1b[2J"), "400 Bad Request$"),
    "too many": (Answer(429, {"Retry-After": "7"}), "HOST answered 429.*Retry-After: 7 s"),
    "not found": (Answer(404), "HOST answered 404"),
    "broken": (Answer(500), "HOST answered 500"),
    "circle": (Answer(302, {"Location": ROUND}), "HOST: more than 10 redirects"),
    "other scheme": (Answer(302, {"Location": "file:///etc"}), "HOST: redirected to 'file:///etc'"),
    "user": (
        Answer(302, {"Location": "http://me:pw@127.0.0.1/"}),
        "HOST: redirected to a URL with a user",
    ),
    "no URL": (Answer(302, {"Location": "http://["}), "^notes.txt: "),
    "no UTF-8": (Answer(302, {"Location": "\xff\xfe"}), "^notes.txt: "),
}
NOTE_URL = {
    "inveniordm": "/files/notes.txt",
    "figshare": "/download/3001",
    "dataverse": "/datafile/71",
}
LISTINGS: dict[str, tuple[Answer, str]] = {
    "page": (
        Answer(200, HTML, b"<html>"),
        r"HOST sent text/html; charset=utf-8 in place of a listing",
    ),
    "not JSON": (Answer(200, JSON, b"{"), "in place of a listing in JSON"),
    "another form": (Answer(200, JSON, b'["x"]'), "its form is unexpected"),
    "no object": (Answer(200, JSON, b"7"), "its form is unexpected"),
    "forbidden": (error(403, "Permission denied."), "HOST answered 403.*tokens="),
    "gone": (error(410, "Gone."), "HOST (answered 410|has no article)"),
    "too many": (Answer(429, {"Retry-After": "7"}), "HOST answered 429.*Retry-After: 7 s"),
    "moved": (Answer(302, {"Location": "ftp://127.0.0.1/"}), "not an http or https URL"),
}
# An entry that InvenioRDM lists
ENTRIES: list[tuple[dict[str, Any], str]] = [
    ({"key": 7, "size": 1}, "is refused"),
    ({"size": 1}, "is refused"),
]


# Each kind of repository sends a file in the same way: a few show what it says of its own
OF_EACH_KIND = ("other bytes", "forbidden", "guestbook")


@pytest.mark.parametrize(
    ("shelf", "fault"),
    [*product(["inveniordm"], FAULTS), *product(["figshare", "dataverse"], OF_EACH_KIND)],
    indirect=["shelf"],
)
def test_what_is_not_the_file_is_an_error(shelf: Shelf, fault: str, tmp_path: Path) -> None:
    answer, says = FAULTS[fault]
    shelf.repository.answers[CONTENT] = answer
    fs = shelf.fs()
    old = tmp_path / "old.txt"
    new = tmp_path / "new.txt"
    old.write_text("old")
    for read, *to in (fs.get, str(old)), (fs.get, str(new)), (fs.open,), (fs.cat_file,):
        with pytest.raises(OSError, match=says.replace("HOST", shelf.host)) as caught:
            read(shelf.address(NOTES), *to)
        assert caught.type is not FileNotFoundError, (read, to)
        assert issubclass(caught.type, PermissionError) is (answer.status in {401, 403}), (read, to)
    assert [(file, file.read_text()) for file in tmp_path.iterdir()] == [(old, "old")]
    sent = sum(1 for asked in shelf.server.seen if NOTE_URL[shelf.kind] in asked.target)
    assert sent == 4 or fault == "circle", "repeated"


@pytest.mark.parametrize("fault", LISTINGS)
def test_a_listing_that_cannot_be_used_is_an_error_with_doi_and_host(
    shelf: Shelf, fault: str
) -> None:
    shelf.repository.answers["."], says = LISTINGS[fault]
    fs = shelf.fs()
    says = f"{shelf.doi}.*{says}".replace("HOST", shelf.host)
    for ask in fs.exists, fs.find:
        shelf.server.seen.clear()
        with pytest.raises(OSError, match=says) as caught:
            ask(shelf.address(NOTES))
        assert caught.type is not FileNotFoundError, ask
        asked = 3 if fault == "gone" and shelf.kind == "dataverse" else 1
        assert len(shelf.server.seen) == asked, "repeated"


@pytest.mark.parametrize(("listed", "says"), ENTRIES, ids=repr)
def test_a_listing_of_another_form_is_refused_whole(
    start: Start, listed: dict[str, Any], says: str
) -> None:
    shelf = start("inveniordm", answers=invenio_files(listed))
    with pytest.raises(OSError, match=rf"the listing of .*{re.escape(says)}"):
        shelf.fs().ls(shelf.address())


@pytest.mark.parametrize("count", [4, 5, 6])
def test_a_listing_has_no_more_files_than_the_limit(
    start: Start, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_dataset, "MAX_FILES", 5)
    entries = [{"key": str(number), "size": 1} for number in range(count)]
    shelf = start("inveniordm", answers=invenio_files(*entries))

    try:
        listed = f"listed {len(shelf.fs().ls(shelf.address()))} files"
    except OSError as error:
        listed = str(error)

    expected = f"listed {count} files" if count <= 5 else "more than 5 files"
    assert listed.endswith(expected), f"{count} files with a limit of 5: {listed}"


@pytest.mark.parametrize("coding", ["", "gzip"])
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_all_answers_for_a_listing_together_have_no_more_bytes_than_the_limit(
    shelf: Shelf, coding: str, more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = 50_000
    monkeypatch.setattr(_web, "MAX_SIZE", limit)
    usual = Repository(shelf.kind)
    sizes: list[int] = []

    def padded(asked: Asked) -> Answer:
        """Fill what is left of the limit with blanks: all of it in the last answer, else half of it."""
        status, headers, body = usual(asked)
        left = limit + more - sum(sizes)
        body = body.ljust(left if len(sizes) == answers - 1 else left // 2)
        sizes.append(len(body))
        if coding:
            return Answer(status, {**headers, "Content-Encoding": coding}, gzip.compress(body))
        return Answer(status, headers, body)

    answers = {"dataverse": 1}.get(shelf.kind, 2)
    shelf.repository.answers["."] = padded
    try:
        listed = f"{len(shelf.fs().find(shelf.address()))} files"
    except OSError as error:
        listed = str(error)

    is_too_long = f"{shelf.host}: the answer is longer than " in listed
    assert is_too_long is (more > 0), f"{sizes} bytes with a limit of {limit}: {listed}"
    assert is_too_long or listed == f"{len(FILES)} files", listed


@pytest.fixture
def elsewhere() -> Iterator[Site]:
    with site(lambda _: Answer(200, {}, NOTE)) as server:
        yield server


def test_a_token_goes_to_its_host_only(shelf: Shelf, elsewhere: Site) -> None:
    """A redirect leads to another port, and the answer with the token was not for others."""
    shelf.repository.token = "s3cret"
    fs = shelf.fs(tokens={shelf.host: " s3cret\n"})
    assert fs.cat_file(shelf.address(NOTES)) == NOTE
    with pytest.raises(PermissionError, match="answered 403"):
        shelf.fs(tokens={"other.example": "s3cret"}).ls(shelf.address())
    shelf.repository.answers[CONTENT] = Answer(302, {"Location": f"{elsewhere.url}/signed?x=1"})
    assert fs.cat_file(shelf.address(NOTES)) == NOTE
    assert "s3cret" not in str(elsewhere.seen)
    assert not any("s3cret" in asked.target for asked in shelf.server.seen)
    assert not any("s3cret" in str(request) for request in shelf.proxy.log)


def test_tokens_come_from_the_environment_and_options_win(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.repository.token = "a=b"
    monkeypatch.setenv("DOIURI_TOKENS", f"other.example=x, {shelf.host}=a=b")
    assert shelf.fs().isfile(shelf.address(NOTES))
    with pytest.raises(PermissionError) as caught:
        shelf.fs(tokens={shelf.host: "wrong"}).ls(shelf.address())
    assert "token may be needed" not in str(caught.value)


@pytest.mark.parametrize("key", ["data.example", "DATA.example.", "data.example:80"])
def test_a_token_is_not_sent_without_tls(leading_to: LeadingTo, key: str) -> None:
    fs = leading_to("http://data.example/records/1", tokens={key: "t"})
    with pytest.raises(OSError, match=r"the token for data\.example is not sent over http"):
        fs.ls(DOI)


def test_neither_netrc_nor_cookies_are_sent_and_listings_may_be_compressed(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password s3cret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    usual = Repository(shelf.kind)

    def packed(asked: Asked) -> Answer:
        status, headers, body = usual(asked)
        more = {"Content-Encoding": "gzip", "Set-Cookie": "a=b; Path=/"}
        return Answer(status, {**headers, **more}, gzip.compress(body))

    shelf.repository.answers[f"^(?!.*({CONTENT}))"] = packed
    assert shelf.fs().cat_file(shelf.address(NOTES)) == NOTE
    for asked in shelf.server.seen:
        assert {"cookie", "authorization"}.isdisjoint(asked.headers)
        assert asked.headers["accept-encoding"] == "identity"  # checksums are those of the files


@pytest.mark.parametrize(
    "host", [*PRIVATE_HOSTS, "me:pw@127.0.0.1", "data.example", "later.example"]
)
def test_no_name_hides_a_private_network(
    leading_to: LeadingTo, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    """Whether it leads there from the start, or only when the connection is made."""
    resolve_as(monkeypatch, "data.example", "127.0.0.1")
    resolve_as(monkeypatch, "later.example", "93.184.216.34", "127.0.0.1")
    says = "private network|invalid URL|not known as a repository"
    if host.endswith(".example"):
        says = rf"{host} \(127\.0\.0\.1\), in a private network"
    with site(Repository("inveniordm")) as server:
        with pytest.raises(OSError, match=says):
            leading_to(f"{server.at(host)}/records/4924875").ls(DOI)
        assert not server.seen


def test_a_proxy_of_the_environment_is_used_and_looks_up_names(
    leading_to: LeadingTo, monkeypatch: pytest.MonkeyPatch
) -> None:
    with http_proxy() as through:
        monkeypatch.setenv("http_proxy", through.url)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        resolve_as(monkeypatch, "data.example", "127.0.0.1")  # which only the proxy may look up
        with pytest.raises(OSError, match=r"data\.example"):
            leading_to("http://data.example/records/4924875").ls(DOI)
        assert through.seen[0] == "GET http://data.example/api/records/4924875"


def test_no_redirect_leads_from_https_to_http(
    leading_to: LeadingTo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: Site
) -> None:
    authority = Authority(tmp_path)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(authority.bundle))
    repository = Repository(
        "inveniordm", answers={CONTENT: Answer(302, {"Location": elsewhere.url})}
    )
    with site(repository, tls=authority.server()) as server:
        fs = leading_to(f"{server.url}/records/4924875", private=True)
        with pytest.raises(OSError, match="redirected from https to http"):
            fs.cat_file(f"{DOI}/{NOTES}")
        assert not elsewhere.seen


def test_storage_that_refuses_is_named_without_advice(start: Start) -> None:
    with site(lambda _: error(403, "Request has expired")) as storage, refusing() as port:
        shelf = start(
            "inveniordm", answers={CONTENT: Answer(302, {"Location": f"{storage.url}/x"})}
        )
        with pytest.raises(PermissionError, match=rf"^{NOTES}: {storage.host} .*expired$"):
            shelf.fs().cat_file(shelf.address(NOTES))
        shelf.repository.answers[CONTENT] = Answer(302, {"Location": f"http://localhost:{port}/x"})
        with pytest.raises(OSError, match=rf"^{NOTES}: localhost:{port}: Connection refused$"):
            shelf.fs().cat_file(shelf.address(NOTES))


@pytest.mark.parametrize("address", ["doi://10.1000/none", "doi://10.1000/none/a.csv"])
def test_an_unregistered_doi_is_missing_and_one_without_a_url_or_an_answer_is_not(
    leading_to: LeadingTo, address: str
) -> None:
    fs = leading_to(None)
    assert not fs.exists(address)
    with pytest.raises(FileNotFoundError, match="registered"):
        fs.open(address)
    with pytest.raises(OSError, match=r"zenodo\.4924875: the DOI has no such values"):
        fs.ls(DOI)
    with refusing() as port:
        fs = DOIFileSystem(f"http://127.0.0.1:{port}", cache=":memory:", skip_instance_cache=True)
        with pytest.raises(OSError, match="Connection refused") as caught:
            fs.exists(address)
        assert not isinstance(caught.value, FileNotFoundError)


def test_a_name_that_which_ra_does_not_know_is_asked_for_at_the_rest_api(start: Start) -> None:
    shelf = start("inveniordm")
    known = {shelf.doi.upper(): (value("URL", f"{shelf.server.url}/records/4924875"),)}
    with handling(proxy(known, lambda _: {"status": "DOI does not exist"})) as registry:
        assert shelf.fs(resolver=registry.url).cat_file(shelf.address(NOTES)) == NOTE


def test_offline_nothing_is_sent(shelf: Shelf) -> None:
    shelf.fs().ls(shelf.address())
    asked = len(shelf.server.seen), len(shelf.proxy.log)
    with pytest.raises(OSError, match="offline"):
        shelf.fs(offline=True).ls(shelf.address())
    assert (len(shelf.server.seen), len(shelf.proxy.log)) == asked


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"repositories": {"x.example": "dspace"}}, "repositories: 'dspace' is not one of"),
        ({"repositories": {"https://x.example": "figshare"}}, "repositories: the keys are hosts"),
        ({"repositories": "figshare"}, "repositories must be a mapping"),
        ({"tokens": {"x.example": None}}, "tokens must be a mapping of hosts to strings"),
        ({"tokens": {"x.example": "s3c\nret"}}, "tokens: the value for 'x.example'"),
        ({"tokens": {"x.example": "s3crét"}}, "tokens: the value for 'x.example'"),
        ({}, "DOIURI_TOKENS: "),
        ({"locks": "doi.lock.json"}, "locks is not an option"),
    ],
)
def test_a_wrong_option_or_variable_is_named_and_no_token_is_shown(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], says: str
) -> None:
    if not options:
        monkeypatch.setenv("DOIURI_TOKENS", "s3cret")
    with pytest.raises(ValueError, match=says) as caught:
        DOIFileSystem(**options, skip_instance_cache=True)
    assert "s3c" not in str(caught.value)


@pytest.mark.parametrize(
    "address", ["doi://", "doi://10.1000", "doi://zenodo/x", "doi://10.1000//"]
)
def test_what_is_no_doi_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="not a DOI"):
        DOIFileSystem(offline=True, cache=":memory:").ls(address)


@pytest.mark.parametrize("key", ["127.0.0.1:PORT", "127.0.0.1", " 127.0.0.1. "])
def test_a_host_is_known_with_its_port_and_without(shelf: Shelf, key: str) -> None:
    key = key.replace("PORT", str(shelf.server.port))
    assert shelf.fs(repositories={key: shelf.kind}).exists(shelf.address())


SITE = "https://d.example"
ZENODO = "https://zenodo.org/api/records"
FIGSHARE = "https://api.figshare.com/v2"
DATAVERSE = f"{SITE}/api/datasets/:persistentId/versions/:latest-published?persistentId=doi:"
# DOI, landing page and the first request
ASKED: list[tuple[str, str, str | None]] = [
    ("10.5281/zenodo.1", "https://zenodo.org/records/1", f"{ZENODO}/1"),
    ("10.5281/zenodo.2", "http://zenodo.org/doi/10.5281/zenodo.2", f"{ZENODO}/2"),
    ("10.2/4rgh7-zss31", f"{SITE}/records/4rgh7-zss31", f"{SITE}/api/records/4rgh7-zss31"),
    ("10.1/R1", "https://me@k.example/articles/d/T/1", f"{FIGSHARE}/articles?doi=10.1/R1"),
    ("10.6/f.c.1", "https://x.figshare.com/", f"{FIGSHARE}/articles?doi=10.6/f.c.1"),
    ("10.6/figshare.c.1", "https://figshare.com/", f"{FIGSHARE}/collections?doi=10.6/figshare.c.1"),
    (
        "10.6/fig.c.1",
        "https://figshare.com/collections/T/1",
        f"{FIGSHARE}/collections?doi=10.6/fig.c.1",
    ),
    (
        "10.1000/x",
        "http://u:p@d.example/dataset.xhtml?persistentId=doi:10.1000/X",
        f"{DATAVERSE}10.1000/X",
    ),
    (
        "10.1000/y",
        "https://d.example/file.xhtml?persistentId=doi:10.1000/z",
        f"{DATAVERSE}10.1000/y",
    ),
    ("10.1000/x", "https://osf.io/abc", None),
    ("10.1000/x", "https://b.example/records/1", None),
    ("10.1000/x", "https://evilzenodo.org/records/1", None),
    ("10.1000/x", "https://zenodo.org.evil.example/records/1", None),
]


@pytest.mark.parametrize(("doi", "landing", "url"), ASKED)
def test_the_repository_is_recognized_by_the_landing_page(
    leading_to: LeadingTo, monkeypatch: pytest.MonkeyPatch, doi: str, landing: str, url: str | None
) -> None:
    asked: list[str] = []
    send = HTTPAdapter.send

    def away(
        adapter: HTTPAdapter, request: requests.PreparedRequest, **options: Any
    ) -> requests.Response:
        if str(request.url).startswith("http://127.0.0.1"):
            return send(adapter, request, **options)
        asked.append(str(request.url))
        raise requests.ConnectionError("away")

    monkeypatch.setattr(HTTPAdapter, "send", away)
    with pytest.raises(
        OSError, match=r"away|not known as a repository.*repositories=.*landing page is"
    ):
        leading_to(landing, doi, repositories=None).ls(f"doi://{doi}")
    assert asked == ([url] if url else [])


def test_slow_files_do_not_block_other_files_of_their_host(start: Start) -> None:
    served = threading.Event()

    def answer(asked: Asked) -> Answer:
        if asked.headers.get("range") or asked.target.endswith("notes.txt/content"):
            served.wait(60)
        return Answer(200, {}, NOTE)

    files = {NOTES: NOTE, "quick.txt": NOTE}
    shelf = start("inveniordm", files=files, answers={NOTE_URL["inveniordm"]: answer})
    fs = shelf.fs()

    def all_wait() -> bool:
        return sum("notes.txt" in asked.target for asked in shelf.server.seen) == 12

    with ThreadPoolExecutor(12) as pool:
        slow = [pool.submit(fs.cat_file, shelf.address(NOTES)) for _ in range(12)]
        until(all_wait)
        assert fs.cat_file(shelf.address("quick.txt")) == NOTE
        served.set()
        assert [each.result() for each in slow] == [NOTE] * 12
    listings = [asked.target for asked in shelf.server.seen if "/content" not in asked.target]
    assert len(listings) == len({*listings}), "threads listed the same"


def test_bytes_are_unpacked_only_if_the_checksum_asks_for_it(start: Start) -> None:
    packed = gzip.compress(NOTE)
    answer = Answer(200, {"Content-Encoding": "gzip"}, packed)
    asked, sent = (
        start("dataverse", answers={"latest-published": table(body), "datafile": answer})
        for body in (NOTE, packed)
    )
    assert asked.fs().cat_file(asked.address("x")) == NOTE
    assert sent.fs().cat_file(sent.address("x")) == packed


def table(body: bytes, checksum: str = "") -> Answer:
    digest = checksum or hashlib.md5(body, usedforsecurity=False).hexdigest()
    entry = {"label": "x", "dataFile": {"id": 70, "filesize": len(body), "md5": digest}}
    return as_json({"data": {"versionNumber": 1, "versionMinorNumber": 0, "files": [entry]}})


def test_a_file_without_proof_is_opened_on_request_with_a_warning(
    start: Start, tmp_path: Path
) -> None:
    answers = {"latest-published": table(NOTE, "0" * 32), "datafile": Answer(200, {}, NOTE)}
    shelf = start("dataverse", answers=answers)
    with pytest.raises(OSError, match="expected md5:000"):
        shelf.fs().cat_file(shelf.address("x"))

    fs = shelf.fs(checksums=False)
    with pytest.warns(UserWarning, match="expected md5:0+; opened without proof"):
        assert fs.cat_file(shelf.address("x")) == NOTE
    with pytest.warns(UserWarning, match="opened without proof"):
        fs.get(shelf.address("x"), str(tmp_path / "copy"))
    assert (tmp_path / "copy").read_bytes() == NOTE


HOPS = [*product("AB"), *product("AB", repeat=2), *product("AB", repeat=3)]
"""The servers that redirects lead to, one after another, from server A."""


@pytest.mark.parametrize("hops", HOPS, ids="".join)
def test_a_token_is_not_sent_once_a_redirect_has_led_to_another_server(
    start: Start, hops: tuple[str, ...]
) -> None:
    """Nor to the first one again: what is then requested there is the other server's choice."""
    seen: list[tuple[str, bool]] = []
    urls: dict[str, str] = {}

    def answer(server: str, asked: Asked) -> Answer:
        seen.append((server, "s3cret" in str(asked.headers)))
        number = len(seen) - 1
        if number == len(hops):
            return Answer(200, {}, NOTE)
        return Answer(302, {"Location": f"{urls[hops[number]]}/content"})

    with site(partial(answer, "B")) as other:
        shelf = start("inveniordm", token="s3cret", answers={CONTENT: partial(answer, "A")})
        urls |= {"A": shelf.server.url, "B": other.url}
        fs = shelf.fs(tokens={shelf.host: "s3cret", other.host: "s3cret"})
        assert fs.cat_file(shelf.address(NOTES)) == NOTE

    visited = ["A", *hops]
    only_first = [set(visited[: number + 1]) == {"A"} for number in range(len(visited))]
    assert seen == [*zip(visited, only_first, strict=True)]


@pytest.mark.parametrize("count", [9, 10, 11])
def test_ten_redirects_to_a_file_are_followed_and_no_more(start: Start, count: int) -> None:
    asked: list[Asked] = []

    def answer(one: Asked) -> Answer:
        asked.append(one)
        if len(asked) > count:
            return Answer(200, {}, NOTE)
        return Answer(302, {"Location": f"{shelf.server.url}/content"})

    shelf = start("inveniordm", answers={CONTENT: answer})
    try:
        got = shelf.fs().cat_file(shelf.address(NOTES)).decode()
    except OSError as error:
        got = str(error)

    followed = len(asked) - 1
    assert followed == min(count, 10), (
        f"of {count} redirects {followed} were followed, not {min(count, 10)}"
    )
    assert ("more than 10 redirects" in got) is (count > 10), f"{count} redirects: {got}"


def test_a_slow_listing_keeps_no_other_data_set_from_being_read(start: Start) -> None:
    other = "10.6084/m9.figshare.1"
    other_is_listed = threading.Event()
    is_asked = threading.Event()

    def slow(_: Asked) -> Answer:
        is_asked.set()
        assert other_is_listed.wait(60), "the other data set waits for this one"
        return error(503, "down")

    article = {"id": 1, "doi": other, "files": [{"id": 3000, "name": TABLE}]}
    answers = {
        r"/articles\?doi=10.6084/m9.figshare.14763051": slow,
        r"/articles\?doi=": as_json([article]),
        "/articles/1$": as_json(article),
    }
    shelf = start("figshare", records={other: "/articles/x/1"}, answers=answers)
    fs = shelf.fs()
    with ThreadPoolExecutor(1) as pool:
        listed = pool.submit(fs.ls, shelf.address())
        assert is_asked.wait(60)
        assert fs.cat_file(shelf.address(TABLE, other)) == FILES[TABLE]
        other_is_listed.set()
        with pytest.raises(OSError, match="answered 503"):
            listed.result()


def test_a_folder_in_place_of_the_copy_is_an_error(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / NOTES).mkdir()
    for path, target in (
        (shelf.address() + "/", f"{tmp_path}/"),
        ([shelf.address(NOTES)], [str(tmp_path)]),
    ):
        with pytest.raises(IsADirectoryError):
            shelf.fs().get(path, target, recursive=True)
