"""What MkDocs' plugin verifies, marks and reports in one build, and its options."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
import time

import pytest
from doiuri import DOI
from doiuri.resolver import Cause, Outcome, Resolver
from doiuri_proxy.pytest_plugin import Proxies
from markdown_doiuri import forget
from mkdocs.exceptions import Abort
from support.checks import assert_same, assert_times, exactly, only
from support.references import RECORDS as CITED

from ..conftest import VALUES, MakeSite, Render

NAMES = "10.1000/182", "10.1000/456", "10.1000/789"
RECORDS = {
    "agencies": {"10.1000": "Crossref"},
    "records": [{"handle": name, "values": VALUES} for name in NAMES],
}

pytestmark = [pytest.mark.doi_records(RECORDS), pytest.mark.usefixtures("resolver")]

DEAD = "doi:10.1000/none"
LINK = ("https://doi.org/10.1000/none", "doi doi-not-found", DEAD)


@pytest.mark.parametrize(
    ("directories", "path"), [(True, "b/page/index.html"), (False, "b/page.html")]
)
def test_a_doi_that_does_not_exist_is_marked_and_reported(
    directories: bool, path: str, site: MakeSite
) -> None:
    built = site({"index.md": "# A\n\ndoi:10.1000/182", "b/page.md": f"# B\n\n{DEAD}"}, docs="text")
    built.build(docs_dir="text", use_directory_urls=directories)
    assert LINK in built.page(path).links
    assert ("https://doi.org/10.1000/182", "doi", "doi:10.1000/182") in built.page(
        "index.html"
    ).links
    assert built.messages() == [f"b/page.md:3: {DEAD}: not found"]
    assert built.messages(logging.INFO) == []


FRONT = [
    "---\ntitle: A\n---\n",
    "---\ntitle: A\n\nx: 1\n...\n\n\n",
    "Title: A\nX: 1\n\n",
    "\ufeff---\na: 1\n---\n",
]


@pytest.mark.parametrize("front_matter", FRONT, ids=ascii)
def test_lines_are_those_of_the_file(front_matter: str, site: MakeSite) -> None:
    built = site({"index.md": f"{front_matter}# A\n\n{DEAD}\n"})
    built.build()
    assert built.messages() == [f"index.md:{front_matter.count(chr(10)) + 3}: {DEAD}: not found"]


@pytest.mark.parametrize("label", ["doi:", ""])
def test_all_dois_are_verified_in_one_batch(label: str, site: MakeSite, doi_proxy: Proxies) -> None:
    names = [182, 456, 789, *range(20)]
    built = site({f"{name}.md": f"See {label}10.1000/{name} [](doi:10.1000/182)" for name in names})
    doi_proxy.load(
        {
            "records": [{"handle": f"10.1000/{name}", "values": []} for name in names],
            "agencies": {"10.1000": "x"},
        }
    )
    built.build(plugins=[{"doiuri": {"bare_names": not label}}])
    request = only("request", doi_proxy.log)
    assert request.path.startswith(b"/doiRA/")
    assert request.path.count(b"10.1000") == 23
    built.build()
    exactly(1, "requests", doi_proxy.log)


CODE = """\
`doi:10.1000/1` $doi:10.1000/1$

```
doi:10.1000/1
```

!!! note

    ~~~ text
    doi:10.1000/1
    ~~~
"""


def test_code_is_not_verified(site: MakeSite, doi_proxy: Proxies) -> None:
    text = f"See doi:10.1000/182, ``` a\n\n{CODE}\n\n10.1000/2 and https://example.org/10.1000/3"
    site({"index.md": text}).build(markdown_extensions=["admonition", "pymdownx.superfences"])
    assert [request.path for request in doi_proxy.log] == [b"/api/handles/10.1000/182"]


HOOK = """
import markdown

def on_page_markdown(markdown, **_):
    return "Added.\\n\\n" + markdown.replace("{macro}", "\\n\\ndoi:10.1000/none") + "\\n\\nAt the end."

