"""Agencies that do not send metadata: strict builds pass, with links in place of citations."""

from __future__ import annotations

import logging
import re

import pytest
from support.references import RECORDS
from support.servers.faults import Fault
from support.servers.metadata import UNAVAILABLE, WEB_PAGE, faulty_agency

from ..page import Page
from .conftest import MakeSite, Site

KAHN, THREE = "10.5555/kahn-2006", "10.5555/three"
PAGES = {
    "index.md": f"# A\n\n[@doi:{KAHN}; @doi:{THREE}]\n\ndoi:10.5555/kahn-a\n",
    "b.md": f"# B\n\n@doi:{THREE}\n",
    "c.md": f"# C\n\ndoi:{KAHN}\n",
}
PLUGIN = {"bibliography": "references.md", "budget": 20}


def check_links(built: Site, *listed: str) -> None:
    """Check that the citations on the pages are links, and so is what is listed."""
    links = [built.page(name).links for name in ("index.html", "b/index.html")]
    texts = [[text for href, _, text in found if href.startswith("https://doi.org/")] for found in links]
    assert texts == [[f"doi:{KAHN}", f"doi:{THREE}", "doi:10.5555/kahn-a"], [f"doi:{THREE}"]]
    entries = re.findall(
        "<li>(.*)</li>", built.source("references/index.html").partition("doi-references")[2]
    )
    assert [Page(entry).text for entry in entries] == [f"doi:{name}" for name in listed]


@pytest.mark.parametrize("fault", UNAVAILABLE, ids=str)
def test_metadata_that_cannot_be_had_is_counted_once(
    fault: Fault, site: MakeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = site(PAGES)
    with faulty_agency(RECORDS, fault) as proxy:
        monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
        built.build(plugins=[{"doiuri": PLUGIN}], strict=True)
    check_links(built, KAHN, THREE)
    assert built.messages() == []
    [message] = built.messages(logging.INFO)
    assert message.startswith("2 of 3 DOIs could not be checked: ")


def test_a_web_page_is_no_metadata(site: MakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    built = site(PAGES)
    with faulty_agency(RECORDS, WEB_PAGE) as proxy:
        monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
        built.build(plugins=[{"doiuri": PLUGIN}])
    check_links(built)
    for name in (KAHN, THREE):
        assert sum(f"doi:{name}: cited without its author" in message for message in built.messages()) >= 1
    assert built.messages(logging.INFO) == []
