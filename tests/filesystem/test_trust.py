"""Errors in place of data that is not the file; tokens for one host; private networks."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest
from doiuri_proxy.pytest_plugin import Proxies
from fsspec_doiuri import DOIFileSystem
from support.ports import refusing
from support.servers.httpproxy import http_proxy
from support.servers.repositories import DOIS, FILES, NOTES, TABLE, Repository, as_json, error
from support.servers.tls import Authority
from support.servers.web import Answer, Asked, Site, record, site
from support.shelf import Shelf, Start
from support.targets import PRIVATE_HOSTS, resolve_as

CONTENT = "/content|/file/download|/access/datafile"
HTML = {"Content-Type": "text/html; charset=utf-8"}


class Fault(NamedTuple):
    """What the repository says in place of a file, and what the error says of it."""

    name: str
    answer: Answer
    says: str
    kind: type[OSError] = OSError


NOTE = FILES[NOTES]
CUT = {"Content-Length": "19", "Connection": "close"}
ROUND = "/api/access/datafile/1/content/file/download/1"
FAULTS = [
    Fault(
        "other bytes", Answer(200, {}, NOTE[:-1] + b"!"), "notes.txt: HOST sent bytes with the checksum md5:"
    ),
    Fault("fewer bytes", Answer(200, {}, NOTE[:-1]), "notes.txt: HOST sent 18 bytes, expected 19"),
    Fault("more bytes", Answer(200, {}, NOTE * 2), "HOST sent more than 19 bytes, expected 19"),
    Fault("nothing", Answer(200, {}, b""), "HOST sent 0 bytes"),
    Fault("cut off", Answer(200, CUT, NOTE[:4]), "HOST: the answer was cut off"),
    Fault("accepted", Answer(202, {}, b""), "HOST answered 202"),
    Fault("challenge", Answer(202, {**HTML, "x-amzn-waf-action": "challenge"}, b""), "HOST answered 202"),
    Fault("page", Answer(200, HTML, b"<html>log in</html>"), "notes.txt: HOST sent a web page in place"),
    Fault("forbidden", error(403, "Go away."), "HOST answered 403.*Go away.*token", PermissionError),
    Fault("unauthorized", Answer(401), "HOST answered 401.*DOIURI_TOKENS", PermissionError),
    Fault("guestbook", error(400, "You need a guestbook response."), "400.*You need a guestbook response"),
    Fault("too many", Answer(429, {"Retry-After": "7"}), "HOST answered 429.*Retry-After: 7 s"),
    Fault("gone", Answer(404), "HOST answered 404"),
    Fault("broken", Answer(500), "HOST answered 500"),
    Fault("circle", Answer(302, {"Location": ROUND}), "HOST: more than 10 redirects"),
    Fault("other scheme", Answer(302, {"Location": "file:///etc"}), "HOST: redirected to 'file:///etc'"),
    Fault(
        "user",
        Answer(302, {"Location": "http://me:pw@127.0.0.1/"}),
        "HOST: redirected to a URL with a user",
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_what_is_not_the_file_is_an_error(shelf: Shelf, fault: Fault, tmp_path: Path) -> None:
    shelf.repository.answers[CONTENT] = fault.answer
    fs, says = shelf.fs(), fault.says.replace("HOST", shelf.host)
    (tmp_path / "old.txt").write_text("old")
    with pytest.raises(OSError, match=says) as caught:
        fs.get(shelf.address(NOTES), str(tmp_path / "old.txt"))
    assert type(caught.value) is fault.kind or fault.kind is OSError
    assert not isinstance(caught.value, FileNotFoundError)
    with pytest.raises(OSError, match=says):
        fs.get(shelf.address(NOTES), str(tmp_path / "new.txt"))
    for read in fs.open, fs.cat_file:
        with pytest.raises(OSError, match=says):
            read(shelf.address(NOTES))
    assert [file.name for file in tmp_path.iterdir()] == ["old.txt"]
    assert (tmp_path / "old.txt").read_text() == "old"
    sent = sum(1 for asked in shelf.server.seen if NOTE_URL[shelf.kind] in asked.target)
    assert sent == 4 or fault.name == "circle", "repeated"


NOTE_URL = {"inveniordm": "/files/notes.txt", "figshare": "/download/3001", "dataverse": "/datafile/71"}


LISTINGS = [
    ("a page", Answer(200, HTML, b"<html>"), r"HOST sent text/html; charset=utf-8 in place of a listing"),
    ("not JSON", Answer(200, {"Content-Type": "application/json"}, b"{"), "in place of a listing in JSON"),
    ("another form", as_json(["x"]), "its form is unexpected"),
    ("no object", as_json(7), "its form is unexpected"),
    ("endless", Answer(200, {}, b" " * (64 * 2**20 + 1)), "HOST: the listing is longer than 67,108,864"),
    ("forbidden", error(403, "Permission denied."), "HOST answered 403.*tokens="),
    ("too many", Answer(429, {"Retry-After": "7"}), "HOST answered 429.*Retry-After: 7 s"),
    ("broken", Answer(503), "HOST answered 503"),
    ("moved", Answer(302, {"Location": "ftp://127.0.0.1/"}), "not an http or https URL"),
]


@pytest.mark.parametrize(("answer", "says"), [row[1:] for row in LISTINGS], ids=[row[0] for row in LISTINGS])
def test_a_listing_that_cannot_be_used_is_an_error_with_doi_and_host(
    shelf: Shelf, answer: Answer, says: str
) -> None:
    shelf.repository.answers["."] = answer
    with pytest.raises(OSError, match=f"{DOIS[shelf.kind]}.*{says}".replace("HOST", shelf.host)) as caught:
        shelf.fs().exists(shelf.address(NOTES))
    assert not isinstance(caught.value, FileNotFoundError)
    assert len(shelf.server.seen) == 1, "repeated"


@pytest.mark.parametrize(
    "name",
    ["../x", "/etc/passwd", "a//b", "a/./b", "a/..", "..", "", "a\\b", "a\0b", "a\nb", "a/"],
)
def test_an_unsafe_name_refuses_the_whole_listing(start: Start, name: str) -> None:
    entries = [{"key": key, "size": 1, "checksum": "md5:0"} for key in ("good", name)]
    shelf = start("inveniordm", answers={"/files$": as_json({"enabled": True, "entries": entries})})
    with pytest.raises(OSError, match="is refused: the name of a file is unsafe"):
        shelf.fs().ls(shelf.address())


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["a", "a"], "two files"),
        (["a", "a/b"], "both a file and a folder"),
        (["a/b", "a"], "both a file and a folder"),
    ],
)
def test_an_ambiguous_listing_is_refused(start: Start, names: list[str], says: str) -> None:
    entries = [{"key": key, "size": 1, "checksum": "md5:0"} for key in names]
    shelf = start("inveniordm", answers={"/files$": as_json({"enabled": True, "entries": entries})})
    with pytest.raises(OSError, match=says):
        shelf.fs().ls(shelf.address())


def test_too_many_files_are_refused(start: Start) -> None:
    entries = [{"key": str(number)} for number in range(100_001)]
    shelf = start("inveniordm", answers={"/files$": as_json({"enabled": True, "entries": entries})})
    with pytest.raises(OSError, match="more than 100,000 files"):
        shelf.fs().ls(shelf.address())


@pytest.fixture
def elsewhere() -> Iterator[Site]:
    with site(lambda _: Answer(200, {}, NOTE)) as server:
        yield server


def test_a_token_goes_to_its_host_only(shelf: Shelf, elsewhere: Site) -> None:
    shelf.repository.token = "s3cret"
    fs = shelf.fs(tokens={shelf.host: "s3cret"})
    assert fs.cat_file(shelf.address(TABLE)) == FILES[TABLE]
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


def test_a_token_is_not_sent_without_tls(doi_proxy: Proxies) -> None:
    proxy = doi_proxy([record("10.1000/x", "http://data.example/records/1")])
    fs = DOIFileSystem(
        proxy.url,
        cache=":memory:",
        repositories={"data.example": "inveniordm"},
        tokens={"data.example": "t"},
        skip_instance_cache=True,
    )
    with pytest.raises(OSError, match=r"the token for data\.example is not sent over http"):
        fs.ls("doi://10.1000/x")


def test_netrc_is_not_read(shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password s3cret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    shelf.fs().cat_file(shelf.address(NOTES))
    assert not any("authorization" in asked.headers for asked in shelf.server.seen)


def test_a_private_network_has_to_be_allowed(shelf: Shelf) -> None:
    with pytest.raises(OSError, match=r"in a private network; private=True allows it"):
        shelf.fs(private=None).ls(shelf.address())
    assert not shelf.server.seen


@pytest.mark.parametrize("host", PRIVATE_HOSTS)
def test_no_name_hides_a_private_network(doi_proxy: Proxies, host: str) -> None:
    with site(Repository("inveniordm")) as server:
        landing = server.at(host) + "/records/4924875"
        proxy = doi_proxy([record(DOIS["inveniordm"], landing)])
        fs = DOIFileSystem(
            proxy.url,
            cache=":memory:",
            repositories={f"{host}:{server.port}": "inveniordm"},
            skip_instance_cache=True,
        )
        with pytest.raises(OSError, match=r"private network|invalid URL"):
            fs.ls(f"doi://{DOIS['inveniordm']}")
        assert not server.seen


def test_a_server_that_is_away_is_named(doi_proxy: Proxies) -> None:
    with refusing() as port:
        url = f"http://127.0.0.1:{port}"
        proxy = doi_proxy([record("10.1000/x", f"{url}/records/1")])
        host = f"127.0.0.1:{port}"
        repositories = {host: "inveniordm"}
        fs = DOIFileSystem(proxy.url, cache=":memory:", private=True, repositories=repositories)
        with pytest.raises(OSError, match=f"{host}: Connection refused"):
            fs.exists("doi://10.1000/x/a.csv")


def test_an_unregistered_doi_is_missing_and_an_unknown_one_is_not(doi_proxy: Proxies) -> None:
    proxy = doi_proxy([])
    fs = DOIFileSystem(proxy.url, cache=":memory:", skip_instance_cache=True)
    for address in "doi://10.1000/none", "doi://10.1000/none/a.csv":
        assert not fs.exists(address)
        with pytest.raises(FileNotFoundError, match="registered"):
            fs.open(address)
    with refusing() as port:
        url = f"http://127.0.0.1:{port}"
        fs = DOIFileSystem(url, cache=":memory:", skip_instance_cache=True)
        for address in "doi://10.1000/none", "doi://10.1000/none/a.csv":
            with pytest.raises(OSError, match="Connection refused") as caught:
                fs.exists(address)
            assert not isinstance(caught.value, FileNotFoundError)


def test_a_record_without_a_url_is_an_error(doi_proxy: Proxies) -> None:
    proxy = doi_proxy([record("10.1000/x")])
    fs = DOIFileSystem(proxy.url, cache=":memory:", skip_instance_cache=True)
    with pytest.raises(OSError, match=r"10\.1000/x"):
        fs.ls("doi://10.1000/x")


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
        ({"locks": "doi.lock.json"}, "locks is not an option"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        DOIFileSystem(**options, skip_instance_cache=True)  # type: ignore[arg-type]


def test_a_wrong_variable_is_named_without_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOIURI_TOKENS", "s3cret")
    with pytest.raises(ValueError, match="DOIURI_TOKENS: ") as caught:
        DOIFileSystem(skip_instance_cache=True)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("address", ["doi://", "doi://10.1000", "doi://zenodo/x", "doi://10.1000//"])
def test_what_is_no_doi_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="not a DOI"):
        DOIFileSystem(offline=True, cache=":memory:").ls(address)


def test_four_downloads_at_most_come_from_one_host(start: Start) -> None:
    lock, now, most = threading.Lock(), [0], [0]

    def slow(asked: Asked) -> Answer:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.05)
        with lock:
            now[0] -= 1
        return Answer(200, {}, NOTE)

    shelf = start("inveniordm", answers={CONTENT: slow})
    fs = shelf.fs()
    fs.ls(shelf.address())
    threads = [threading.Thread(target=fs.cat_file, args=[shelf.address(NOTES)]) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] == 4


def test_cookies_are_not_kept_and_listings_may_be_compressed(shelf: Shelf) -> None:
    usual = Repository(shelf.kind)

    def packed(asked: Asked) -> Answer:
        status, headers, body = usual(asked)
        more = {"Content-Encoding": "gzip", "Set-Cookie": "a=b; Path=/"}
        return Answer(status, {**headers, **more}, gzip.compress(body))

    shelf.repository.answers[f"^(?!.*({CONTENT}))"] = packed
    assert shelf.fs().cat_file(shelf.address(NOTES)) == NOTE
    assert not any("cookie" in asked.headers for asked in shelf.server.seen)


def test_a_name_that_leads_into_a_private_network_is_refused(
    doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it did from the start, or only when the connection is made."""
    with site(Repository("inveniordm")) as server:
        proxy = doi_proxy([record(DOIS["inveniordm"], f"http://data.example:{server.port}/records/4924875")])
        repositories = {"data.example": "inveniordm"}
        for addresses in ["127.0.0.1"], ["93.184.216.34", "127.0.0.1"]:
            resolve_as(monkeypatch, "data.example", *addresses)
            fs = DOIFileSystem(
                proxy.url, cache=":memory:", repositories=repositories, skip_instance_cache=True
            )
            with pytest.raises(OSError, match=r"data\.example \(127\.0\.0\.1\), in a private network"):
                fs.ls(f"doi://{DOIS['inveniordm']}")
        assert not server.seen


