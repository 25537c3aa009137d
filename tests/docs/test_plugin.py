"""The plugin of the manual works in the real markdown-it-py."""

from __future__ import annotations

import importlib.util
from types import ModuleType
from typing import Any

import pytest
from markdown_it import MarkdownIt
from support.manual.building import ROOT

PAGE = """\
See [the handbook](doi:10.1000/182), 10.1038/nphys1170 and [10.1000/182](https://example.org).

[Wrong](doi:10.1000), and 10.1038/nphys117O *in* `10.1000/code`.
"""


@pytest.fixture(scope="module")
def plugin() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mdit_doiuri", ROOT / "docs/howto/mdit_doiuri.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_mentions_and_dead_dois(plugin: ModuleType, proxy: str) -> None:
    env: dict[str, Any] = {}
    md = MarkdownIt().use(plugin.doi_plugin, resolver=proxy)

    page = md.render(PAGE, env)
    told, unchecked = plugin.problems(env)

    link = '<a href="https://doi.org/{}" class="doi">{}</a>'
    assert page.count('class="doi"') == 3
    assert link.format("10.1000/182", "the handbook") in page
    assert link.format("10.1038/nphys1170", "10.1038/nphys1170") in page
    assert '<a href="https://example.org">10.1000/182</a>' in page
    assert "<code>10.1000/code</code>" in page
    assert told == [
        (3, "'doi:10.1000' is not a DOI: no \"/\" after the prefix (position 11)"),
        (3, "DOI not found: 10.1038/nphys117O; did you mean 10.1038/nphys1170?"),
    ]
    assert unchecked == ""


def test_what_cannot_be_checked_is_one_sentence(plugin: ModuleType) -> None:
    env: dict[str, Any] = {}
    MarkdownIt().use(plugin.doi_plugin, offline=True).render(PAGE, env)

    told, unchecked = plugin.problems(env)

    assert len(told) == 1
    assert unchecked == "3 of 3 DOIs could not be checked: offline: request not sent"
