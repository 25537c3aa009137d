"""The shared cases in each of Markdown's forms: every link leads to the DOI in the source."""

import re

import pytest
from doiuri import DOI, find
from support.cases import accepted

from .conftest import Render
from .page import Page

NAMES = sorted({case.name for case in accepted() if case.name is not None})

URI_FORMS = {
    "bare": "see {} there",
    "bare, emphasized": "see **{}** there",
    "autolink": "see <{}> there",
    "link": "[title]({})",
    "link in angle brackets": "[title](<{}>)",
    "link without text": "[]({})",
    "reference": "[title][ref]\n\n[ref]: {}",
    "heading": "# On <{}>",
    "list": "- <{}>",
    "table": "a | b\n--|--\n<{}> | c",
    "footnote": "Text[^1]\n\n[^1]: <{}>",
    "definition": "term\n:   <{}>",
}
# in running text, punctuation and white space at the end are not part of the name
OPEN_ENDED = re.compile(r"[\W_]$")
# these have a meaning in Markdown, so they need a backslash or an entity
ESCAPES = str.maketrans(
    {"\\": "\\\\", "`": "\\`", "*": "\\*", "[": "\\[", "]": "\\]", "<": "&lt;", "&": "&amp;"}
)
# names that running text can contain, in any syntax
TYPED = [name for name in NAMES if [match.doi.name for match in find(f"see doi:{name} there")] == [name]]


@pytest.mark.once
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_as_uri(name: str, render: Render) -> None:
    doi = DOI(name)
    for form, text in URI_FORMS.items():
        if form.startswith("bare") and (OPEN_ENDED.search(name) or OPEN_ENDED.search(doi.uri)):
            continue  # an autolink is one of the other forms
        rendered = render(text.format(doi.uri), "extra")
        ours = [link for link in Page(rendered.html).links if "doi" in link[1].split()]
        assert [href for href, _, _ in ours] == [doi.url], form
        if form == "link without text":
            assert ours[0][2] == f"doi:{name}"
        assert rendered.problems == [], form


@pytest.mark.parametrize("name", TYPED, ids=ascii)
def test_as_name(name: str, render: Render) -> None:
    page = Page(render(f"see doi:{name.translate(ESCAPES)} there").html)
    assert [doi.name for doi in page.dois] == [name]
    assert [text for _, _, text in page.links] == [f"doi:{name}"]


def test_most_names_can_be_typed() -> None:
    assert len(TYPED) > len(NAMES) / 2
