"""Sites built by MkDocs in this process, and pages of its server."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from doiuri_proxy.pytest_plugin import Proxies
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig

from ..page import Page

DATA = {"format": "string", "value": "https://example.org/"}
RECORDS = {
    "agencies": {"10.1000": "Crossref"},
    "records": [
        {"handle": name, "values": [{"index": 1, "type": "URL", "data": DATA}]}
        for name in ("10.1000/182", "10.1000/456", "10.1000/789")
    ],
}


@dataclass
class Site:
    folder: Path
    log: pytest.LogCaptureFixture

    def build(self, **config: object) -> None:
        """Build the site as ``mkdocs build`` does, after writing ``mkdocs.yml`` with these settings."""
        self.log.clear()
        settings = {"site_name": "Test", "plugins": ["doiuri"], **config}
        file = self.folder / "mkdocs.yml"
        file.write_text(json.dumps(settings), encoding="utf-8")
        build(load_config(str(file)))

    def rebuild(self, command: Literal["build", "serve"], *, dirty: bool = False) -> None:
        """Build with the same settings again, as ``mkdocs serve`` or ``mkdocs build --dirty`` do."""
        self.log.clear()
        config = self.config()
        config.plugins.on_startup(command=command, dirty=dirty)
        build(config, dirty=dirty)

    def config(self) -> MkDocsConfig:
        return load_config(str(self.folder / "mkdocs.yml"))

    def page(self, path: str) -> Page:
        return Page(self.source(path))

    def source(self, path: str) -> str:
        return (self.folder / "site" / path).read_text(encoding="utf-8")

    def messages(self, level: int = logging.WARNING) -> list[str]:
        """What the plugin has said at a level, in order."""
        return [
            record.getMessage().removeprefix("doiuri: ")
            for record in self.log.records
            if record.name == "mkdocs.plugins.doiuri" and record.levelno == level
        ]


MakeSite = Callable[..., Site]


@pytest.fixture
def resolver(doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes a proxy with the module's records the resolver."""
    monkeypatch.setenv("DOIURI_RESOLVER", doi_proxy.url)


@pytest.fixture
def site(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> MakeSite:
    """Write pages to a folder, ``docs`` by default, and return the site that they make."""
    caplog.set_level(logging.INFO, logger="mkdocs")

    def make(pages: dict[str, str], docs: str = "docs") -> Site:
        for name, text in pages.items():
            path = tmp_path / docs / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return Site(tmp_path, caplog)

    return make