def test_a_proxy_of_the_environment_is_used_and_looks_up_names(
    doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch
) -> None:
    with http_proxy() as through:
        proxy = doi_proxy([record(DOIS["inveniordm"], "http://data.example/records/4924875")])
        monkeypatch.setenv("http_proxy", through.url)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        resolve_as(monkeypatch, "data.example", "127.0.0.1")  # which only the proxy may look up
        repositories = {"data.example": "inveniordm"}
        fs = DOIFileSystem(proxy.url, cache=":memory:", repositories=repositories, skip_instance_cache=True)
        with pytest.raises(OSError, match=r"data\.example"):
            fs.ls(f"doi://{DOIS['inveniordm']}")
        assert through.seen[0] == "GET http://data.example/api/records/4924875"


@pytest.mark.parametrize("is_safe", [True, False])
def test_no_redirect_leads_from_https_to_http(
    doi_proxy: Proxies, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: Site, is_safe: bool
) -> None:
    authority = Authority(tmp_path)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(authority.bundle))
    repository = Repository("inveniordm")
    with site(repository, tls=authority.server()) as server:
        target = f"{server.at('localhost')}/copy" if is_safe else f"{elsewhere.url}/copy"
        repository.answers = {"/copy": Answer(200, {}, NOTE), CONTENT: Answer(302, {"Location": target})}
        proxy = doi_proxy([record(DOIS["inveniordm"], f"{server.url}/records/4924875")])
        repositories = {f"127.0.0.1:{server.port}": "inveniordm"}
        fs = DOIFileSystem(proxy.url, cache=":memory:", private=True, repositories=repositories)
        address = f"doi://{DOIS['inveniordm']}/{NOTES}"
        if is_safe:
            assert fs.cat_file(address) == NOTE
            return
        with pytest.raises(OSError, match="redirected from https to http"):
            fs.cat_file(address)
        assert not elsewhere.seen


