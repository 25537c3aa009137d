"""The options that all plugins share: defaults, every form of a value, and what is said of wrong ones."""

import re
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from doiuri import DOI, __version__
from doiuri.plugins import open_resolver, user_agent
from doiuri.plugins.clients import ClientOptions
from doiuri.plugins.display import display
from doiuri.plugins.options import OPTIONS, SETTINGS, Option, Options, read_options
from doiuri.plugins.survey import tally
from doiuri.resolver import Resolver
from doiuri.rest import agency_url, record_url
from doiuri.search import Search
from doiuri.works import Work
from support.ports import refusing


def read(prefix: str = "", /, **given: object) -> Options:
    return Options.read(given, prefix, environ={})


def test_defaults() -> None:
    assert read() == Options(
        resolver="https://doi.org",
        offline=False,
        mailto=None,
        cache=None,
        resolve=True,
        timeout=10,
        budget=2,
        lock=None,
        text="name",
        link="https://doi.org",
        citation=None,
        notes=None,
        reference_style=None,
        csl_path=(),
        abbreviations=None,
        reference_locale=None,
        works=(),
    )


def test_all_values_may_be_strings() -> None:
    options = read(
        "doi_",
        doi_resolver="http://127.0.0.1:9/",
        doi_offline="yes",
        doi_mailto="me@example.org",
        doi_cache=Path("here"),
        doi_resolve="off",
        doi_timeout="2.5",
        doi_budget="3",
        doi_lock=Path("there"),
        doi_text="link",
        doi_link="https://dx.example/",
        doi_citation="number",
        doi_notes="off",
        doi_reference_style="numeric",
        doi_csl_path="styles",
        doi_abbreviations="short.json",
        doi_reference_locale="de-DE",
        doi_works="works.json",
        resolve="not ours",
    )
    assert options == Options(
        "http://127.0.0.1:9",
        True,
        "me@example.org",
        "here",
        False,
        2.5,
        3,
        "there",
        "link",
        "https://dx.example",
        "number",
        False,
        "numeric",
        ("styles",),
        "short.json",
        "de-DE",
        ("works.json",),
    )
    assert options.display(DOI("10.1000/a#b")) == "https://dx.example/10.1000/a%23b"


def test_relative_paths_of_files_start_at_the_folder_of_the_host(tmp_path: Path) -> None:
    given = {
        "lock": "doi.lock.json",
        "reference_style": "own.CSL",
        "reference_locale": str(tmp_path / "eo.xml"),
        "works": ["a.bib", "b.json"],
        "cache": "cache.sqlite",
    }
    options = Options.read(given, environ={}, folder="docs")

    assert options.files == (
        "docs/doi.lock.json",
        "docs/own.CSL",
        str(tmp_path / "eo.xml"),
        "docs/a.bib",
        "docs/b.json",
    )
    assert options.cache == "cache.sqlite"
    no_files = Options.read(
        {"lock": "", "reference_style": "numeric", "reference_locale": "de"}, environ={}, folder="x"
    )
    assert no_files.files == ()


def test_folders_of_styles_start_at_the_folder_of_the_host_and_may_be_those_of_the_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    monkeypatch.setenv("USERPROFILE", "/home/ann")
    given = {"csl_path": ["styles", "~/Zotero/styles"], "works": "~/refs.bib"}

    options = Options.read(given, environ={}, folder="docs")

    assert options.csl_path == ("docs/styles", "/home/ann/Zotero/styles")
    assert options.files == ("/home/ann/refs.bib",)


def test_none_turns_look_ups_off() -> None:
    assert read(resolve=None).resolve is False


@pytest.mark.parametrize("nothing", [None, ""])
def test_nothing_is_not_set(nothing: object) -> None:
    names = ("resolver", "offline", "mailto", "cache", "lock")
    assert read(**dict.fromkeys(names, nothing)) == read()


def test_an_option_of_one_host_has_its_own_meaning_of_none_and_says_what_it_is_for() -> None:
    option = Option("css_class", "doi", "class of `<a>`", none="")
    assert [option.read(given) for given in ({}, {"css_class": None}, {"css_class": "x"})] == [
        "doi",
        "",
        "x",
    ]
    assert option.describe() == "Class of <a> (default: doi)"
    described = {option.name: option.describe() for option in OPTIONS}
    assert described["offline"].endswith("(default: DOIURI_OFFLINE, else no)")
    assert described["lock"] == "Path of a lock file"


def test_missing_redis_py_is_an_error_before_any_store_is_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(
        ValueError, match=r"^DOIURI_CACHE: a store .* pip install 'doiuri\[redis\]'"
    ):
        Options.read({}, environ={"DOIURI_CACHE": "rediss://localhost"})


def test_a_resolver_keeps_to_the_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOIURI_RESOLVER", "http://127.0.0.1:9")
    with open_resolver(
        read(resolver="http://127.0.0.1:1/", offline=True, timeout=3, budget=4), "doiuri"
    ) as one:
        assert (one.settings.base, one.settings.offline) == ("http://127.0.0.1:1", True)
        assert (one.settings.timeout, one.settings.budget) == (3, 4)


def test_with_a_lock_file_nothing_else_is_asked(tmp_path: Path) -> None:
    lock = tmp_path / "dois.lock"
    lock.write_text("broken", encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(str(lock))):
        open_resolver(read(lock=lock), "doiuri")
    lock.unlink()
    with open_resolver(read(lock=lock), "doiuri") as resolver:
        assert resolver.settings.offline
        assert [outcome.status for outcome in resolver.check([DOI("10.1000/182")], batch=True)] == [
            "unknown"
        ]


