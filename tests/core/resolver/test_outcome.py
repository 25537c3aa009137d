"""What a notebook shows of an Outcome: a small table, in which everything is escaped."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from doiuri import DOI, Record
from doiuri.records import Data, Value, Work
from doiuri.resolver import Cause, Outcome

X = DOI("10.1000/x")
HOSTILE = "</td><script>alert('1')</script>\"&amp;\ud800"


def shown(outcome: Outcome) -> str:
    html = outcome._repr_html_()
    assert html.encode()
    return html


def test_what_is_known_has_a_row() -> None:
    record = Record(X, [Value(1, "URL", Data("string", "https://a.example/?a=1&b=2"))])
    assert shown(Outcome(X, "found", record, "Crossref", stale=True)) == (
        '<table><caption><a href="https://doi.org/10.1000/x">doi:10.1000/x</a></caption><tbody>'
        "<tr><th>status</th><td>found (stale)</td></tr><tr><th>agency</th><td>Crossref</td></tr>"
        '<tr><th>URL</th><td><a href="https://a.example/?a=1&amp;b=2">https://a.example/?a=1&amp;b=2</a></td></tr>'
        "</tbody></table>"
    )


def test_unknown_values_have_no_row() -> None:
    offline = Outcome(X, "unknown", cause=Cause("offline", detail="offline: request not sent"))
    rows = [shown(outcome).count("<tr>") for outcome in (offline, Outcome(X, "found", Record(X, [])))]
    assert rows == [2, 1]


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(None, "invalid", text=HOSTILE, cause=Cause("invalid", detail=HOSTILE)),
        Outcome(DOI("10.1000/</a><script>'\""), "found", agency=HOSTILE),
        Outcome(X, "found", Record(X, [Value(1, "URL", Data("string", "javascript:alert(1)"))])),
        Outcome(X, "found", Record(X, [Value(1, "URL", Data("string", "https://a.example/'\"><script>"))])),
        Outcome(X, "found", work=Work(X, {"title": "&lt;script&gt; <x onclick=alert(1)>"})),
    ],
)
def test_hostile_answers_are_text(outcome: Outcome) -> None:
    table = ElementTree.fromstring(shown(outcome))
    assert {element.tag for element in table.iter()} <= {"table", "caption", "tbody", "tr", "th", "td", "a"}
    links = [element.attrib for element in table.iter() if element.attrib]
    assert all([*link] == ["href"] and link["href"].startswith("https://") for link in links)


def test_long_texts_are_cut() -> None:
    long = "x" * 1_000_000
    assert len(shown(Outcome(None, "invalid", text=long, cause=Cause("invalid", detail=long)))) < 700