@pytest.mark.parametrize("token", ["s3cret\n", " s3cret", "s3c\nret", "s3crét"])
def test_a_token_is_trimmed_or_refused_and_never_shown(shelf: Shelf, token: str) -> None:
    shelf.repository.token = "s3cret"
    if token.strip() == "s3cret":
        assert shelf.fs(tokens={shelf.host: token}).exists(shelf.address())
        return
    with pytest.raises(ValueError, match=f"tokens: the value for '{shelf.host}'") as caught:
        shelf.fs(tokens={shelf.host: token})
    assert "s3c" not in str(caught.value)


@pytest.mark.parametrize("key", ["127.0.0.1:PORT", "127.0.0.1", " 127.0.0.1. "])
def test_a_host_is_known_with_its_port_and_without(shelf: Shelf, key: str) -> None:
    key = key.replace("PORT", str(shelf.server.port))
    assert shelf.fs(repositories={key: shelf.kind}).exists(shelf.address())


def test_storage_that_refuses_is_named_without_advice(start: Start, elsewhere: Site) -> None:
    def refused(_: Asked) -> Answer:
        return error(403, "Request has expired")

    with site(refused) as storage, refusing() as port:
        shelf = start("inveniordm", answers={CONTENT: Answer(302, {"Location": f"{storage.url}/x"})})
        with pytest.raises(PermissionError, match=rf"^{NOTES}: 127\.0\.0\.1:{storage.port} .*expired$"):
            shelf.fs().cat_file(shelf.address(NOTES))
        shelf.repository.answers[CONTENT] = Answer(302, {"Location": f"http://localhost:{port}/x"})
        with pytest.raises(OSError, match=rf"^{NOTES}: localhost:{port}: Connection refused$"):
            shelf.fs().cat_file(shelf.address(NOTES))


