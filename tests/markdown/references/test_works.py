"""Works of the author's files: cited by their ids, only listed, or corrections of the registry."""

import json
import re
from pathlib import Path

import pytest
from markdown_doiuri import DOIExtension
from support.references import RECORDS

from ..conftest import Render
from ..page import Page
from .conftest import Serve

WORKS = [
    {
        "id": "knuth1984",
        "type": "book",
        "title": "The <i>T<sub>E</sub>X</i>book",
        "author": [{"family": "Knuth", "given": "Donald"}],
        "issued": {"date-parts": [[1984]]},
        "URL": "https://example.org/?a=1&b=2",
    },
    {"id": "bad", "title": "Mean", "URL": "javascript:alert(1)", "author": [{"family": "<b onclick=x>"}]},
    {"id": "kahn", "DOI": "10.5555/KAHN-a", "author": [{"family": "Kahn", "given": "Robert"}]},
]


@pytest.fixture
def works(tmp_path: Path) -> str:
    file = tmp_path / "works.json"
    file.write_text(json.dumps(WORKS))
    return str(file)


def cited(html: str) -> list[str]:
    return [Page(span).text for span in re.findall('<span class="doi-citation">.*?</span>', html)]


def test_works_of_a_file_are_cited_by_their_ids(works: str, serve: Serve, render: Render) -> None:
    serve(RECORDS)
    source = (
        "[see @knuth1984, p. 3; @doi:10.5555/kahn-b], @knuth1984 [ch. 2], @{kahn}s, @nobody, x@kahn, [@bad]"
    )
    rendered = render(source, resolve=True, works=[works], nocite=["@kahn; 10.5555/three"])
    assert cited(rendered.html) == [
        *("(see Knuth, 1984, p. 3; Kahn, 2001b)", "Knuth (1984, chap. 2)", "Kahn (2001a)"),
        "(Mean, n.d.)",
    ]
    assert "@nobody, x@kahn" in rendered.html
    entries = re.findall(r'<li id="ref-(.*?)">(.*?)(?= <a|</li>)', rendered.html)
    assert [name for name, _ in entries] == [
        *("10.5555_2fthree", "10.5555_2fkahn-a", "10.5555_2fkahn-b", "knuth1984", "bad")
    ]
    texts = dict(entries)
    assert texts["10.5555_2fkahn-a"] == "Kahn, R. (2001a). <em>Alpha</em>."
    assert texts["knuth1984"] == "Knuth, D. (1984). <em>The </em>T<sub>E</sub>X<em>book</em>."
    assert '<a href="https://example.org/?a=1&amp;b=2">https://example.org/?a=1&amp;b=2</a>' in rendered.html
    assert "javascript" not in rendered.html
    assert rendered.problems == []


def test_a_problem_with_nocite_is_reported_once_with_its_place(serve: Serve, render: Render) -> None:
    serve(RECORDS)
    source = "[@doi:10.5555/three]\n\n`10.5555/dead`"
    rendered = render(source, resolve=True, nocite=["10.5555/dead; 10.5555/no-metadata"])
    assert [str(problem) for problem in rendered.problems] == [
        "nocite: doi:10.5555/dead: not found",
        "nocite: doi:10.5555/no-metadata: cited without its author and year: its agency has no metadata",
    ]
    assert render("x", resolve=True, nocite=["10.5555/three"]).html == "<p>x</p>"  # no list, no citation


def test_an_unknown_id_in_brackets_is_a_problem(works: str, render: Render) -> None:
    rendered = render("x\n\n[see @knuth1985, p. 3] and [Figure 3] and @knuth1985", works=works)
    assert [str(problem) for problem in rendered.problems] == [
        "line 3: see @knuth1985, p. 3: no file of works has the id 'knuth1985'; did you mean 'knuth1984'?"
    ]
    assert rendered.html.endswith("<p>[see @knuth1985, p. 3] and [Figure 3] and @knuth1985</p>")


def test_without_files_ids_are_text(render: Render) -> None:
    source = "[@knuth1984], [see @knuth1984, p. 3], @{knuth1984} and @knuth1984"
    assert render(source).html == f"<p>{source}</p>"
    assert "<p>[@knuth1984; <span" in render("[@knuth1984; @doi:10.1000/1]").html


WRONG: dict[str, tuple[str, str]] = {
    "works": ("{0}/none.json", "{0}/none.json: cannot be read"),
    "works ": ("a\0b.json", "'a\\x00b.json' is not a path"),
    "nocite": ("@nobody", "@nobody is not a DOI"),
    "reference_style": ("{0}/bad.csl", "{0}/bad.csl:2: not XML"),
    "reference_locale": ("xx", "CSL has no locale 'xx'"),
    "citation": ("numbers", "'numbers' is not"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_option_is_an_error_that_names_it(name: str, tmp_path: Path) -> None:
    (tmp_path / "bad.csl").write_text("<style>\n<")
    value, message = WRONG[name]
    with pytest.raises(ValueError, match=f"^{name.strip()}: {re.escape(message.format(tmp_path))}"):
        DOIExtension(**{name.strip(): value.format(tmp_path)})
