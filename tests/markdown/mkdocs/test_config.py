"""The options in ``mkdocs.yml``."""

from __future__ import annotations

import logging

import pytest
from mkdocs.exceptions import Abort

from .conftest import MakeSite


def test_an_unknown_option_is_reported(site: MakeSite) -> None:
    built = site({"index.md": ""})
    built.build(plugins=[{"doiuri": {"resolv": "records", "bibliografy": "x.md"}}])
    for name, meant in [("resolv", "resolve"), ("bibliografy", "bibliography")]:
        message = f"option '{name}': Unrecognised configuration name: {name}; did you mean {meant}?"
        assert message in built.log.text


def test_an_invalid_variable_is_reported_once(site: MakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOIURI_RESOLVER", "ftp://example.org")
    built = site({"index.md": ""})
    with pytest.raises(Abort):
        built.build()
    assert built.log.text.count("doiuri: DOIURI_RESOLVER: ") == 1


@pytest.mark.parametrize("name", ["doiuri", "markdown_doiuri"])
def test_the_extension_may_be_listed_too(name: str, site: MakeSite) -> None:
    built = site({"index.md": "See doi:10.1000/182"})
    built.build(markdown_extensions=[name], plugins=[{"doiuri": {"resolve": False, "css_class": "mine"}}])
    assert (
        built.page("index.html").links.count(("https://doi.org/10.1000/182", "mine", "doi:10.1000/182")) == 1
    )


def test_the_extension_with_options_of_its_own_is_an_error(site: MakeSite) -> None:
    built = site({"index.md": ""})
    with pytest.raises(Abort):
        built.build(markdown_extensions=[{"doiuri": {"text": "link"}}])
    assert built.log.records[-1].levelno == logging.ERROR
    assert '"doiuri" is in markdown_extensions too, with options' in built.log.text


@pytest.mark.parametrize("path", ["references.html", "/references.md", "../references.md", 1])
def test_the_page_of_references_is_a_page(path: object, site: MakeSite) -> None:
    built = site({"index.md": ""})
    with pytest.raises(Abort):
        built.build(plugins=[{"doiuri": {"bibliography": path}}])
    assert f"option 'bibliography': {path!r} is not the path of a page in docs_dir" in built.log.text
