"""Hostile texts: no script runs that plain Markdown would not run, and conversion takes linear time."""

import html
import json
import re
from collections.abc import Callable
from pathlib import Path

import markdown
import pytest
from support.browser import dump_dom
from support.growth import ATTEMPTS, seconds

from .conftest import convert

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
TEXTS = ["<img src onerror=RUN>"] + [
    construct.format(payload) for construct in CONSTRUCTS for payload in PAYLOADS
]
PAGE = """<!DOCTYPE html><title>-</title><script>
const ran = new Set(); window.ran = name => ran.add(name);
addEventListener("load", () => setTimeout(() => document.title = JSON.stringify([...ran]), 500));
</script>"""


def frame(name: str, page: str) -> str:
    page = page.replace("RUN", f"parent.ran(`{name}`)")
    return f'<iframe srcdoc="{html.escape(page)}"></iframe>'


@pytest.mark.newest
def test_nothing_runs_that_plain_markdown_would_not(tmp_path: Path) -> None:
    ours = {text: convert(text, text="<b>{name}</b>", tidy_links=True).html for text in TEXTS}
    plain = {text: markdown.markdown(text) for text in TEXTS}
    suspects = [text for text in TEXTS if ours[text] != plain[text] and "RUN" in ours[text]]
    ran = what_runs(tmp_path, {text: ours[text] for text in suspects})
    assert ran <= what_runs(tmp_path, {text: plain[text] for text in ran})


def what_runs(folder: Path, pages: dict[str, str]) -> set[str]:
    """The keys of the pages that run a script in the browser."""
    page, keys = folder / "page.html", list(pages)
    frames = [
        frame("control", TEXTS[0]),
        *(frame(str(number), pages[key]) for number, key in enumerate(keys)),
    ]
    page.write_text(PAGE + "".join(frames), encoding="utf-8")
    title = re.search("<title>(.*?)</title>", dump_dom(page))
    assert title
    ran = set(json.loads(html.unescape(title[1])))
    assert "control" in ran  # the allowed scripts ran, so others would have been seen
    return {keys[int(number)] for number in ran - {"control"}}


LONG: dict[str, Callable[[int], str]] = {
    "mentions in one line": lambda n: ("word " * 30 + "doi:10.1000/1 ") * (n // 2),
    "bracketed mentions in one line": lambda n: ("word " * 30 + "(doi:10.1000/1) ") * (n // 2),
    "labels": lambda n: "doi:" * n,
    "labels and prefixes": lambda n: "doi:10." * n,
    "prefixes": lambda n: "10.1000/" * n,
    "opening brackets": lambda n: "doi:10.1000/" + "({<" * n,
    "closing brackets": lambda n: "doi:10.1000/" + ")]}>" * n,
    "brackets apart": lambda n: "doi:10.1000/1) ( " * n,
    "open autolinks": lambda n: "<doi:" * n,
    "autolinks in autolinks": lambda n: "<doi:<a>" * n,
    "tags in an open autolink": lambda n: "<doi:" + "<a>" * n,
    "quotes in a tag": lambda n: "<a " + "\"'" * n,
    "comments": lambda n: "<!--" * n,
    "emphasis": lambda n: "_doi:10.1000/1 " * n,
    "dollars": lambda n: "doi:10.1000/1 " + "$x " * n,
    "dollars together": lambda n: "doi:10.1000/1 " + "$" * n,
    "entities": lambda n: "doi:10.1000/1" + "&amp;" * n,
    "attributes": lambda n: "doi:10.1000/1" + "{.a" * n,
    "a long name": lambda n: "<doi:10.1000/" + "a" * 10 * n + ">",
    "a long URL": lambda n: "https://example.org/" + "doi:10.1000/1=" * n,
    "hostile bad ones": lambda n: "".join(f"<doi:{number}>\n\n" for number in range(n // 5)),
    "bad links": lambda n: "".join(f"[x](doi:{number})\n\n" for number in range(n // 5)),
    "raw links": lambda n: "<a href=x>doi:10.1000/1</a>\n\n" * (n // 5),
    "open raw links": lambda n: "<a href='doi.org doi:10.1000/1\n\n" * (n // 5),
}


@pytest.mark.once
@pytest.mark.parametrize("kind", LONG)
def test_time_grows_with_the_text_and_not_faster(kind: str) -> None:
    """Beyond plain Markdown's own time, four times the text may take at most eight times as long."""
    assert any(grows_evenly(LONG[kind]) for _ in range(ATTEMPTS)), "each time"  # the machine may be busy


@pytest.mark.once
@pytest.mark.parametrize("form", ["doi:10.1000/abc.{}", "(see DOI: 10.1000/abc.{})", "*doi:10.1000/a({})*"])
def test_a_long_line_takes_at_most_twice_as_long_as_without_dois(form: str) -> None:
    line = " ".join(f"{'some words and ' * 26}{form.format(number)}" for number in range(2_500))
    assert len(line) > 1_000_000
    ratios = []
    for _ in range(ATTEMPTS):  # the machine may be busy
        plain = seconds(lambda: markdown.markdown(line))
        ratios.append(seconds(lambda: convert(line)) / plain)
    assert min(ratios) <= 2, ratios


def grows_evenly(text: Callable[[int], str]) -> bool:
    """Whether it does, with a tolerance of 0.3 s and an upper limit of 3 s."""
    extra, usual = [], seconds(lambda: markdown.markdown("some plain words\n" * 2_000))
    for size in (2_000, 8_000):
        plain = seconds(lambda: markdown.markdown(text(size)))  # noqa: B023 - called at once
        extra.append(seconds(lambda: convert(text(size))) - plain)  # noqa: B023
    return extra[1] < min(20 * usual + 8 * max(extra[0], 0), 200 * usual)


@pytest.mark.parametrize("number", ["9" * 5000, "0" * 5000 + "65"], ids=["too large", "leading zeros"])
@pytest.mark.parametrize(
    "text",
    [
        "doi:10.1000/182 {}",
        "<doi:10.1000/a{}>",
        "[x](doi:10.1000/a{})",
        "[x](https://doi.org/10.1000/a{})",
        "{} <doi:10.1000/182.>",
    ],
)
def test_a_character_reference_of_thousands_of_digits_is_no_error(number: str, text: str) -> None:
    assert "10.1000/" in convert(text.format(f"&#{number};")).html
