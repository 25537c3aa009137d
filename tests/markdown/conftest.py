"""Pages, works and sites: converted texts, the records that are asked, and MkDocs in this process."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Literal

import markdown
import markdown_doiuri
import pytest
from doiuri import DOI, plugins
from doiuri.plugins.options import Options
from doiuri.resolver import Resolver
from doiuri_proxy import resolver_for
from doiuri_proxy.pytest_plugin import Proxies
from markdown_doiuri import _verification
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from support.pages import broken, pages_of
from support.templates import compiled_once

CSL = "application/vnd.citationstyles.csl+json"
VALUES = [
    {"index": 1, "type": "URL", "data": {"format": "string", "value": "https://example.org/"}}
]


# All that these tests compare; MkDocs' own theme copies fifty files in each build
THEME = {"name": None, "custom_dir": str(Path(__file__).with_name("theme"))}


class Page(HTMLParser):
    """The links of an HTML page, as (href, class, text), its text, and the names of tags and attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[tuple[str, str, str]] = []
        self.text = ""
        self.names: set[str] = set()
        self._open: tuple[str, str, int] | None = None
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.names |= {tag, *given}
        if tag == "a":
            self._open = given.get("href") or "", given.get("class") or "", len(self.text)

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self._open:
            href, css_class, start = self._open
            self.links.append((href, css_class, self.text[start:]))
            self._open = None

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def dois(self) -> list[DOI]:
        """The DOIs of the links that the extension made."""
        return [
            DOI.from_url(href) for href, css_class, _ in self.links if "doi" in css_class.split()
        ]


@dataclass
class Rendered:
    html: str
    problems: list[markdown_doiuri.Problem] = field(default_factory=list)

    @property
    def told(self) -> list[str]:
        return [str(problem) for problem in self.problems]


Render = Callable[..., Rendered]
Serve = Callable[[Path | Iterable[dict[str, Any]]], None]


@pytest.fixture(scope="session", autouse=True)
def _templates() -> Iterator[None]:
    with compiled_once():
        yield


@pytest.fixture(autouse=True)
def _clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty cache and an unreachable resolver; tests that look up DOIs set their own."""
    monkeypatch.setenv("DOIURI_RESOLVER", "http://127.0.0.1:9")
    monkeypatch.setenv("DOIURI_CACHE", str(tmp_path / "cache.sqlite"))
    markdown_doiuri.forget()
    yield
    markdown_doiuri.forget()


def convert(
    source: str, /, *extensions: Any, configs: dict[str, Any] | None = None, **options: Any
) -> Rendered:
    """Convert without look-ups by default, after other extensions, or in their order if ours is named."""
    problems: list[markdown_doiuri.Problem] = []
    given = {"resolve": False, "warn": problems.append, **options}
    loaded = extensions if "doiuri" in extensions else [*extensions, "doiuri"]
    made = markdown.markdown(
        source, extensions=loaded, extension_configs={**(configs or {}), "doiuri": given}
    )
    assert not broken({"page.html": made})
    return Rendered(made, problems)


@pytest.fixture
def render() -> Render:
    return convert


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Serve:
    """A function that makes the extension ask these records, without a server."""

    def serve(records: Path | Iterable[dict[str, Any]]) -> None:
        def open_resolver(options: Options, distribution: str, store: Any = None) -> Resolver:
            if store is None and (options.lock or options.offline):
                return plugins.open_resolver(options, distribution)
            offline = options.offline
            return resolver_for(records, store=store, offline=offline, budget=options.budget)

        monkeypatch.setattr(_verification, "open_resolver", open_resolver)

    return serve


@dataclass
class Site:
    folder: Path
    log: pytest.LogCaptureFixture

    def build(self, **config: object) -> None:
        """Build the site as ``mkdocs build`` does, after writing ``mkdocs.yml`` with these settings."""
        self.log.clear()
        settings = {"site_name": "Test", "theme": THEME, "plugins": ["doiuri"], **config}
        file = self.folder / "mkdocs.yml"
        file.write_text(json.dumps(settings), encoding="utf-8")
        build(load_config(str(file)))
        assert not broken(pages_of(self.folder / "site"))

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
    """Write pages to a folder, ``docs`` by default, and files such as ``../hook.py``; return their site."""
    caplog.set_level(logging.INFO, logger="mkdocs")

    def make(pages: dict[str, str], docs: str = "docs") -> Site:
        (tmp_path / docs).mkdir()
        for name, text in pages.items():
            path = tmp_path / docs / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return Site(tmp_path, caplog)

    return make


@pytest.fixture
def pelican() -> Iterator[None]:
    """Keep Pelican from changing loggers for other tests; its filter drops what was said before."""
    import pelican.log

    logging.getLogger().__class__ = logging.RootLogger
    logging.setLoggerClass(logging.Logger)
    log = logging.getLogger("doiuri")
    log.addFilter(pelican.log.LimitLogger.limit_filter)  # as it does itself
    yield
    log.removeFilter(pelican.log.LimitLogger.limit_filter)