def test_the_text_of_a_link_has_the_metadata_if_there_are_any() -> None:
    doi = DOI("10.1000/1")
    work = Work(doi, {"author": ["Kahn"], "issued": 2006})
    shown = read(text="{authors} ({year})")
    assert (shown.display(doi, work), shown.display(doi)) == ("Kahn (2006)", "doi:10.1000/1")


def test_requests_that_were_not_sent_count_as_the_failures_before_them() -> None:
    with (
        refusing() as port,
        Resolver(f"http://127.0.0.1:{port}", store=None, budget=20) as resolver,
    ):
        outcomes = resolver.check(f"10.1000/{number}" for number in range(16))
        causes = [outcome.cause for outcome in outcomes if outcome.cause]
    assert any("not asked again" in str(cause) for cause in causes)
    assert [(str(cause), count) for cause, count in tally(causes).items()] == [
        (f"127.0.0.1:{port}: Connection refused", 16)
    ]


FULL = {
    "DOIURI_RESOLVER": "http://localhost:8000/",
    "DOIURI_OFFLINE": "1",
    "DOIURI_MAILTO": "me@example.org",
    "DOIURI_CACHE": "/tmp/store",
}
IN_FULL = ("http://localhost:8000", True, "me@example.org", "/tmp/store")
GIVEN = ("https://proxy.example/doi/", False, "mailto:you@example.org", Path("here"))
AS_GIVEN = ("https://proxy.example/doi", False, "you@example.org", "here")
BY_DEFAULT = ("https://doi.org", False, None, None)


@pytest.mark.parametrize(
    ("given", "environ", "settings"),
    [
        ((), {}, BY_DEFAULT),
        ((), FULL, IN_FULL),
        (GIVEN, FULL, AS_GIVEN),
        ((), dict.fromkeys(FULL, ""), BY_DEFAULT),
        (("", None, "", ""), FULL, IN_FULL),
    ],
    ids=["defaults", "environment", "options", "empty variables", "empty options"],
)
def test_an_option_wins_over_its_variable_and_empty_ones_do_not_count(
    given: tuple[Any, ...], environ: dict[str, str], settings: tuple[Any, ...]
) -> None:
    names = ("resolver", "offline", "mailto", "cache")
    values = read_options(SETTINGS, dict(zip(names, given, strict=False)), environ=environ)
    assert values == dict(zip(names, settings, strict=True))


def test_user_agent() -> None:
    own = f"doiuri/{__version__} (+https://github.com/doiuri/doiuri)"
    assert user_agent() == own
    assert user_agent("sphinx-doiuri") == f"sphinx-doiuri/0.1.0 {own}"
    assert user_agent("doiuri", "me@example.org").endswith("; mailto:me@example.org)")


DOORS_OF_BASES: dict[str, Callable[[str], object]] = {
    "the option": lambda base: Options.read({"resolver": base}, environ={}),
    "the variable": lambda base: Options.read({}, environ={"DOIURI_RESOLVER": base}),
    "link": lambda base: DOI("10.1000/182").link(base),
    "display": lambda base: display(DOI("10.1000/182"), "link", base=base),
    "record_url": lambda base: record_url(DOI("10.1000/182"), base=base),
    "agency_url": lambda base: agency_url([DOI("10.1000/182")], base=base),
    "Resolver": Resolver,
    "clients": ClientOptions.read,
    "Crossref": lambda base: Search(Resolver(offline=True), crossref=base),
    "DataCite": lambda base: Search(Resolver(offline=True), datacite=base),
}


@pytest.mark.parametrize(
    "base", ["http://müller.example/", "http://１２７.0.0.1", "http://a.example/ü"]
)
def test_bases_beyond_ascii_are_refused_everywhere_alike(base: str) -> None:
    """HTTP clients differ in what they make of them, some raise UnicodeError."""
    for door in DOORS_OF_BASES.values():
        with pytest.raises(ValueError, match="is not ASCII: write its host as xn--…"):
            door(base)


@pytest.mark.parametrize("door", DOORS_OF_BASES.values(), ids=DOORS_OF_BASES)
def test_a_base_has_a_scheme_a_host_and_a_path_and_nothing_else(
    door: Callable[[str], object],
) -> None:
    """What follows it would be part of a query or a fragment, and empty parts are parts, too."""
    for scheme, host, path in product(
        ("http://", "https://"), ("127.0.0.1:9", "[::1]"), ("", "/a/")
    ):
        door(f"{scheme}{host}{path}")
        for part in ("?", "?a", "?a=b", "#", "#a", "?#", "?a#b", "#a?b"):
            with pytest.raises(ValueError, match="neither query nor fragment"):
                door(f"{scheme}{host}{path}{part}")
        for user in ("@", ":@", "me@", "me:pass@", ":pass@"):
            with pytest.raises(ValueError, match="neither user nor password"):
                door(f"{scheme}{user}{host}{path}")


@pytest.mark.parametrize("door", DOORS_OF_BASES.values(), ids=DOORS_OF_BASES)
@pytest.mark.parametrize(
    "base",
    ["127.0.0.1", "//127.0.0.1", "http:", "http:///a", "ftp://127.0.0.1", "mailto:127.0.0.1"],
)
def test_a_base_lacks_neither_its_scheme_nor_its_host(
    door: Callable[[str], object], base: str
) -> None:
    with pytest.raises(ValueError, match="is not an http or https URL"):
        door(base)
