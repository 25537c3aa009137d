"""Where works come from: files, lock file, resolver; and what is said if there are none."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import markdown
import markdown_doiuri
import pytest
from support.checks import assert_same, assert_times, only
from support.references import RECORDS, RETRACTED
from support.servers.faults import Fault
from support.servers.metadata import UNAVAILABLE, WEB_PAGE, faulty_agency

from .conftest import Page, Render, Serve

WORKS = [
    {
        "id": "knuth1984",
        "type": "book",
        "title": "The <i>T<sub>E</sub>X</i>book",
        "author": [{"family": "Knuth", "given": "Donald"}],
        "issued": {"date-parts": [[1984]]},
        "URL": "https://example.org/?a=1&b=2",
    },
    {
        "id": "bad",
        "title": "Mean",
        "URL": "javascript:alert(1)",
        "author": [{"family": "<b onclick=x>"}],
    },
    {"id": "kahn", "DOI": "10.5555/KAHN-a", "author": [{"family": "Kahn", "given": "Robert"}]},
]
NO_METADATA = "cited without its author and year: its agency has no metadata"


@pytest.fixture
def works(tmp_path: Path) -> str:
    file = tmp_path / "works.json"
    file.write_text(json.dumps(WORKS))
    return str(file)


@pytest.fixture(autouse=True)
def _info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="doiuri")


def test_works_of_a_file_are_cited_by_their_ids(works: str, serve: Serve, render: Render) -> None:
    serve(RECORDS)
    source = "[see @knuth1984, p. 3; @doi:10.5555/kahn-b], @knuth1984 [ch. 2], @{kahn}s, @nobody, x@kahn, [@bad]"
    rendered = render(source, resolve=True, works=[works], nocite=["@kahn; 10.5555/three"])
    citations = re.findall('<span class="doi-citation">.*?</span>', rendered.html)
    assert [Page(span).text for span in citations] == [
        *("(Kahn, 2001b; see Knuth, 1984, p. 3)", "Knuth (1984, chap. 2)", "Kahn (2001a)"),
        "(Mean, n.d.)",
    ]
    assert "@nobody, x@kahn" in rendered.html
    entries = re.findall(r'<li class="csl-entry" id="ref-(.*?)">(.*?)(?= <a|</li>)', rendered.html)
    assert [name for name, _ in entries] == [
        *("10.5555_2fthree", "10.5555_2fkahn-a", "10.5555_2fkahn-b", "knuth1984", "bad")
    ]
    texts = dict(entries)
    assert texts["10.5555_2fkahn-a"] == "Kahn, R. (2001a). <em>Alpha</em>."
    assert texts["knuth1984"] == "Knuth, D. (1984). <em>The </em>T<sub>E</sub>X<em>book</em>."
    assert (
        '<a href="https://example.org/?a=1&amp;b=2">https://example.org/?a=1&amp;b=2</a>'
        in rendered.html
    )
    assert "javascript" not in rendered.html
    assert rendered.problems == []


def test_a_problem_with_nocite_is_reported_once_with_its_place(
    serve: Serve, render: Render
) -> None:
    serve(RECORDS)
    source = "[@doi:10.5555/three]\n\n`10.5555/dead`"
    rendered = render(source, resolve=True, nocite=["10.5555/dead; 10.5555/no-metadata"])
    assert rendered.told == [
        "nocite: doi:10.5555/dead: not found",
        f"nocite: doi:10.5555/no-metadata: {NO_METADATA}",
    ]


def test_what_nocite_misspells_is_a_problem_and_the_others_are_listed(
    works: str, serve: Serve, render: Render
) -> None:
    serve(RECORDS)
    nocite = ["@knuth1985; 10.5555/three", "10.1000", "@kahn"]
    rendered = render("///References Go Here///", resolve=True, works=works, nocite=nocite)
    assert re.findall('id="ref-([^"]*)"', rendered.html) == ["10.5555_2fthree", "10.5555_2fkahn-a"]
    assert rendered.told == [
        "nocite: @knuth1985: no file of works has the id 'knuth1985'; did you mean 'knuth1984'?",
        'nocite: 10.1000: no "/" after the prefix',
    ]
    without_list = render("x", works=works, nocite=nocite)
    assert without_list.told == []


def test_what_the_metadata_misspell_is_a_problem_of_each_document() -> None:
    told: list[str] = []
    doiuri = markdown_doiuri.DOIExtension(
        resolve=False, warn=lambda problem: told.append(str(problem))
    )
    md = markdown.Markdown(extensions=["meta", doiuri])

    for _ in range(2):
        md.convert("nocite: 10.1000\n\nText")

    assert told == ['nocite: 10.1000: no "/" after the prefix'] * 2


def test_nocite_can_be_all_works_of_the_files(works: str, render: Render) -> None:
    html = render("[@kahn]", works=works, nocite="*").html
    assert re.findall('id="ref-([^"]*)"', html) == ["10.5555_2fkahn-a", "knuth1984", "bad"]
    problem = only("problem", render("[@doi:10.1000/1]", nocite="*").told)
    assert problem == "nocite: *: there are no files of works; name them in the option works"


LINKS = """\
@doi:10.5555/three, doi:10.5555/kahn-b, [Alpha](doi:10.5555/kahn-a),
[dead](doi:10.5555/dead), <a href="https://doi.org/10.5555/kahn-2006">raw</a>,
[](https://doi.org/10.5555/berg-1999), doi:10.5555/no-metadata, doi:10.5555/three and `doi:10.5555/humboldt-1845`
"""


@pytest.mark.parametrize(
    ("citation", "listed"),
    [
        ("number", ["three", "kahn-b", "kahn-a", "berg-1999", "kahn-2006"]),
        ("author-year", ["kahn-a", "three", "kahn-b", "kahn-2006", "berg-1999"]),
    ],
)
def test_works_that_are_linked_are_listed_after_those_that_are_cited(
    citation: str, listed: list[str], serve: Serve, render: Render
) -> None:
    serve(RECORDS)
    rendered = render(LINKS, resolve=True, citation=citation, list_links=True)
    assert re.findall('id="ref-10.5555_2f([^"]*)"', rendered.html) == listed
    assert_times(1, 'class="doi-backref"', rendered.html)
    assert '<a class="doi" href="https://doi.org/10.5555/kahn-a">Alpha</a>' in rendered.html
    assert rendered.told == [
        "line 2: doi:10.5555/dead: not found",
        "line 3: doi:10.5555/no-metadata: not in the list of references: its agency has no metadata",
    ]


@pytest.mark.parametrize(
    ("source", "options", "lists"),
    [
        ("doi:10.5555/three", {}, 0),
        ("doi:10.5555/three", {"list_links": True}, 1),
        ("doi:10.5555/three", {"list_links": True, "citations": False}, 0),
        ("doi:10.5555/dead", {"list_links": True}, 0),
    ],
)
def test_a_page_without_citations_has_a_list_if_its_links_are_listed(
    source: str, options: dict[str, bool], lists: int, serve: Serve, render: Render
) -> None:
    serve(RECORDS)
    assert_times(lists, "doi-references", render(source, resolve=True, **options).html)


@pytest.mark.parametrize(("source", "lists"), [("x", 0), ("///References Go Here///", 1)])
def test_without_a_citation_or_a_place_there_is_no_list(
    source: str, lists: int, serve: Serve, render: Render
) -> None:
    serve(RECORDS)
    html = render(source, resolve=True, nocite=["10.5555/three"]).html
    assert html.count("doi-references") == html.count('id="ref-10.5555_2fthree"') == lists


def test_an_unknown_id_in_brackets_is_a_problem_if_there_are_files(
    works: str, render: Render
) -> None:
    source = "[see @knuth1985, p. 3] and [Figure 3] and @{knuth1985} and @knuth1985"
    rendered = render(source, works=works)
    reason = "no file of works has the id 'knuth1985'; did you mean 'knuth1984'?"
    assert rendered.told == [
        f"line 1: {text}: {reason}" for text in ("see @knuth1985, p. 3", "@{knuth1985}")
    ]
    without = render(source)
    assert rendered.html == without.html == f"<p>{source}</p>"
    assert without.problems == []
    assert "<p>[@knuth1984; <span" in render("[@knuth1984; @doi:10.1000/1]").html


@pytest.mark.parametrize("source", ["[@a]", "Nothing"])
def test_all_works_with_problems_are_problems_of_the_document(
    source: str, tmp_path: Path, render: Render
) -> None:
    path = tmp_path / "works.json"
    path.write_text('[{"id": "a", "title": "A"},\n3,\n{"title": "B"}]')

    rendered = render(source, works=str(path))

    assert [text.partition(": ")[2].partition(": ")[0] for text in rendered.told] == [
        f"{path}:2",
        f"{path}:3",
    ]


@pytest.mark.parametrize("text", ["<!-- {} -->", '<b title="{}">x</b>', "<?php {} ?>"])
@pytest.mark.parametrize("cited", ["[@knuth1985]", "@{knuth1985}"])
def test_an_unknown_id_in_raw_html_is_no_problem(
    text: str, cited: str, works: str, render: Render
) -> None:
    source = f"On {text.format(cited)} and @knuth1984"
    assert render(source, works=works).problems == []


WRONG: dict[str, tuple[str, str]] = {
    "works": ("{0}/none.json", "{0}/none.json: cannot be read"),
    "works ": ("a\0b.json", "'a\\x00b.json' is not a path"),
    "reference_style": ("{0}/bad.csl", "{0}/bad.csl:1: <style>: is not an element of CSL"),
    "reference_locale": ("xx", "there is no locale 'xx', only ar, cs-CZ"),
    "citation": ("numbers", "'numbers' is not"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_option_is_an_error_that_names_it(
    name: str, tmp_path: Path, render: Render
) -> None:
    (tmp_path / "bad.csl").write_text("<style>\n<")
    value, message = WRONG[name]
    with pytest.raises(ValueError, match=f"^{name.strip()}: {re.escape(message.format(tmp_path))}"):
        render("", resolve=True, **{name.strip(): value.format(tmp_path)})


KAHN, NOTHING, DEAD = "10.5555/kahn-2006", "10.5555/no-metadata", "10.5555/dead"
SOURCE = (
    f"[@doi:{KAHN}; @doi:{NOTHING}]\n\n@doi:{DEAD} and doi:{KAHN}\n\n[@doi:{NOTHING}; @doi:{DEAD}]"
)


def test_what_has_no_metadata_is_a_plain_link_with_one_warning(
    serve: Serve, render: Render
) -> None:
    serve(RECORDS)
    rendered = render(SOURCE, resolve=True)
    plain = f'<a class="doi" href="https://doi.org/{NOTHING}">doi:{NOTHING}</a>'
    dead = (
        f'<a class="doi doi-not-found" href="https://doi.org/{DEAD}" title="This DOI was not found.">'
        f"<s>doi:{DEAD}</s></a>"
    )
    assert_times(2, plain, rendered.html)
    assert f'<p><span class="doi-citation">{dead}</span> and' in rendered.html
    assert_times(2, dead, rendered.html)
    assert rendered.told == [
        f"line 1: doi:{NOTHING}: {NO_METADATA}",
        f"line 3: doi:{DEAD}: not found",
        f"line 5: doi:{DEAD}: not found",
    ]


def test_a_retracted_work_is_marked_with_one_warning(serve: Serve, render: Render) -> None:
    serve([RETRACTED])
    rendered = render("[@doi:10.5555/gone] and @doi:10.5555/gone", resolve=True)
    mark = '<a class="doi" href="https://doi.org/10.5555/notice">[retracted 2020-06-05]</a>'
    assert f"https://doi.org/10.5555/gone</a> {mark}" in rendered.html
    assert_times(1, "[retracted", rendered.html)
    assert rendered.told == [
        "line 1: doi:10.5555/gone: retracted 2020-06-05; notice 10.5555/notice"
    ]


def test_what_is_unknown_is_a_link_in_its_brackets_and_in_the_list_and_counted_once_a_document(
    render: Render, caplog: pytest.LogCaptureFixture
) -> None:
    rendered = [render(SOURCE, resolve=True, offline=True) for _ in range(2)]
    assert rendered == [render(SOURCE)] * 2
    links = [
        f'<a class="doi" href="https://doi.org/{name}">doi:{name}</a>'
        for name in (KAHN, NOTHING, DEAD)
    ]
    assert f'<span class="doi-citation">({links[0]}; {links[1]})</span>' in rendered[0].html
    assert re.findall('<li class="csl-entry">(.*)</li>', rendered[0].html) == links
    assert rendered[0].problems == []
    message = "3 of 3 DOIs could not be checked: offline: request not sent"
    assert caplog.record_tuples == [("doiuri", logging.INFO, message)] * 2


@pytest.mark.parametrize("fault", UNAVAILABLE, ids=str)
def test_metadata_that_cannot_be_had_is_counted_once(
    fault: Fault, render: Render, caplog: pytest.LogCaptureFixture
) -> None:
    """Pages need no cards: the DOI that is only linked is not counted."""
    source = f"[@doi:{KAHN}; @doi:{NOTHING}]\n\ndoi:10.5555/kahn-a"
    with faulty_agency(RECORDS, fault) as proxy:
        rendered = render(source, resolve=True, resolver=proxy.url, budget=15, details=True)
    alone = render(source)
    assert_same("the page, as without a network", rendered.html, alone.html)
    assert rendered == alone
    assert_times(
        5, '<a class="doi" href="https://doi.org/', rendered.html
    )  # two of them in the list
    message = only("message", caplog.messages)
    assert message.startswith("2 of 3 DOIs could not be checked: ")


def test_a_web_page_is_no_metadata(render: Render, caplog: pytest.LogCaptureFixture) -> None:
    with faulty_agency(RECORDS, WEB_PAGE) as proxy:
        rendered = render(f"[@doi:{KAHN}]", resolve=True, resolver=proxy.url)
    alone, _, _ = render(f"[@doi:{KAHN}]").html.partition("\n<div")
    assert_same("the page, as without metadata", rendered.html, alone)
    assert rendered.told == [f"line 1: doi:{KAHN}: {NO_METADATA}"]
    assert caplog.messages == []


def test_a_lock_file_gives_the_same_page_offline_and_without_resolving(
    tmp_path: Path, serve: Serve, render: Render, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOIURI_RESOLVER", "https://doi.org")  # which no request is sent to
    lock = tmp_path / "doi.lock.json"
    serve(RECORDS)
    assert (
        "#ref-" not in render(SOURCE, lock=lock).html
    )  # without resolving, the file only is asked
    first = render(SOURCE, resolve=True, lock=lock)  # the page before is not believed
    assert_times(1, "#ref-", first.html)
    content = lock.read_bytes()
    for options in ({"resolve": True, "offline": True}, {"resolve": False}):
        markdown_doiuri.forget()
        serve([])  # whoever asks now hears that no DOI exists
        assert render(SOURCE, lock=str(lock), **options) == first, options
        assert lock.read_bytes() == content, options


@pytest.mark.parametrize(
    "source", ["[](doi:{})", "[](<https://doi.org/{}>)", "[](https://dx.doi.org/{})"]
)
def test_texts_may_use_the_work(source: str, serve: Serve, render: Render) -> None:
    serve(RECORDS)
    options = {"resolve": True, "text": "{authors} ({year}): {title}"}
    assert (
        ">Kahn et al. (2001): Three authors</a>"
        in render(source.format("10.5555/three"), **options).html
    )
    assert f">doi:{NOTHING}</a>" in render(source.format(NOTHING), **options).html
    # the author's own links are not marked
    marked = f"<s>doi:{DEAD}</s></a>" if "doi:" in source else f">doi:{DEAD}</a>"
    assert marked in render(source.format(DEAD), **options).html
    assert (
        ">doi:10.5555/three</a>"
        in render(source.format("10.5555/three"), text=options["text"]).html
    )
