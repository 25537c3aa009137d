"""The list of references of a whole site, on a page of its own."""

from __future__ import annotations

import json
import os
import re

import pytest
from doiuri_proxy.pytest_plugin import Proxies
from mkdocs import utils
from mkdocs.exceptions import Abort
from support.checks import assert_in_order, assert_same, assert_times, exactly
from support.references import RETRACTED

from ..conftest import CSL, VALUES, MakeSite, Page


def record(name: str, family: str, title: str) -> dict[str, object]:
    csl = {"author": [{"family": family}], "issued": {"date-parts": [[2006]]}, "title": title}
    return {"handle": name, "values": VALUES, "metadata": {CSL: csl}}


RECORDS = [
    record("10.1000/a", "Kahn", "First"),
    record("10.1000/b", "Kahn", "Second > 2"),
    record("10.1000/c#1", "Abel", "Third & last"),
    record("10.1000/d", "Aalto", "Fourth"),
]
PAGES = {
    "index.md": "# Start\n\n[@doi:10.1000/b]",
    "sub/one & two.md": "# One & two\n\n@doi:10.1000/a [@doi:10.1000/b], [@{doi:10.1000/c#1}] @doi:10.1000/a",
    "last.md": "# Last\n\nSee doi:10.1000/a, `[@doi:10.1000/d]`",
}

pytestmark = [pytest.mark.doi_records(RECORDS), pytest.mark.usefixtures("resolver")]


