"""How links look on a site: the list of references and the search."""

from __future__ import annotations

import json
import re

import pytest
from doiuri import DOI

from .conftest import MakeSite

CSL = "application/vnd.citationstyles.csl+json"
LONG = "10.1002/(SICI)1522-2594(199911)42:5<952::AID-MRM16>3.0.CO;2-S"
PARTS = "10.1002/|(SICI)|1522-2594|(199911)|42:|5|&lt;952:|:|AID-MRM16&gt;|3.|0.|CO;|2-S"
BROKEN = PARTS.replace("|", "<wbr />")
LINK = BROKEN.replace("<wbr />&lt;", "%3C").replace("&gt;<wbr />", "%3E")
DATA = {"format": "string", "value": "https://example.org/"}
CITED = {
    CSL: {"author": [{"family": "Kahn"}], "issued": {"date-parts": [[2006]]}, "title": "First"},
}
RECORDS = [{"handle": LONG, "values": [{"index": 1, "type": "URL", "data": DATA}], "metadata": CITED}]
PAGES = {
    "index.md": f"# Start\n\n@{{doi:{LONG}}} <doi:{LONG}>\n\n"
    "doi:10.1000/lost, [*a* title](doi:10.1000/lost), [@doi:10.1000/lost]\n\n"
    f"## About <doi:{LONG}>\n\nEnd",
}
LIST = [{"doiuri": {"bibliography": "references.md"}}]
pytestmark = [pytest.mark.doi_records(RECORDS), pytest.mark.usefixtures("resolver")]


def test_long_names_in_the_list_of_a_site_may_be_broken(site: MakeSite) -> None:
    built = site(PAGES)
    built.build(plugins=LIST)
    assert f">https://<wbr />doi.org/<wbr />{LINK}</a>" in built.source("references/index.html")


def test_the_search_knows_whole_names(site: MakeSite) -> None:
    built = site(PAGES)
    built.build(plugins=["search", *LIST])
    index = built.source("index.html")
    assert index.count(f">doi:{BROKEN}</a>") == 2
    entries = json.loads(built.source("search/search_index.json"))["docs"]
    assert {entry["location"].partition("#")[0] for entry in entries if LONG in entry["text"]} == {""}
    assert [entry["location"] for entry in entries if DOI(LONG).url in entry["text"]]
    assert not any("10.1002/ (" in entry["text"] for entry in entries)


HOOK = """
def on_page_context(context, page, config, nav):
    page.content = page.content.replace("End", "Changed")
"""


def test_what_other_plugins_change_meanwhile_stays(site: MakeSite) -> None:
    built = site(PAGES)
    (built.folder / "hook.py").write_text(HOOK, "utf-8")
    built.build(plugins=LIST, hooks=["hook.py"])
    index = built.source("index.html")
    assert "<p>Changed</p>" in index
    assert re.search(r"doi:10\.1002/(<wbr />)?\(SICI\)", index)