def on_env(env, config, files):
    html = markdown.markdown("doi:10.1000/none3", extensions=config.markdown_extensions)
    files.get_file_from_path("index.md").page.content += html
"""


def test_text_by_other_plugins_is_verified_and_reported_at_its_line(
    site: MakeSite,
) -> None:
    text = f"---\na: 1\n---\n# A\n\none {{macro}}\n\n[x]({DEAD}2)\n"
    built = site({"index.md": text, "../hook.py": HOOK})
    built.build(hooks=["hook.py"])
    assert sorted(built.messages()) == [
        f"{DEAD}3: not found",
        f"index.md:6: {DEAD}: not found",
        f"index.md:8: {DEAD}2: not found",
    ]
    found = (f"{LINK[0]}3", LINK[1], f"{DEAD}3")
    assert found in built.page("index.html").links


def test_a_lock_file_of_a_local_proxy_serves_strict_builds_without_a_network(
    site: MakeSite, doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch
) -> None:
    kahn = "10.5555/kahn-2006"
    built = site({"index.md": f"# A\n\n@doi:{kahn}"})
    proxy = doi_proxy(CITED)
    monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
    built.build(plugins=[{"doiuri": {"lock": "doi.lock.json"}}], strict=True)
    page = built.page("index.html").links
    assert "#ref-10.5555_2fkahn-2006" in [href for href, _, _ in page]
    assert (built.folder / "doi.lock.json").is_file()
    monkeypatch.delenv("DOIURI_RESOLVER")
    forget()
    built.build(plugins=[{"doiuri": {"lock": "doi.lock.json", "locked": True}}], strict=True)
    assert_same("the links, locked", built.page("index.html").links, page)


@pytest.mark.parametrize(
    ("given", "budget"), [({"budget": 50}, 50), ({}, 60), ({"budget": None}, 60)]
)
def test_the_budget_is_that_of_the_whole_build(
    given: dict[str, object], budget: float, site: MakeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    budgets: list[float] = []
    monotonic = time.monotonic

    def check(_: Resolver, dois: list[DOI], *, budget: float, **__: object) -> list[Outcome]:
        budgets.append(budget)
        return [Outcome(doi, "unknown", cause=Cause("offline")) for doi in dois]

    monkeypatch.setattr(Resolver, "check", check)
    monkeypatch.setattr(time, "monotonic", lambda: monotonic() + 20 * len(budgets))
    hook = "def on_page_markdown(markdown, page, **_):\n    return 'doi:10.1000/' + page.file.name"
    built = site({"../hook.py": hook, "index.md": "", "a.md": "", "b.md": ""})
    built.build(hooks=["hook.py"], plugins=[{"doiuri": given}])
    assert budget >= budgets[0] > budget - 20 >= budgets[1] > budget - 40 >= budgets[2]


def test_an_unknown_option_is_reported(site: MakeSite) -> None:
    built = site({"index.md": ""})
    built.build(plugins=[{"doiuri": {"resolv": "records", "bibliografy": "x.md"}}])
    told = re.findall("Unrecognised configuration name: (.*)", built.log.text)
    assert {*told} == {"resolv; did you mean resolve?", "bibliografy; did you mean bibliography?"}


def test_an_invalid_variable_is_reported_once(
    site: MakeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOIURI_RESOLVER", "ftp://example.org")
    built = site({"index.md": ""})
    with pytest.raises(Abort):
        built.build()
    assert_times(1, "doiuri: DOIURI_RESOLVER: ", built.log.text)


@pytest.mark.parametrize("name", ["doiuri", "markdown_doiuri"])
def test_the_extension_may_be_listed_too(name: str, site: MakeSite) -> None:
    built = site({"index.md": "See doi:10.1000/182"})
    built.build(
        markdown_extensions=[name], plugins=[{"doiuri": {"resolve": False, "css_class": "mine"}}]
    )
    found = "https://doi.org/10.1000/182", "mine", "doi:10.1000/182"
    assert_times(1, found, built.page("index.html").links)


NO_PAGE = "option 'bibliography': {!r} is not the path of a page in docs_dir"
NO_PAGES = "references.html", "/references.md", "../references.md", 1
WRONG = [
    *(({"bibliography": path}, NO_PAGE.format(path)) for path in NO_PAGES),
    # files are beside the configuration
    ({"reference_style": "style.csl"}, "reference_style: FOLDER/style.csl: cannot be read"),
    ({"works": "works.json"}, "works: FOLDER/works.json: cannot be read"),
]


@pytest.mark.parametrize(("options", "message"), WRONG, ids=ascii)
def test_a_wrong_option_ends_the_build(options: object, message: str, site: MakeSite) -> None:
    built = site({"index.md": ""})
    with pytest.raises(Abort):
        built.build(plugins=[{"doiuri": options}])
    assert message.replace("FOLDER", str(built.folder)) in built.log.text


def test_the_extension_with_options_of_its_own_is_an_error(site: MakeSite) -> None:
    with pytest.raises(Abort):
        (built := site({})).build(markdown_extensions=[{"doiuri": {"text": "link"}}])
    assert (
        '"doiuri" is in markdown_extensions too, with options' in built.log.records[-1].getMessage()
    )


TEXTS = {
    "index.md": "doi:10.1000/182",
    "a.md": "doi:10.1000/456 doi:10.1000/none",
    "b.md": "doi:10.1000/182",
}
PAGES = {name: f"# A\n\n{text}\n" for name, text in TEXTS.items()}


def test_in_properdocs_too(site: MakeSite, doi_proxy: Proxies) -> None:
    settings = {
        "site_name": "Test",
        "theme": "mkdocs",
        "plugins": [{"doiuri": {"bibliography": "list.md"}}],
    }
    built = site({**PAGES, "../properdocs.yml": json.dumps(settings)})
    done = subprocess.run(
        [sys.executable, "-m", "properdocs", "build", "--strict"],
        cwd=built.folder, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert re.findall("^WARNING .*", done.stderr, re.MULTILINE) == [
        "WARNING -  doiuri: a.md:3: doi:10.1000/none: not found"
    ]
    assert done.returncode == 1
    assert 'href="https://doi.org/10.1000/182"' in built.source("index.html")


SHOWN = """\
# On doi:10.1000/182 and 10.1000/456

