"""The options that all plugins share: defaults, every form of a value, and what is said of wrong ones."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from doiuri import DOI
from doiuri.plugins import Options, Settings, common_cause, open_resolver, tally
from doiuri.records import Work
from doiuri.resolver import Cause, Resolver
from support.ports import refusing


def read(prefix: str = "", /, **given: object) -> Options:
    return Options.read(given, prefix, environ={})


def test_defaults() -> None:
    assert (
        read()
        == Options(Settings())
        == Options(Settings(), "records", 10, 2, None, "name", "https://doi.org")
    )


def test_strings_will_do() -> None:
    options = read(
        "doi_",
        doi_resolver="http://127.0.0.1:9/",
        doi_offline="yes",
        doi_mailto="me@example.org",
        doi_cache=Path("here"),
        doi_resolve="existence",
        doi_timeout="2.5",
        doi_budget="3",
        doi_lock=Path("there"),
        doi_text="link",
        doi_link="https://dx.example/",
        resolve="not ours",
    )
    settings = Settings("http://127.0.0.1:9", True, "me@example.org", "here")
    assert options == Options(settings, "existence", 2.5, 3, "there", "link", "https://dx.example")
    assert options.display(DOI("10.1000/a#b")) == "https://dx.example/10.1000/a%23b"


@pytest.mark.parametrize("off", [False, None, 0, "", "no", "False", "off", "none"])
def test_resolving_is_turned_off_by_any_no(off: object) -> None:
    assert read(resolve=off).resolve is False


@pytest.mark.parametrize("on", [True, "records", "yes", "1"])
def test_yes_is_records(on: object) -> None:
    assert read(resolve=on).resolve == "records"


@pytest.mark.parametrize("nothing", [None, ""])
def test_nothing_is_not_set(nothing: object) -> None:
    names = ("resolver", "offline", "mailto", "cache", "lock")
    assert read(**dict.fromkeys(names, nothing)) == Options(Settings())


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("resolver", "doi.org", "'doi.org' is not an http or https URL"),
        ("resolver", 7, "7 is not a string"),
        ("offline", "perhaps", "'perhaps' is neither true"),
        ("offline", 2, "2 is not a string"),
        ("mailto", "me", "'me' is not a mail address"),
        ("cache", "foo://x", "no store is known for foo:"),
        ("cache", "redis://me:secret@localhost:port", "not a URL of a Redis server"),
        ("cache", 1, "1 is not a string"),
        ("lock", [], "[] is not a string"),
        ("resolve", "record", '\'record\' is not "records", "existence" or False'),
        ("timeout", True, "True is not a number of seconds"),
        ("timeout", "soon", "'soon' is not a number of seconds"),
        ("budget", float("nan"), "nan is not a number of seconds"),
        ("budget", 0, "0 is not a number of seconds"),
        ("text", "{nam}", "not a template for DOIs: '{nam}'"),
        ("link", "ftp://doi.org", "'ftp://doi.org' is not an http or https URL"),
        ("link", "https://doi.org/?", "'https://doi.org/?' must have neither"),
    ],
)
def test_wrong_values_are_named_as_the_user_knows_them(name: str, value: Any, said: str) -> None:
    for prefix in ("", "doi_"):
        with pytest.raises(ValueError, match=re.escape(said)) as caught:
            read(prefix, **{prefix + name: value})
        assert str(caught.value).startswith(f"{prefix}{name}: {said}")
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("DOIURI_RESOLVER", "doi.org"),
        ("DOIURI_OFFLINE", "perhaps"),
        ("DOIURI_MAILTO", "me"),
        ("DOIURI_CACHE", "foo://x"),
    ],
)
def test_a_wrong_variable_is_named_and_the_option_wins(variable: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"^{variable}: "):
        Options.read({}, "doi_", {variable: value})
    rest = {
        "resolver": "https://doi.org",
        "offline": False,
        "mailto": "me@example.org",
        "cache": ":memory:",
    }
    Options.read(rest, environ={variable: value})


def test_a_missing_redis_py_is_told_before_any_store_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(ValueError, match=r"^DOIURI_CACHE: a store .* pip install 'doiuri\[redis\]'"):
        Options.read({}, environ={"DOIURI_CACHE": "rediss://localhost"})


def test_a_resolver_keeps_to_the_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOIURI_RESOLVER", "http://127.0.0.1:9")
    with open_resolver(
        read(resolver="http://127.0.0.1:1/", offline=True, timeout=3, budget=4), "doiuri"
    ) as one:
        assert (one.base, one.offline, one.timeout, one.budget) == ("http://127.0.0.1:1", True, 3, 4)


def test_with_a_lock_file_nothing_else_is_asked(tmp_path: Path) -> None:
    lock = tmp_path / "dois.lock"
    lock.write_text("broken", encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(str(lock))):
        open_resolver(read(lock=lock), "doiuri")
    lock.unlink()
    with open_resolver(read(lock=lock), "doiuri") as resolver:
        assert resolver.offline
        assert [outcome.status for outcome in resolver.verify([DOI("10.1000/182")])] == ["unknown"]


def test_options_of_references() -> None:
    options = read("doi_", doi_citation="number", doi_reference_style="ieee", doi_reference_locale="de-DE")
    assert (options.citation, options.reference_style, options.reference_locale) == (
        "number",
        "ieee",
        "de-DE",
    )
    assert (read().citation, read().reference_style, read().reference_locale) == (
        "author-year",
        "apa",
        "en-US",
    )
    doi = DOI("10.1000/1")
    work = Work(doi, {"author": ["Kahn"], "issued": 2006})
    shown = read(text="{authors} ({year})")
    assert (shown.display(doi, work), shown.display(doi)) == ("Kahn (2006)", "doi:10.1000/1")


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("citation", "numbers", '\'numbers\' is not "author-year" or "number"'),
        ("citation", 1, "1 is not"),
        ("reference_style", "apa; x", "'apa; x' is not the name of a CSL style, such as apa"),
        ("reference_style", 7, "7 is not a string"),
        ("reference_locale", "en_US", "'en_US' is not a locale such as en-US"),
    ],
)
def test_wrong_options_of_references(name: str, value: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=f"^doi_{name}: {re.escape(complaint)}"):
        read("doi_", **{f"doi_{name}": value})


def test_requests_that_were_not_sent_count_as_the_failures_before_them() -> None:
    with refusing() as port, Resolver(f"http://127.0.0.1:{port}", store=None, budget=20) as resolver:
        causes = [one.cause for one in resolver.check([f"10.1000/{n}" for n in range(60)]) if one.cause]
    assert any("not asked again" in str(cause) for cause in causes)
    assert [(str(cause), count) for cause, count in tally(causes).items()] == [
        (f"127.0.0.1:{port}: Connection refused", 60)
    ]


@pytest.mark.parametrize(
    ("statuses", "told"),
    [([429, 503, 503], "503"), ([429, 503], "429"), ([503, 429, 429, 503], "503")],
)
def test_the_most_frequent_cause_is_told_or_the_first(statuses: list[int], told: str) -> None:
    assert str(common_cause(Cause("status", status=n, detail=str(n)) for n in statuses)) == told