@pytest.fixture(autouse=True)
def _clean_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have MkDocs empty its folders again afterwards: static-i18n leaves it off if a build fails."""
    monkeypatch.setattr(utils, "clean_directory", utils.clean_directory)


def options(**given: object) -> list[object]:
    return [{"doiuri": {"bibliography": "./references.md", **given}}]


@pytest.mark.parametrize("directories", [True, False])
@pytest.mark.parametrize("own", [True, False])
def test_citations_link_to_the_list_and_entries_back_to_pages(
    directories: bool, own: bool, site: MakeSite
) -> None:
    built = site(
        {**PAGES, **({"references.md": "# Read\n\n///References Go Here///\n\nEnd"} if own else {})}
    )
    built.build(
        plugins=options(),
        use_directory_urls=directories,
        strict=True,
        validation={"links": {"anchors": "warn"}},
    )
    html = "/index.html" if directories else ".html"
    links = [
        (href.partition("#")[2], text) for href, _, text in built.page(f"sub/one & two{html}").links
    ]
    assert ("ref-10.1000_2fa", "Kahn (2006a)") in links
    assert ("ref-10.1000_2fb", "Kahn, 2006b") in links
    assert "doi-references" not in built.source(f"sub/one & two{html}")
    page = built.page(f"references{html}")
    back = re.findall(
        r'<a aria-label="[^"]*" class="doi-backref" href="[^"]*#cite-10.1000_2f([^"]*)" role="doc-backlink" '
        r'style="[^"]*" title="([^"]*)">(.*?)</a>',
        built.source(f"references{html}"),
    )
    assert back == [
        ("c_231", "Cited in One &amp; two", "↩"), ("a", "Cited in One &amp; two", "↩"),
        ("b", "Cited in Start", "↩\xa01"), ("b", "Cited in One &amp; two", "2"),
    ]  # fmt: skip
    assert re.search(
        r"Abel \(2006\).*Kahn \(2006a\). First.*Kahn \(2006b\). Second > 2", page.text, re.DOTALL
    )
    assert ("End" in page.text.partition("Second")[2]) == own


HOSTILE = [
    *(
        "%20",
        "%",
        "#",
        "?",
        " ",
        "&",
        "&amp;",
        "+",
        ":",
        ";",
        "=",
        "'",
        '"',
        "()",
        "[]",
        "<b>",
        "*",
    ),
    *("é", "日本"),
]


@pytest.mark.parametrize("directories", [True, False])
def test_links_lead_to_and_from_pages_of_any_name(directories: bool, site: MakeSite) -> None:
    """All links are checked by what builds the site; each page has some."""
    sources = [f"in {name}/{name}{name}x.md" for name in HOSTILE]
    text = "# {}\n\n[@doi:10.1000/a] @own\n"
    pages = {source: text.format(number) for number, source in enumerate(sources)}
    built = site({**pages, "../works.json": '[{"id": "own", "title": "Own"}]'})
    place = "li%20st #1?/é &.md"

    built.build(
        plugins=options(bibliography=place, works="works.json"),
        use_directory_urls=directories,
        strict=True,
    )

    html = "/index.html" if directories else ".html"
    listed = built.page(place.removesuffix(".md") + html).links
    titles = {href.partition("#cite-")[0] for href, _, _ in listed if "#cite-" in href}
    exactly(len(HOSTILE), "pages to which the list leads back", titles)
    for source in sources:
        links = [href for href, *_ in built.page(source.removesuffix(".md") + html).links]
        exactly(2, f"links of {source} to the list", [link for link in links if "#ref-" in link])


FORMS = [
    *("[@doi:10.1000/%]", "@doi:10.1000/%", "[see @DOI:10.1000/%, p. 3]", "[-@doi:10.1000/%]"),
    *("@{doi:10.1000/%}", "[@{doi:10.1000/%}]", "[@{DOI:10.1000/%}; @doi:10.1000/last]"),
    *("> - [@doi:10.1000/%]", "!!! note\n    @doi:10.1000/%", "a | b\n--|--\n@doi:10.1000/% | c"),
    *("# @doi:10.1000/%", "@own%", "[@own%]", "[-@own%, p. 3]", "@{own%}"),
]


def test_numbers_follow_the_order_of_pages_however_a_work_is_cited(
    site: MakeSite, doi_proxy: Proxies
) -> None:
    numbers = [str(number) for number in range(len(FORMS))]
    doi_proxy.load([record(f"10.1000/{name}", "Kahn", "T") for name in [*numbers, "last"]])
    works = json.dumps([{"id": f"own{number}", "title": "Own"} for number in numbers])
    texts = [form.replace("%", number) for form, number in zip(FORMS, numbers, strict=True)]
    pages = {f"{number}.md": f"{text}\n\n[@doi:10.1000/last]" for number, text in enumerate(texts)}
    built = site({**pages, "../works.json": works})
    plugins = options(citation="number", works="works.json")
    nav = [*pages][:1:-1]  # the first two are not in it, and follow
    built.build(nav=nav, markdown_extensions=["admonition"], plugins=plugins)
    listed = re.findall(
        r'<li class="csl-entry" id="ref-(?:10.1000_2f|own)([^"]*)"',
        built.source("references/index.html"),
    )
    assert listed == [numbers[-1], "last", *numbers[-2:1:-1], *numbers[:2]]
    assert ("../references/#ref-10.1000_2flast", "", "2") in Page(
        built.source("0/index.html")
    ).links


def test_a_citation_in_raw_html_is_none(site: MakeSite, doi_proxy: Proxies) -> None:
    doi_proxy.load([record(f"10.1000/{number}", "Kahn", "T") for number in range(4)])
    text = 'x <!-- [@doi:10.1000/0] and [@gone] --> <b title="[@doi:10.1000/1] @own">y</b>\n'
    pages = {
        "index.md": f"# A\n\n{text}<!-- @own -->\n\n[@doi:10.1000/3]\n",
        "../works.json": '[{"id": "own", "title": "Own"}]',
    }
    built = site(pages)
    built.build(plugins=options(citation="number", works="works.json"), strict=True)

    listed = re.findall(
        '<li class="csl-entry" id="ref-([^"]*)"', built.source("references/index.html")
    )
    assert listed == ["10.1000_2f3"]
    assert text.strip() in built.source("index.html")


HOOK = """
def on_page_markdown(markdown, page, **_):
    return markdown.replace("{macro}", "[@doi:10.1000/b]").replace("[@doi:10.1000/a]", "")
"""


@pytest.mark.parametrize(
    ("citation", "listed"), [("author-year", ["c_231", "b"]), ("number", ["a", "c_231", "b"])]
)
def test_citations_by_other_plugins_are_listed_and_those_on_no_page_are_not(
    citation: str, listed: list[str], site: MakeSite
) -> None:
    """A list with numbers keeps them, since numbers are given before."""
    index = "# A\n\n[@doi:10.1000/a]\n\n[@{doi:10.1000/c#1}]\n"
    built = site({"index.md": index, "last.md": "# B\n\n{macro}", "../hook.py": HOOK})
    built.build(plugins=options(citation=citation), hooks=["hook.py"])
    entries = re.findall(
        r'<li class="csl-entry" id="ref-10.1000_2f([^"]*)"', built.source("references/index.html")
    )
    assert entries == listed


REPEATED = """\
<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0">
  <info><title>T</title><id>t</id><updated>2020-01-01T00:00:00+00:00</updated></info>
  <citation><layout><names variable="author"/></layout></citation>
  <bibliography subsequent-author-substitute="———">
    <layout><names variable="author"/><text variable="title" prefix=": "/></layout>
  </bibliography>
