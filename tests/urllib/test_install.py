"""install() and uninstall(): the global opener keeps what it has."""

from __future__ import annotations

import copy
import json
import pickle
import ssl
import threading
import urllib.request
from importlib.metadata import version
from pathlib import Path
from urllib.error import URLError
from urllib.request import (
    BaseHandler,
    ProxyHandler,
    Request,
    build_opener,
    install_opener,
    urlopen,
    urlretrieve,
)

import pytest
import urllib_doiuri
from doiuri import DOI, ShortDOI
from doiuri_proxy import running
from support.servers.web import JSON, Answer, record, site

RECORDS = [record("10.1000/182", "http://x.example/"), record("10/p54k", "http://x.example/")]


class Stamp(BaseHandler):
    """A user's handler."""

    def http_request(self, req: Request) -> Request:
        req.add_header("X-Stamp", "1")
        return req


def opener() -> object:
    return urllib.request._opener  # type: ignore[attr-defined]


def test_present_handlers_stay() -> None:
    with site(lambda _: Answer(200, JSON, b"{}")) as resolver:
        mine = build_opener(Stamp)
        install_opener(mine)
        urllib_doiuri.install(resolver.url)
        assert opener() is mine
        urlopen("doi:10.1000/182").close()
        assert resolver.seen[0].headers["x-stamp"] == "1"
        urllib_doiuri.uninstall()
        assert opener() is mine
        urlopen(resolver.url).close()
        assert resolver.seen[1].headers["x-stamp"] == "1"
        with pytest.raises(URLError, match="unknown url type: doi"):
            urlopen("doi:10.1000/182")


def test_uninstall_undoes_install_to_the_last_handler() -> None:
    mine = build_opener(Stamp)
    before = {name: str(value) for name, value in vars(mine).items()}
    install_opener(mine)
    urllib_doiuri.install()
    urllib_doiuri.uninstall()
    after = {
        name: str(value).replace("'doi': [], ", "").replace(", 'doi': []", "")
        for name, value in vars(mine).items()
    }
    assert {**after, "process_request": before["process_request"]}.keys() == before.keys()
    assert [type(one) for one in vars(mine)["handlers"]] == [
        type(one) for one in vars(build_opener(Stamp))["handlers"]
    ]


def test_where_no_opener_was_none_is_left() -> None:
    urllib_doiuri.install()
    urllib_doiuri.uninstall()
    assert opener() is None


def test_an_opener_that_others_have_used_since_stays() -> None:
    urllib_doiuri.install()
    made = opener()
    assert isinstance(made, urllib.request.OpenerDirector)
    made.add_handler(Stamp())
    urllib_doiuri.uninstall()
    assert opener() is made


def test_an_opener_installed_since_is_left_alone() -> None:
    urllib_doiuri.install()
    other = build_opener()
    install_opener(other)
    urllib_doiuri.uninstall()
    assert opener() is other


def test_uninstall_without_install_is_nothing() -> None:
    urllib_doiuri.uninstall()
    urllib_doiuri.uninstall()
    assert opener() is None


def test_a_second_install_replaces_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(RECORDS) as first, running(RECORDS) as second:
        monkeypatch.setenv("DOIURI_RESOLVER", first.url)
        urllib_doiuri.install()
        monkeypatch.setenv("DOIURI_RESOLVER", second.url)
        with urlopen("doi:10.1000/182") as response:
            assert response.url.startswith(first.url)  # read at install()
        urllib_doiuri.install()
        with urlopen("doi:10.1000/182") as response:
            assert response.url.startswith(second.url)
        urllib_doiuri.uninstall()
        with pytest.raises(URLError, match="unknown url type: doi"):
            urlopen("doi:10.1000/182")


def test_a_second_install_is_never_without_a_handler() -> None:
    urllib_doiuri.install(offline=True)
    wrong: set[str] = set()
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            with pytest.raises(URLError) as caught:
                urlopen("doi:10.1000/182")
            if "offline" not in str(caught.value):
                wrong.add(str(caught.value))

    asking = threading.Thread(target=ask)
    asking.start()
    for _ in range(50):
        urllib_doiuri.install(offline=True)
    done.set()
    asking.join()
    assert not wrong
    urllib_doiuri.uninstall()
    assert opener() is None


def test_no_other_thread_meets_a_handler_without_an_opener(monkeypatch: pytest.MonkeyPatch) -> None:
    install_opener(mine := build_opener(urllib_doiuri.DOIHandler(offline=True)))
    add_parent = urllib_doiuri.DOIHandler.add_parent
    said: list[str] = []

    def ask_meanwhile(handler: BaseHandler, parent: urllib.request.OpenerDirector) -> None:
        if parent is mine:
            with pytest.raises(URLError) as caught:
                urlopen("doi:10.1000/182")
            said.append(str(caught.value))
        add_parent(handler, parent)

    monkeypatch.setattr(urllib_doiuri.DOIHandler, "add_parent", ask_meanwhile)
    urllib_doiuri.install(offline=True)
    assert len(said) == 1
    assert "offline" in said[0]


@pytest.mark.parametrize("phase", ["request", "open", "response"])
def test_a_request_under_way_meets_each_handler_once(phase: str) -> None:
    calls: list[str] = []

    class Other(BaseHandler):
        """A handler that another thread interrupts."""

        handler_order = 400

    def meet(*given: object) -> object:
        calls.append(phase)
        urllib_doiuri.install(offline=True)
        return given[-1] if phase != "open" else None

    setattr(Other, f"http_{phase}", staticmethod(meet))
    with site(lambda _: Answer(200, JSON, b"{}")) as server:
        install_opener(build_opener(Other))
        urlopen(server.url).close()
    assert calls == [phase]


