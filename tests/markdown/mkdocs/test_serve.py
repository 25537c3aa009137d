"""``mkdocs serve``: a change of a page shows, and only changed sources are read again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from doiuri import DOI, Handle
from doiuri.citations import Part, Reference, _entries
from doiuri_proxy.pytest_plugin import Proxies
from markdown_doiuri._mkdocs._plugin import Lines, Sources
from mkdocs.structure.files import File

from .conftest import DATA, RECORDS, MakeSite

CSL = "application/vnd.citationstyles.csl+json"


class Counted(File):
    """A file that counts how often its content is read."""

    reads = 0

    @property  # type: ignore[misc]  # without the setter
    def content_string(self) -> str:
        self.reads += 1
        return super().content_string


def test_only_changed_sources_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("See doi:10.1000/1 and [@doi:10.1000/2]")
    file = Counted("a.md", str(tmp_path), str(tmp_path / "site"), use_directory_urls=True)
    sources = Sources(bare_names=False, ids={})
    for _ in range(2):
        read = sources.read(file)
        assert [doi.name for doi in read.dois] == ["10.1000/1", "10.1000/2"]
        assert read.cited == [DOI("10.1000/2")]
    assert file.reads == 1
    path.write_text("See doi:10.1000/3 alone")
    assert [doi.name for doi in sources.read(file).dois] == ["10.1000/3"]
    assert file.reads == 2


def test_lines_that_other_plugins_add_have_the_line_before_or_replaced() -> None:
    lines = Lines("---\na: 1\n---\none\ntwo\nthree\n", "zero\none\nTWO\nTWO\nthree\nfour\n")
    assert [lines[line] for line in range(1, 7)] == [1, 4, 5, 5, 6, 6]


def test_only_new_entries_are_formatted_and_those_of_no_page_are_forgotten(
    site: MakeSite, doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("10.1000/182", "10.1000/456")
    values = [{"index": 1, "type": "URL", "data": DATA}]
    records = [{"handle": name, "values": values, "metadata": {CSL: {"title": name}}} for name in names]
    monkeypatch.setenv("DOIURI_RESOLVER", doi_proxy(records).url)
    formatted: list[list[Handle | str]] = []

    def counted(references: list[Reference], *arguments: Any) -> Iterator[tuple[Part, ...]]:
        formatted.append([reference.key for reference in references])
        return format_new(references, *arguments)

    format_new = _entries._formatted
    monkeypatch.setattr(_entries, "_formatted", counted)
    built = site({"index.md": "# A\n\n[@doi:10.1000/182]", "b.md": "# B\n\n[@doi:10.1000/182]"})
    built.build()
    for text in ("[@doi:10.1000/182] [@doi:10.1000/456]", "B", "[@doi:10.1000/456]"):
        (built.folder / "docs" / "b.md").write_text(f"# B\n\n{text}")
        built.rebuild("serve")
    assert formatted == [[DOI("10.1000/182")], [DOI("10.1000/456")], [DOI("10.1000/456")]]


def test_a_change_is_built_and_only_new_dois_are_requested(
    site: MakeSite, doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = site({"index.md": "# A\n\ndoi:10.1000/182", "b.md": "# B\n\ndoi:10.1000/456"})
    proxy = doi_proxy(RECORDS)
    monkeypatch.setenv("DOIURI_RESOLVER", proxy.url)
    monkeypatch.setenv("DOIURI_CACHE", ":memory:")
    built.build()
    assert len(proxy.log) == 2
    (built.folder / "docs" / "b.md").write_text("# B\n\ndoi:10.1000/456 and doi:10.1000/none")
    built.rebuild("serve")
    classes = [style for _, style, _ in built.page("b/index.html").links if style.startswith("doi")]
    assert classes == ["doi", "doi doi-not-found"]
    assert [request.path for request in proxy.log[2:]] == [b"/api/handles/10.1000/none"]
