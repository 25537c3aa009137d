"""Names and metadata that try to run scripts, in Chromium."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from pathlib import Path

import markdown
import pytest
from doiuri_proxy.pytest_plugin import Proxies
from mkdocs.commands.build import build as build_site
from mkdocs.config import load_config
from support.devtools import Page
from support.references import ATTACKS, HOSTILE, HOSTILE_BOOK, hostile_records
from support.sphinx_build import build, write

PAGES = {
    "index.md": f"# On [{'; '.join(f'@doi:{name}' for name in HOSTILE)}]\n\n"
    + " ".join(f"@doi:{name} [](doi:{name})" for name in HOSTILE),
    "other.md": f"# Other\n\n@doi:{HOSTILE[0]}\n",
}


PROVOKE = """(async () => {
  document.addEventListener("click", event => event.preventDefault(), true);
  const active = "x, script, img, svg, iframe, object, style, form";
  const ours = "[class*=doi], [id*=doi], [id^=ref-], [id^=cite-]";
  for (const element of document.querySelectorAll(`:is(${ours}), :is(${ours}) *`))
    for (const type of ["mouseover", "mouseenter", "focus", "click", "load", "error", "toggle"])
      element.dispatchEvent(new Event(type, {bubbles: true, cancelable: true}));
  await new Promise(done => setTimeout(done, 300));
  return JSON.stringify({
    ran: document.documentElement.lang === "owned",
    shown: document.body.textContent.includes("owned"),
    elements: document.querySelectorAll(`:is(${ours}) :is(${active})`).length,
    links: [...document.links].filter(link => /^(javascript|data|vbscript):/i.test(link.href)).length,
    marks: /[\\u202a-\\u202e\\u2066-\\u2069\\u200b]/.test(document.documentElement.outerHTML),
  });
})()"""
HARMLESS = {"ran": False, "shown": True, "elements": 0, "links": 0, "marks": False}
"""What ``PROVOKE`` returns, as JSON, if the metadata is shown as text."""


def by_mkdocs(folder: Path) -> list[Path]:
    plugin = {"bibliography": "references.md", "text": "{authors} ({year}): {title}"}
    for name, text in PAGES.items():
        (folder / "docs").mkdir(exist_ok=True)
        (folder / "docs" / name).write_text(text, "utf-8")
    config = {
        "site_name": "Test",
        "plugins": ["search", {"doiuri": plugin}],
        "theme": {"name": "material", "font": False},  # no other servers
        "markdown_extensions": ["toc", "attr_list", "tables", "smarty", "footnotes"],
        "use_directory_urls": False,
        "strict": True,
    }
    (folder / "mkdocs.yml").write_text(json.dumps(config), "utf-8")
    build_site(load_config(str(folder / "mkdocs.yml")))
    listed = (folder / "site" / "references.html").read_text("utf-8")
    assert listed.count(' id="ref-') == len(HOSTILE)
    return [folder / "site" / f"{name}.html" for name in ("index", "references", "other")]


def by_sphinx(folder: Path) -> list[Path]:
    options = "html", "-D", "html_theme=alabaster"
    out = build(write(folder / "src", HOSTILE_BOOK), folder, *options).out
    return [out / f"{name}.html" for name in ("index", "myst", "refs")]


@pytest.mark.parametrize("make", [by_mkdocs, by_sphinx])
def test_no_metadata_on_a_page_runs(
    browser: Page,
    tmp_path: Path,
    doi_proxy: Proxies,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Path], list[Path]],
) -> None:
    monkeypatch.setenv("DOIURI_RESOLVER", doi_proxy(hostile_records()).url)
    for page in make(tmp_path):
        browser.open(page)
        assert json.loads(browser.run(PROVOKE, awaitPromise=True)) == HARMLESS, page
        browser.run(f"document.body.insertAdjacentHTML('beforeend', {ATTACKS[1]!r})")
        browser.wait("document.documentElement.lang === 'owned'")  # what runs would have been seen


# RUN becomes a call that identifies the text
PAYLOADS = [
    "<script>RUN</script>",
    "<img src onerror=RUN>",
    "<svg onload=RUN>",
    '"><img src onerror=RUN>',
    "'><img src onerror=RUN>",
    '" onfocus=RUN autofocus tabindex=1 x="',
    "' onfocus=RUN autofocus tabindex=1 x='",
    "&quot; onfocus=RUN autofocus x=&quot;",
    "&lt;img src onerror=RUN&gt;",
    "&#60;img src onerror=RUN&#62;",
    "&amp;lt;img src onerror=RUN&amp;gt;",
    "%3Cimg src onerror=RUN%3E",
    "%22%20onfocus=RUN%20autofocus%20x=%22",
    "\\<img src onerror=RUN\\>",
    "</a><img src onerror=RUN>",
    "--><img src onerror=RUN>",
    "]]><img src onerror=RUN>",
    "javascript:RUN",
    "\x02klzzwxh:0000\x03<img src onerror=RUN>",
    "`<img src onerror=RUN>`",
]
CONSTRUCTS = [
    "<doi:10.1000/{}>",
    "doi:10.1000/{}",
    "doi:10.1000/a<{}>b",
    "[x](doi:10.1000/{})",
    "[x](<doi:10.1000/{}>)",
    "[](doi:10.1000/{})",
    '[x](doi:10.1000/1 "{}")',
    "[x]\n\n[x]: doi:10.1000/{}",
    "[{}](doi:10.1000/182)",
    "<doi:{}>",
    "[x](doi:{})",
    "[x](DOI:{}//10.1000/182)",
    "[x](https://doi.org/10.1000/{})",
    "<https://dx.doi.org/10.1000/{}>",
    '<span title="doi:10.1000/{}">x</span>',
    '<span title="<doi:10.1000/{}>">x</span>',
    '<img alt="[x](doi:10.1000/{})">',
    "<!-- <doi:10.1000/{}> -->",
    "`<doi:10.1000/1>`<doi:10.1000/{}>",
    "<script>'doi:10.1000/{}'</script>",
]
TEXTS = ["<img src onerror=RUN>"]
for construct in CONSTRUCTS:
    TEXTS += [construct.format(payload) for payload in PAYLOADS]
PAGE = """<!DOCTYPE html><title>-</title><script>
const ran = new Set(); window.ran = name => ran.add(name);
addEventListener("load", () => setTimeout(() => document.title = JSON.stringify([...ran]), 500));
</script>"""


def frame(name: str, page: str) -> str:
    page = page.replace("RUN", f"parent.ran(`{name}`)")
    return f'<iframe srcdoc="{html.escape(page)}"></iframe>'


def ours(text: str) -> str:
    options = {
        "doiuri": {"resolve": False, "text": "<b>{name}</b>", "tidy_links": True, "warn": repr}
    }
    return markdown.markdown(text, extensions=["doiuri"], extension_configs=options)


def test_no_name_in_markdown_runs_that_plain_markdown_would_not(
    browser: Page, tmp_path: Path
) -> None:
    with_links = {text: ours(text) for text in TEXTS}
    plain = {text: markdown.markdown(text) for text in TEXTS}
    suspects = [
        text for text in TEXTS if with_links[text] != plain[text] and "RUN" in with_links[text]
    ]
    ran = what_runs(browser, tmp_path, {text: with_links[text] for text in suspects})
    assert ran <= what_runs(browser, tmp_path, {text: plain[text] for text in ran})


def what_runs(browser: Page, folder: Path, pages: dict[str, str]) -> set[str]:
    """The keys of the pages that run a script in the browser."""
    page = folder / "page.html"
    keys = list(pages)
    frames = [
        frame("control", TEXTS[0]),
        *(frame(str(number), pages[key]) for number, key in enumerate(keys)),
    ]
    page.write_text(PAGE + "".join(frames), encoding="utf-8")
    browser.open(page)
    browser.wait("document.title !== '-'")
    ran = set(json.loads(browser.run("document.title")))
    assert "control" in ran  # the allowed scripts ran, so others would have been seen
    return {keys[int(number)] for number in ran - {"control"}}