def test_install_adds_what_add_handler_adds() -> None:
    install_opener(mine := build_opener(Stamp))
    twin = build_opener(Stamp)
    handler = urllib_doiuri.install(offline=True)
    twin.add_handler(copy.copy(handler))
    assert handler.parent is mine
    for name in ("handlers", "handle_open", "process_request", "process_response", "handle_error"):
        assert _types(vars(mine)[name]) == _types(vars(twin)[name])


def _types(handlers: object) -> object:
    """Return a table of an opener with the types of the handlers in their place."""
    if isinstance(handlers, dict):
        return {key: _types(value) for key, value in handlers.items()}
    return [type(one) for one in handlers] if isinstance(handlers, list) else handlers


def test_install_goes_before_a_handler_that_is_there() -> None:
    with running(RECORDS) as first, running(RECORDS) as second:
        install_opener(build_opener(urllib_doiuri.DOIHandler(first.url)))
        urllib_doiuri.install(second.url)
        with urlopen("doi:10.1000/182") as response:
            assert response.url.startswith(second.url)
        urllib_doiuri.uninstall()
        with urlopen("doi:10.1000/182") as response:
            assert response.url.startswith(first.url)


def test_install_again_after_urlcleanup() -> None:
    with running(RECORDS) as proxy:
        urllib_doiuri.install(proxy.url)
        urllib.request.urlcleanup()  # drops the global opener
        urllib_doiuri.install(proxy.url)
        urlopen("doi:10.1000/182").close()


def test_urlretrieve(tmp_path: Path) -> None:
    with running(RECORDS) as proxy:
        urllib_doiuri.install(proxy.url)
        path, headers = urlretrieve("doi:10.1000/182", tmp_path / "record.json")
        assert json.loads(Path(path).read_bytes())["handle"] == "10.1000/182"
        assert headers["Content-Type"].startswith("application/json")


@pytest.mark.parametrize("installed", [True, False])
def test_urlopen_of_ours_works_installed_or_not(installed: bool) -> None:
    with running(RECORDS) as proxy, running([]) as other:
        if installed:
            urllib_doiuri.install(proxy.url)
        with urllib_doiuri.urlopen("doi:10.1000/182", resolver=None if installed else proxy.url) as response:
            assert json.load(response)["handle"] == "10.1000/182"
        with urllib_doiuri.urlopen(
            f"{other.url}/api/handles/10.1000/182".replace(other.url, proxy.url)
        ) as response:
            assert response.status == 200


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize("context", [None, ssl.create_default_context()])
def test_urlopen_of_ours_keeps_the_global_openers_handlers(
    installed: bool, context: ssl.SSLContext | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with site(lambda _: Answer(200, JSON, b"{}")) as resolver:
        mine = build_opener(Stamp, ProxyHandler({}))
        mine.addheaders = [("User-Agent", "mine/1")]
        install_opener(mine)
        if installed:
            urllib_doiuri.install("http://127.0.0.1:9")
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # which this opener does not use
        before = list(vars(mine)["handlers"])
        urllib_doiuri.urlopen("doi:10.1000/182", resolver=resolver.url, context=context).close()
        headers = resolver.seen[0].headers
        assert (headers["x-stamp"], headers["user-agent"]) == ("1", "mine/1")
        assert vars(mine)["handlers"] == before
        assert all(one.parent is mine for one in before)


def test_record_request_takes_the_installed_resolver_and_any_spelling() -> None:
    with running(RECORDS) as proxy:
        urllib_doiuri.install(proxy.url)
        for doi in ("10.1000/182", "https://doi.org/10.1000/182", DOI("10.1000/182"), ShortDOI("10/p54k")):
            with urlopen(urllib_doiuri.record_request(doi, type="URL", cert=True)) as response:
                assert response.url.endswith("?type=URL&cert")
                assert json.load(response)["responseCode"] == 1


def test_record_request_works_with_any_opener() -> None:
    with running(RECORDS) as proxy:
        request = urllib_doiuri.record_request("10.1000/182", index=1, resolver=proxy.url)
        with build_opener().open(request) as response:
            assert len(json.load(response)["values"]) == 1


@pytest.mark.parametrize("name", ["resolver", "offline", "mailto"])
def test_a_wrong_setting_is_said_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=name):
        urllib_doiuri.install(**{name: "not right"})  # type: ignore[arg-type]
    monkeypatch.setenv(f"DOIURI_{name.upper()}", "not right")
    with pytest.raises(ValueError, match=f"DOIURI_{name.upper()}"):
        urllib_doiuri.install()
    assert opener() is None


def test_who_asks_is_named_unless_the_caller_names_itself() -> None:
    with site(lambda _: Answer(200, JSON, b"{}")) as resolver:
        urllib_doiuri.urlopen("doi:10.1000/1", resolver=resolver.url, mailto="me@x.example").close()
        asking = Request("doi:10.1000/1", headers={"User-Agent": "mine/1"})
        urllib_doiuri.urlopen(asking, resolver=resolver.url).close()
        own = build_opener(urllib_doiuri.DOIHandler(resolver.url))
        own.addheaders = [("User-Agent", "opener/1")]
        own.open("doi:10.1000/1").close()
    agents = [one.headers["user-agent"] for one in resolver.seen]
    assert agents[0].startswith(f"urllib-doiuri/{version('urllib-doiuri')} doiuri/{version('doiuri')} ")
    assert "mailto:me@x.example" in agents[0]
    assert agents[1:] == ["mine/1", "opener/1"]


def test_syntax_errors_survive_pickling() -> None:
    urllib_doiuri.install()
    with pytest.raises(ValueError, match="position 13") as caught:
        urlopen("doi:10.1000/x#")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
