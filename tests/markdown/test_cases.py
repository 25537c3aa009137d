"""Cases as data: every file in cases/, and the shared cases in each of Markdown's forms."""

import json
import re
import string
from pathlib import Path
from typing import Any

import pytest
from doiuri import DOI, find
from support.cases import odd_cases
from support.checks import assert_same

from .conftest import Page, Render

CASES = [
    pytest.param(case, id=f"{path.stem}: {case['title']}")
    for path in sorted((Path(__file__).parent / "cases").glob("*.json"))
    for case in json.loads(path.read_text())
]


@pytest.mark.parametrize("case", CASES)
def test_case(case: dict[str, Any], render: Render) -> None:
    others = case.get("extensions", ())
    given = {"configs": case.get("configs"), **case.get("options", {})}
    rendered = render(case["markdown"], *others, **given)
    assert_same(f"the HTML of {case['markdown']!r}", rendered.html, case["html"])
    assert rendered.told == case.get("problems", [])
    if others:  # they may be loaded in either order
        html = render(case["markdown"], "doiuri", *others, **given).html
        assert_same("the HTML if the others are loaded later", html, case["html"])


NAMES = sorted({case.name for case in odd_cases() if case.name is not None})

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


def found_in(text: str) -> list[str]:
    return [match.doi.name for match in find(text)]


# names that running text can contain, in any syntax
TYPED = [name for name in NAMES if found_in(f"see doi:{name} there") == [name]]


@pytest.mark.parametrize("form", URI_FORMS)
def test_a_uri_in_any_syntax_leads_to_its_name(form: str, render: Render) -> None:
    # an autolink is one of the other forms
    unclear = OPEN_ENDED if form.startswith("bare") else re.compile("(?!)")
    dois = [
        DOI(name)
        for name in NAMES
        if not unclear.search(name) and not unclear.search(DOI(name).uri)
    ]
    texts = [
        URI_FORMS[form].format(doi.uri).replace("ref]", f"r{n}]") for n, doi in enumerate(dois)
    ]
    rendered = render(
        "\n\n".join(text.replace("^1", f"^{n}") for n, text in enumerate(texts)), "extra"
    )
    assert rendered.problems == []
    assert [doi.name for doi in Page(rendered.html).dois] == [doi.name for doi in dois]


def test_a_typed_name_is_linked_as_it_is(render: Render) -> None:
    rendered = render(
        "\n\n".join(f"see doi:{name.translate(ESCAPES)} there" for name in TYPED), "extra"
    )
    assert rendered.problems == []
    links = [(href, shown) for href, style, shown in Page(rendered.html).links if style]
    assert links == [(DOI(name).url, f"doi:{name}") for name in TYPED]
    assert len(TYPED) > len(NAMES) / 2


AROUND = f"{string.ascii_letters}{string.digits}{string.punctuation}é日\xa0…“：—–«"
NAMED = {"bare_names": True}
LINKED = {"bare_links": True}
URL = "https://doi.org/10.1000/182"
JOINED: list[tuple[str, dict[str, bool], str]] = [
    ("x {}doi:10.1000/182 y", {}, "-/é"),
    ("x{}doi:10.1000/182 y", {}, "-/_é"),
    ("x{}_doi:10.1000/182_ y", {}, "!#$%&),-./:;<?@\\]_`|}é"),
    ("x {}10.1000/182 y", NAMED, "#$%&-./:?@é"),
    ("x{}10.1000/182 y", NAMED, "#$%&+-./:=?@_é"),
    (f"x {{}}{URL} y", LINKED, "-/_"),
    (f"x{{}}{URL} y", LINKED, "-/_"),
    *(
        (f"x {{}}{cited} y", {}, "%-./@\\é")
        for cited in ("@doi:10.1000/182", "@{{doi:10.1000/182}}")
    ),
    *(
        (f"x{{}}{cited} y", {}, "%+-./=@\\_é")
        for cited in ("@doi:10.1000/182", "@{{doi:10.1000/182}}")
    ),
    ("x doi:10.1000/182{} y", {}, "#$%+-@^_~é"),
    ("x @doi:10.1000/182{} y", {}, "#$%+-@^_~é"),
    ("x doi:10.1000/182{}y", {}, "!\"#$%&'*+,-./:;=?@^_~é–"),
]


@pytest.mark.parametrize(("text", "options", "joined"), JOINED)
def test_characters_that_are_not_around_a_name(
    text: str, options: dict[str, bool], joined: str, render: Render
) -> None:
    """Before a mention, they make it a part of a word, a path or an address; after it, a part of the name."""
    paragraphs = render("\n\n".join(map(text.format, AROUND)), **options).html.split("<p>")[1:]
    made = 'doi-citation"><a class="doi" ' if "@" in text else '<a class="doi" '
    found = [f'{made}href="{URL}"' in paragraph.replace("(", "") for paragraph in paragraphs]
    apart = "".join(
        character for character, is_link in zip(AROUND, found, strict=True) if not is_link
    )
    assert apart == f"{string.ascii_letters}{string.digits}{joined}"
