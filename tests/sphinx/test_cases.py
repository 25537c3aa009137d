"""The shared cases of tests/cases, in the role and in references."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from doiuri import DOI, DOISyntaxError
from doiuri.plugins.display import link_to_handle
from support.cases import Case, accepted, cases, odd_cases
from support.sphinx_build import build, links, write

# What a role cannot contain: white space at the ends, line breaks (Python's), a "!" at the start.
NOT_IN_A_ROLE = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]|^[\s!]|\s$|^$")
NAMES = list(dict.fromkeys(case.name for case in odd_cases() if case.name is not None))


def role(text: str) -> str:
    return ":doi:`" + re.sub(r"([\\`<>*|_])", r"\\\1", text) + "`"


def sections(tmp_path: Path, written: list[str]) -> tuple[list[str], str]:
    """Build a page with a list item for each text; return the HTML of the items, and the warnings."""
    text = "T\n=\n\n" + "\n".join(f"* {line}" for line in written) + "\n"
    conf = 'extensions = ["sphinx_doiuri"]\ndoi_resolve = False\nsmartquotes = False\n'
    source = write(tmp_path / "src", {"index.rst": text, "conf.py": conf})
    built = build(source, tmp_path / "out")
    items = re.findall(r"<li><p>(.*?)</p></li>", built.text(), re.DOTALL)
    assert len(items) == len(written)
    return items, built.warnings


def only_link(item: str) -> tuple[str, str]:
    (link,) = links(item)
    return link.href, link.text


def test_typed_forms(tmp_path: Path) -> None:
    able = [case for case in accepted("parse") if not NOT_IN_A_ROLE.search(case.input)]
    items, _ = sections(tmp_path, [role(case.input) for case in able])
    assert len(able) > 50
    for case, item in zip(able, items, strict=True):
        assert only_link(item) == (case.url, f"doi:{case.name}"), case


@pytest.mark.parametrize("form", [":doi:`{}`", ":doi:`Title <{}>`", "`Title <{}>`__"])
def test_every_uri(tmp_path: Path, form: str) -> None:
    # a final "_" would make an embedded URI a reference to a name
    written = [form.format(re.sub("_$", r"\\_", DOI(name).uri)) for name in NAMES]
    items, _ = sections(tmp_path, written)
    for name, item in zip(NAMES, items, strict=True):
        href, text = only_link(item)
        assert href == DOI(name).url, name
        assert text in {"Title", f"doi:{name}"}


def test_what_is_no_doi_is_problematic_and_told_once(tmp_path: Path) -> None:
    refused: list[Case] = [
        case
        for case in cases("parse")
        if case.name is None and not case.strict and not NOT_IN_A_ROLE.search(case.input)
    ]
    items, warnings = sections(tmp_path, [role(case.input) for case in refused])
    assert len(refused) > 50
    told = [line for line in warnings.splitlines() if "[doi.syntax]" in line]
    assert len(told) == len(refused)
    for case, item in zip(refused, items, strict=True):
        if (handle := handle_in(case.input)) is not None:
            assert f'href="{handle}"' in item, case
            continue
        assert item.startswith('<span class="problematic">'), case
        assert unescape(re.sub("<.*?>", "", item)) == role(case.input)


def handle_in(text: str) -> str | None:
    try:
        DOI.parse(text)
    except DOISyntaxError as error:
        return link_to_handle(error)
    return None


def parsed(text: str) -> str | None:
    try:
        return DOI.parse(text).name
    except DOISyntaxError:
        return None
