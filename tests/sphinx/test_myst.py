"""MyST: the role, links and autolinks, with any setting for URL schemes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.sphinx_build import Build, build, write


def page(tmp_path: Path, text: str, conf: str = "") -> Build:
    base = f'extensions = ["sphinx_doiuri", "myst_parser"]\ndoi_resolve = False\n{conf}\n'
    source = write(tmp_path / "src", {"index.md": f"# T\n\n{text}\n", "conf.py": base})
    return build(source, tmp_path / "out", "html", "-n")


WRITTEN = [
    ("{doi}`10.1000/456#789`", "10.1000/456%23789", "doi:10.1000/456#789"),
    ("{DOI}`10.1000/182`", "10.1000/182", "doi:10.1000/182"),
    ("{doi}`Title <10.1000/a<b>>`", "10.1000/a%3Cb%3E", "Title"),
    ("[](doi:10.1000/456%23789)", "10.1000/456%23789", "doi:10.1000/456#789"),
    ("[Title](doi:10.1000/182)", "10.1000/182", "Title"),
    ("[*Title*](DOI:10.1000/182)", "10.1000/182", "Title"),
    ("<doi:10.1186/gm483>", "10.1186/gm483", "doi:10.1186/gm483"),
    ("[](doi:10.1000/á(b))", "10.1000/%C3%A1(b)", "doi:10.1000/á(b)"),
    (
        "[](<doi:10.1000/(SICI)1(1)2:3\\<4::5>)",
        "10.1000/(SICI)1(1)2:3%3C4::5",
        "doi:10.1000/(SICI)1(1)2:3<4::5",
    ),
    ("[r]\n\n[r]: doi:10.1000/182", "10.1000/182", "r"),
]


@pytest.mark.parametrize(
    "conf",
    [
        "",
        "myst_url_schemes = {'http': None, 'doi': 'https://doi.org/{{path}}'}",
        "myst_url_schemes = ['http', 'https']",
    ],
)
def test_each_form_is_a_link_whatever_the_url_schemes_are(tmp_path: Path, conf: str) -> None:
    built = page(tmp_path, "\n\n".join(written for written, _, _ in WRITTEN), conf)
    shown = [(link.href, link.text) for link in built.links()]
    assert shown == [(f"https://doi.org/{href}", text) for _, href, text in WRITTEN]
    assert built.warnings == ""


def test_raw_hash_and_query_are_refused_not_dropped(tmp_path: Path) -> None:
    built = page(tmp_path, "One\n[x](doi:10.1000/456#789) and\n[](doi:10.1000/a?b)")
    assert built.links() == []
    first, second = built.warnings.splitlines()
    assert "index.md:4: WARNING: " in first
    assert "10.1000/456%23789" in first
    assert "index.md:5: WARNING: " in second
    assert "10.1000/a%3Fb" in second


REFUSED = [
    ("[my *title*](doi:10.1000/4#x)", "my title &lt;doi:10.1000/4#x&gt;"),
    ("[](doi:10.1000/4#x)", "doi:10.1000/4#x"),
    ("<doi:10.1000/4#x>", "doi:10.1000/4#x"),
    ("<doi:10.1000/á#x>", "doi:10.1000/á#x"),
    ("[r]\n\n[r]: doi:10.1000/4#x", "r &lt;doi:10.1000/4#x&gt;"),
]


def test_what_is_no_doi_keeps_its_target_in_the_page(tmp_path: Path) -> None:
    built = page(tmp_path, "\n\n".join(f"One {written}" for written, _ in REFUSED))
    problems = re.findall(r'<span class="problematic"[^>]*>(.*?)</span>', built.text())
    assert problems == [shown for _, shown in REFUSED]
    assert built.warnings.count("[doi.syntax]") == len(REFUSED)


HARDCODED = [
    ("One [Title](https://doi.org/10.1000/1)", "{doi}`Title <10.1000/1>`"),
    ("One <https://doi.org/10.1000/1>", "{doi}`10.1000/1`"),
    ("One [Two\nlines](https://doi.org/10.1000/1)", "{doi}`Two lines <10.1000/1>`"),
    ("One [T][r]\n\n[r]: https://doi.org/10.1000/1", "{doi}`T <10.1000/1>`"),
    ("```{eval-rst}\n`T <https://doi.org/10.1000/1>`__\n```", ":doi:`T <10.1000/1>`"),
]


def test_the_role_that_is_proposed_is_mysts(tmp_path: Path) -> None:
    text = "\n\n".join(written for written, _ in HARDCODED)
    told = page(tmp_path, text, "doi_hardcoded_links = True").warnings
    roles = re.findall(r" could be replaced by (.*) \[doi.hardcoded\]", told)
    assert sorted(roles) == sorted(role for _, role in HARDCODED)


def test_a_badge_is_no_hard_coded_link(tmp_path: Path) -> None:
    text = "[![DOI](https://example.org/badge.svg)](https://doi.org/10.1000/1)"
    assert page(tmp_path, text, "doi_hardcoded_links = True").warnings == ""