@pytest.mark.parametrize(
    "entry",
    [
        {"key": "a", "size": 1e999},
        {"key": "/".join("x" * 2000), "size": 1},
        {"key": 7, "size": 1},
        {"size": 1},
    ],
)
def test_an_odd_entry_is_an_error(start: Start, entry: dict[str, object]) -> None:
    shelf = start("inveniordm", answers={"/files$": as_json({"enabled": True, "entries": [entry]})})
    with pytest.raises(OSError, match=r"the listing of .* is refused"):
        shelf.fs().find(shelf.address())


@pytest.mark.parametrize("location", ["http://[", "http://a b/", "\xff\xfe"])
def test_a_redirect_to_nowhere_is_an_error(start: Start, location: str) -> None:
    shelf = start("inveniordm", answers={CONTENT: Answer(302, {"Location": location})})
    with pytest.raises(OSError, match=f"^{NOTES}: "):
        shelf.fs().cat_file(shelf.address(NOTES))


def test_a_folder_in_place_of_the_copy_is_an_error(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / NOTES).mkdir()
    for path, target in (shelf.address() + "/", f"{tmp_path}/"), ([shelf.address(NOTES)], [str(tmp_path)]):
        with pytest.raises(IsADirectoryError):
            shelf.fs().get(path, target, recursive=True)


def test_threads_ask_for_one_listing(shelf: Shelf) -> None:
    fs = shelf.fs()
    with ThreadPoolExecutor(8) as pool:
        contents = list(pool.map(fs.cat_file, [shelf.address(NOTES)] * 16))
    assert contents == [NOTE] * 16
    alone = shelf.fs()
    asked = len(shelf.server.seen)
    alone.cat_file(shelf.address(NOTES))
    assert asked == 16 + len(shelf.server.seen) - asked - 1