</style>
"""


def test_names_are_not_left_out_after_a_work_that_is_not_listed(site: MakeSite) -> None:
    text = "# A\n\n[@doi:10.1000/a]\n\n[@doi:10.1000/b]"
    built = site({"index.md": text, "../hook.py": HOOK, "../repeated.csl": REPEATED})

    built.build(plugins=options(reference_style="repeated.csl"), hooks=["hook.py"])

    page = built.page("references/index.html")
    assert "Kahn: Second > 2" in page.text
    assert "First" not in page.text


@pytest.mark.parametrize("citation", ["author-year", "number"])
@pytest.mark.parametrize("bare", [True, False])
def test_works_that_pages_link_to_are_listed(bare: bool, citation: str, site: MakeSite) -> None:
    """Their letters are known on the first page; a name that is no link is not listed."""
    pages = {
        "index.md": "# Start\n\n@doi:10.1000/b [@{doi:10.1000/c#1}]",
        "last.md": "# Last\n\n[A](doi:10.1000/a) and doi:10.1000/lost",
        "names.md": "# Names\n\ndoi:10.1000/d",
    }
    built = site(pages)

    built.build(plugins=options(list_links=True, bare=bare, citation=citation))

    listed = re.findall(
        r'<li class="csl-entry" id="ref-10.1000_2f([^"]*)"', built.source("references/index.html")
    )
    if citation == "number":
        assert listed == ["b", "c_231", "a", *(["d"] if bare else [])]
    else:
        assert listed == [*(["d"] if bare else []), "c_231", "a", "b"]
        assert "Kahn (2006b)" in built.page("index.html").text
    linked = built.page("last/index.html").links
    assert ("https://doi.org/10.1000/a", "doi", "A") in linked


PRINT_PAGE = """
pages = {}

def on_page_content(html, page, **_):
    pages[page.file.src_uri] = html

def on_post_build(config):
    with open(f"{config.site_dir}/print.txt", "w") as file:
        file.write("".join(pages.values()))
"""


def test_the_list_is_there_for_plugins_that_keep_the_html_of_pages(site: MakeSite) -> None:
    """As mkdocs-print-site-plugin does, for a page of the whole site."""
    built = site({**PAGES, "a.md": "# Read", "../hook.py": PRINT_PAGE})

    built.build(plugins=options(bibliography="a.md"), hooks=["hook.py"])

    printed = built.source("print.txt")
    assert re.findall(r'<li class="csl-entry" id="ref-([^"]*)"', printed) == [
        "10.1000_2fc_231", "10.1000_2fa", "10.1000_2fb"
    ]  # fmt: skip
    assert_times(4, 'class="doi-backref"', printed)


GENERATED = """
from mkdocs.structure.files import File

def on_files(files, config):
    files.append(File.generated(config, "api.md", content="# API\\n\\n[@doi:10.1000/a]"))