[](doi:10.1000/182), https://doi.org/10.1000/789, [x](http://dx.doi.org/10.1000/182), <doi:10.1000/182>

[@doi:10.1000/456; @doi:10.1000/789] @own
"""
THERE = {
    "bare": False, "bare_names": True, "bare_links": True, "citations": False, "tidy_links": True,
    "css_class": "mine", "text": "link", "link": "https://doi.example", "citation": "number",
    "reference_style": "numeric", "reference_locale": "de-DE", "nocite": ["10.1000/182"],
}  # fmt: skip


@pytest.mark.parametrize("name", [None, *THERE])
def test_an_option_does_what_it_does_in_markdown(
    name: str | None, site: MakeSite, render: Render
) -> None:
    built = site({"index.md": SHOWN, "../works.json": '[{"id": "own", "title": "Own"}]'})
    (built.folder / "theme").mkdir()
    (built.folder / "theme" / "main.html").write_text("{{ page.content }}")
    given = {name: THERE[name]} if name else {}
    plugins = [{"doiuri": {"resolve": False, "works": "works.json", **given}}]
    built.build(theme={"name": None, "custom_dir": "theme"}, plugins=plugins)
    works = str(built.folder / "works.json")
    shown = render(SHOWN, "toc", "tables", "fenced_code", works=works, **given).html
    assert_same("the page of MkDocs, as converted alone", built.source("index.html"), shown)
    assert (shown == render(SHOWN, "toc", "tables", "fenced_code", works=works).html) == (
        name is None
    )