"""


def test_pages_that_another_plugin_generates_are_linked_from_the_list(site: MakeSite) -> None:
    built = site({**PAGES, "../hook.py": GENERATED})

    built.build(plugins=options(), hooks=["hook.py"], strict=True)

    back = [link[0] for link in built.page("references/index.html").links if "cite-" in link[0]]
    assert "../api/#cite-10.1000_2fa" in back


TRANSLATED = {
    "folder": {
        "en/index.md": "# Start\n\n[@doi:10.1000/a]",
        "en/more.md": "# More\n\n[@doi:10.1000/b]",
        "fr/index.md": "# Départ\n\n[@{doi:10.1000/c#1}] [@doi:10.1000/none]",
    },
    "suffix": {
        "index.md": "# Start\n\n[@doi:10.1000/a]",
        "more.md": "# More\n\n[@doi:10.1000/b]",
        "index.fr.md": "# Départ\n\n[@{doi:10.1000/c#1}] [@doi:10.1000/none]",
    },
}


def i18n(structure: str, **given: object) -> dict[str, object]:
    languages = [
        {"locale": "en", "name": "English", "default": True},
        {"locale": "fr", "name": "Français"},
        {"locale": "de", "name": "Deutsch", "build": False},
    ]
    return {"i18n": {"docs_structure": structure, "languages": languages, **given}}


@pytest.mark.parametrize(
    ("structure", "own"),
    [
        ("folder", []),
        ("folder", ["references.md"]),
        ("folder", ["fr/references.md"]),
        ("suffix", []),
        ("suffix", ["references.md", "references.fr.md"]),
    ],
)
def test_each_language_has_its_list(structure: str, own: list[str], site: MakeSite) -> None:
    built = site({**TRANSLATED[structure], **dict.fromkeys(own, "# Own\n")})

    built.build(plugins=[*options(details=True), i18n(structure)])

    english = built.source("references/index.html")
    french = built.source("fr/references/index.html")
    assert re.findall(r'<li class="csl-entry" id="ref-10.1000_2f([^"]*)"', english) == ["a", "b"]
    assert re.findall(r'<li class="csl-entry" id="ref-10.1000_2f([^"]*)"', french) == ["c_231", "b"]
    assert "../references/#ref-10.1000_2fb" in [
        link[0] for link in built.page("fr/more/index.html").links
    ]
    assert_times(1, "doiuri.css", french)
    assert (built.folder / "site" / "assets" / "doiuri.css").is_file()
    assert ("<h1" in french, "Own" in french) == (True, bool(own))
    [french_page] = [path for path in TRANSLATED[structure] if "fr" in path]
    assert built.messages() == [f"{french_page}:3: doi:10.1000/none: not found"]


def test_a_build_without_the_page_fails_with_a_sentence(
    site: MakeSite, caplog: pytest.LogCaptureFixture
) -> None:
    built = site({**TRANSLATED["folder"], "references.md": "# Own\n"})

    with pytest.raises(Abort):
        built.build(plugins=[*options(), i18n("folder", fallback_to_default=False)])

    assert "bibliography: this build has no page references.md" in caplog.text


def test_a_page_without_a_path_fails_with_a_sentence_beside_i18n(
    site: MakeSite, caplog: pytest.LogCaptureFixture
) -> None:
    built = site({**TRANSLATED["folder"], "../hook.py": GENERATED})

    with pytest.raises(Abort):
        built.build(plugins=[*options(), i18n("folder")], hooks=["hook.py"])

    assert "i18n cannot build api.md: it has no source path" in caplog.text


def test_a_site_without_citations_lists_what_nocite_names(site: MakeSite) -> None:
    built = site({"index.md": "# A"})
    built.build(plugins=options(nocite=["10.1000/a"]))
    assert "Kahn (2006). First" in built.page("references/index.html").text


def test_without_an_answer_citations_are_links(site: MakeSite, doi_proxy: Proxies) -> None:
    built = site(PAGES)
    built.build(plugins=options(offline=True), strict=True)
    assert ("https://doi.org/10.1000/b", "doi", "doi:10.1000/b") in built.page("index.html").links
    listed = [
        href
        for href, css_class, _ in built.page("references/index.html").links
        if css_class == "doi"
    ]
    assert listed == [f"https://doi.org/10.1000/{name}" for name in ("b", "a", "c%231")]
    assert built.messages() == []
    assert built.messages(20) == ["3 of 3 DOIs could not be checked: offline: request not sent"]
    assert doi_proxy.log == []


def test_a_problem_with_nocite_is_reported_once_a_build(site: MakeSite) -> None:
    built = site(PAGES)
    built.build(plugins=["search", *options(nocite=["10.1000/gone"])])
    assert built.messages() == ["nocite: doi:10.1000/gone: not found"]


NOCITE = ["10.1000/a; 10.1000/d", '["10.1000/a", "10.1000/d"]', "|\n  10.1000/a\n  10.1000/d"]


def test_what_a_page_lists_without_a_citation_may_be_a_text_or_a_list(site: MakeSite) -> None:
    pages = [f"---\nnocite: {form}\n---\n# Page\n" for form in NOCITE]
    built = site({"index.md": "", **{f"{number}.md": text for number, text in enumerate(pages)}})

    built.build(plugins=options(page_lists=True))

    for number, form in enumerate(NOCITE):
        listed = re.findall('id="ref-10.1000_2f([^"]*)"', built.source(f"{number}/index.html"))
        assert_same(f"the works of the list for nocite: {form!r}", sorted(listed), ["a", "d"])


@pytest.mark.doi_records([RETRACTED])
def test_a_retracted_work_is_reported_on_the_first_page_that_cites_it(site: MakeSite) -> None:
    built = site({"index.md": "# Start\n\n[@doi:10.5555/gone]", "last.md": "@doi:10.5555/gone"})
    built.build(plugins=options())
    problem = "doi:10.5555/gone: retracted 2020-06-05; notice 10.5555/notice"
    assert built.messages() == [f"index.md:3: {problem}"]


@pytest.mark.parametrize("dirty", [True, False])
def test_a_dirty_build_writes_the_changed_page_and_the_list(dirty: bool, site: MakeSite) -> None:
    built = site({**PAGES, "last.md": "# Last\n\n[@doi:10.1000/a]"})
    built.build(plugins=options())
    pages = list((built.folder / "site").rglob("index.html"))
    for path in pages:
        os.utime(path, (2_000_000_000, 2_000_000_000))
    changed = built.folder / "docs" / "index.md"
    changed.write_text("# Start\n\n[@{doi:10.1000/c#1}]")
    os.utime(changed, (2_100_000_000, 2_100_000_000))
    built.rebuild("build", dirty=dirty)
    written = {path.parent.name for path in pages if path.stat().st_mtime != 2_000_000_000}
    assert written == {"site", "references"} if dirty else len(written) == len(pages)
    listed = re.findall(
        r'<li class="csl-entry" id="ref-([^"]*)"', built.source("references/index.html")
    )
    assert listed == ["10.1000_2fc_231", "10.1000_2fa", "10.1000_2fb"]


def test_only_the_first_place_of_the_list_counts_and_none_in_code(site: MakeSite) -> None:
    marker = "///References Go Here///"
    text = f"---\ntitle: R\n---\n```\n{marker}\n```\n\nBefore\n{marker}\n\n{marker}\n\n{marker}"
    built = site({**PAGES, "references.md": text})
    built.build(plugins=options())
    html = built.source("references/index.html")
    assert html.count('class="doi-references"') == html.count(marker) == 1
    assert_in_order(html, f"<code>{marker}", "<p>Before</p>", 'class="doi-references"')
    assert built.messages() == [
        f"references.md:11: {marker}: the list of references is at the first of these lines"
    ]


HEADED = {
    "index.md": "# Start\n\n[@doi:10.1000/b] @doi:10.1000/b\n\n## References\n\n///References Go Here///\n",
    "last.md": "---\nnocite: 10.1000/d\n---\n# Last\n\n@doi:10.1000/a\n\n## References\n",
    "no.md": "# No\n\n## References\n\n///References Go Here///\n\n## End\n\nText\n",
}


def test_no_heading_is_left_alone_where_the_list_is_on_a_page_of_its_own(site: MakeSite) -> None:
    built = site(HEADED)

    built.build(plugins=options(), strict=True)

    for name in ("index.html", "last/index.html", "no/index.html"):
        assert '<h2 id="references"' not in built.source(name), name
    assert "End</h2>" in built.source("no/index.html")
    assert re.findall(r'<li class="csl-entry" id="ref-([^"]*)"', built.source("references/index.html")) == [
        "10.1000_2fd", "10.1000_2fa", "10.1000_2fb"
    ]  # fmt: skip


@pytest.mark.parametrize("citation", ["number", "author-year"])
def test_pages_keep_their_lists_beside_that_of_the_site(citation: str, site: MakeSite) -> None:
    built = site(HEADED)

    built.build(
        plugins=options(page_lists=True, citation=citation, nocite="10.1000/c#1"), strict=True
    )

    first = built.source("index.html")
    last = built.source("last/index.html")
    listed = re.compile(r'<li class="csl-entry" id="ref-([^"]*)"')
    assert listed.findall(first) == ["10.1000_2fb"]
    assert {*listed.findall(last)} == {"10.1000_2fa", "10.1000_2fd"}
    exactly(4, "entries", listed.findall(built.source("references/index.html")))
    assert_times(2, 'href="#ref-10.1000_2fb"', first)
    assert re.findall(r'class="doi-backref" href="([^"]*)"', first) == [
        "#cite-10.1000_2fb", "#cite-10.1000_2fb-2"
    ]  # fmt: skip
    # labels are the same on all pages, and so are numbers
    if citation == "number":
        assert "[2]" in last
        assert '<li class="csl-entry" id="ref-10.1000_2fa" value="2"' in last
    else:
        assert ("Kahn, 2006b" in first, "Kahn (2006a)" in last) == (True, True)
    assert 'id="references">References</h2>' in first
    assert 'id="references">References</h2>' not in built.source("no/index.html")


def test_the_generated_page_is_named_in_the_language_of_the_list(site: MakeSite) -> None:
    built = site(PAGES)

    built.build(plugins=options(reference_locale="de-DE"))

    page = built.source("references/index.html")
    assert ">Literaturverzeichnis</h1>" in page
    assert "<title>Literaturverzeichnis" in page
