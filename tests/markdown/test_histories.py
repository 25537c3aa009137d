"""After any history of edits and answers, a site shows, reports and locks what its first build would."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from support.checks import assert_same, differing_fields
from support.pages import broken, pages_of
from support.references import NOTES
from support.servers.metadata import changing_proxy
from support.servers.web import site

from .conftest import THEME

TEXTS = {
    "nothing": "Text",
    "links": "[](doi:10.5555/a) doi:10.5555/b, `doi:10.5555/code`, [x](doi:10.5555)",
    "links c": "doi:10.5555/c",
    "dead": "doi:10.5555/dead <doi:10.5555/DEAD>\n\nhttps://doi.org/10.5555/dead 10.5555/dead",
    "cites a": "[@doi:10.5555/a]",
    "cites b, a": "## On @{doi:10.5555/b}\n\n[@doi:10.5555/b; @doi:10.5555/a, p. 3] @doi:10.5555/dead",
    "cites own": "[@own]",
    "notes": "## On [@doi:10.5555/b]\n\nSee[^n] [@doi:10.5555/a], @doi:10.5555/b.\n\n[^n]: [@doi:10.5555/a]",
    "lists": "[@doi:10.5555/b] and [@doi:10.5555/a]\n\n///References Go Here///\n\nEnd",
}
OPTIONS: dict[str, list[object]] = {
    "bibliography": ["references.md", ""],
    "citation": ["author-year", "number"],
    "details": [False, True],
    "resolve": [True, False],
    "bare_names": [False, True],
    "text": ["name", "{authors} ({year})"],
    "nocite": [[], ["10.5555/c"]],
    "reference_style": ["", "notes.csl"],
    "notes": ["", False],
    "lock": ["", "lock.json"],
}
WORKS = (
    '[{"id": "own", "title": "Own"}]',
    '[{"id": "own", "title": "Mine"}, {"DOI": "10.5555/A", "title": "A"}]',
    "[]",
)
Built = tuple[dict[str, str], list[str], bytes]  # pages, what was said, and the lock file

PLUGINS: Any = MkDocsConfig.plugins  # keeps plugins for later builds of the process


@dataclass(frozen=True)
class Step:
    """What happens before a build."""

    texts: dict[str, str] = field(default_factory=dict)
    """Pages and the names of their new texts; "" deletes a page."""
    states: dict[str, str] = field(default_factory=dict)
    """DOIs and their new states; an hour passes, otherwise a minute."""
    options: dict[str, int] = field(default_factory=dict)
    works: int = 0
    hurries: bool = False
    """Whether the budget allows no request."""


class MkDocs:
    """A site that is built again after each step by the same plugin, and also for the first time."""

    head = "# {0}\n\n"

    def __init__(self, folder: Path, log: pytest.LogCaptureFixture, url: str) -> None:
        self._folder = folder
        self._log = log
        self._url = url
        self.states = {"a": "by Kahn", "b": "by Kahn", "c": "by Abel"}
        self.later = 0.0
        self._options = {name: values[0] for name, values in OPTIONS.items()}
        self._kept: dict[str, Any] = {}
        self._builds = 0
        (folder / "docs").mkdir()

    def after(self, step: Step) -> None:
        """Do what a step says, build, and compare."""
        for name, text in step.texts.items():
            path = self._folder / "docs" / f"{name}.md"
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True)
            if text:
                path.write_text(f"{self.head.format(name)}{TEXTS[text]}\n", "utf-8")
        (self._folder / "works.json").write_text(WORKS[step.works], "utf-8")
        self.states |= step.states
        self._builds += 1
        self.later += 3_700 if step.states else 61
        cache = self._folder / "cache"  # the answers of caches have not expired
        cache.unlink(missing_ok=True)
        cache.symlink_to(self._folder / f"cache {self._builds}")
        self._options |= {name: OPTIONS[name][number] for name, number in step.options.items()}
        if step.hurries:  # it may know more than a first build
            self._build("kept", self._kept, budget=1e-6)
            return
        kept = self._build("kept", self._kept)
        if self._builds == 1:  # it is a first build
            return
        fresh = self._build(f"fresh {self._builds}", {}, timeout=30 + self._builds)
        when = f"after step {self._builds} ({differing_fields(step)}), as in a first build"
        for what, told, expected in zip(
            ("pages", "messages", "lock file"), kept, fresh, strict=True
        ):
            assert_same(f"the {what} {when}", told, expected)

    def _build(self, name: str, kept: dict[str, Any], **more: object) -> Built:
        options = {
            **self._options,
            "works": "works.json",
            "cache": str(self._folder / "cache"),
            **more,
        }
        lock = self._folder / f"{name}.json"
        if options["reference_style"]:
            (self._folder / "notes.csl").write_text(NOTES, "utf-8")
        options |= {"resolver": self._url, "lock": options["lock"] and str(lock)}
        out = self._folder / name
        self._log.clear()
        self._run(out, options, kept)
        said = [
            record.getMessage()
            for record in self._log.records
            if record.name in {"doiuri", "mkdocs.plugins.doiuri"}
        ]
        pages = pages_of(out)
        assert not broken(pages)
        return pages, said, lock.read_bytes() if options["lock"] else b""

    def _run(self, out: Path, options: dict[str, object], kept: dict[str, Any]) -> None:
        settings: dict[str, Any] = {
            "site_name": "Test",
            "theme": THEME,
            "plugins": [{"doiuri": options}],
        }
        settings["markdown_extensions"] = ["footnotes"]
        file = self._folder / "mkdocs.yml"
        file.write_text(json.dumps(settings), "utf-8")
        PLUGINS.plugin_cache = kept
        config = load_config(str(file), site_dir=str(out))
        config.plugins.on_startup(command="serve", dirty=False)
        build(config)


class Pelican(MkDocs):
    """The same in Pelican, with its own cache, and several runs of one instance."""

    head = (
        "Title: Page {0}\nDate: 2026-01-01\nSummary: On [@doi:10.5555/a] and doi:10.5555/dead\n\n"
    )

    def _run(self, out: Path, options: dict[str, object], kept: dict[str, Any]) -> None:
        from pelican import Pelican
        from pelican.settings import read_settings

        del options["bibliography"]
        options["works"] = str(self._folder / "works.json")
        if options["reference_style"]:
            options["reference_style"] = str(self._folder / "notes.csl")
        if kept.get("options") != options:
            settings = {
                "PATH": str(self._folder / "docs"), "OUTPUT_PATH": str(out), "DELETE_OUTPUT_DIRECTORY": True,
                "CACHE_PATH": str(out.with_suffix(".cache")), "CACHE_CONTENT": True,
                "LOAD_CONTENT_CACHE": True, "THEME": "simple", "TIMEZONE": "UTC",
                "DIRECT_TEMPLATES": ["index"], "AUTHOR_SAVE_AS": "", "CATEGORY_SAVE_AS": "",
                "PLUGINS": ["markdown_doiuri"], "MARKDOWN": {
                    "extension_configs": {"doiuri": dict(options), "markdown.extensions.footnotes": {}},
                },
            }  # fmt: skip
            kept |= {"options": options, "site": Pelican(read_settings(override=settings))}
        kept["site"].run()


@pytest.fixture(params=[MkDocs, Pelican])
def served(
    request: pytest.FixtureRequest,
    pelican: None,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[MkDocs]:
    monkeypatch.setattr(PLUGINS, "plugin_cache", {})
    for name in ("doiuri", "mkdocs"):
        caplog.set_level("INFO", logger=name)
    with site(changing_proxy(lambda: made.states)) as server:
        made = request.param(tmp_path, caplog, server.url)
        monotonic = time.monotonic
        monkeypatch.setattr(time, "monotonic", lambda: monotonic() + made.later)
        yield made


# None of a pair hides what the other one does
PAIRS = [
    ["bibliography", "citation"], ["details", "text"], ["resolve", "bare_names"], ["nocite", "lock"],
    ["reference_style"], ["notes"],
]  # fmt: skip
ALL = {"index": "cites a", "b/page": "cites b, a", "c": "dead", "d/page": "lists"}
HISTORIES = {
    "pages gain and lose citations": [
        Step({"index": "cites a", "b/page": "nothing", "c": "cites own"}), Step({"b/page": "cites b, a"}),
        Step({"index": "links"}), Step({"b/page": "", "c": "cites a"}),
    ],
    "links become citations": [Step({"index": "links"}), Step({"index": "cites b, a"})],
    "the author writes the page of the list": [
        Step({"index": "cites a"}), Step({"references": "lists"}), Step({"references": ""}),
    ],
    "numbers follow": [
        Step(ALL, options={"citation": 1}), Step({"index": "cites own"}),
        Step({"b/page": "nothing", "d/page": "dead"}),
    ],
    "a dead DOI is registered, and dies again": [
        Step(ALL), Step(states={"dead": "registered"}), Step(states={"dead": "dead", "a": "dead"})
    ],
    "works change, and are retracted": [
        Step(ALL), Step(states={"a": "by Abel"}), Step(states={"b": "retracted"}, works=1), Step(works=0)
    ],
    "a work is named": [
        Step({"index": "cites own", "b/page": "cites a"}, works=2, options={"citation": 1}), Step()
    ],
    "works become known": [Step(ALL, hurries=True), Step(), Step({"e": "cites b, a"}, hurries=True), Step()],
    "a lock file gains entries": [
        Step({"index": "cites a"}, options={"lock": 1}), Step({"b/page": "dead", "c": "links c"}),
        Step({"d/page": "cites a", "e": "cites own"}),
    ],
    "citations become notes, and text again": [
        Step({**ALL, "e": "notes"}, options={"reference_style": 1}),
        Step({"c": "notes", "e": "nothing"}, states={"a": "by Abel"}),
        Step(options={"bibliography": 1, "notes": 1}), Step({"e": "notes"}, options={"notes": 0}),
        Step(options={"reference_style": 0}),
    ],
    "options change": [
        Step(ALL), *(Step(options=dict.fromkeys(before, 0) | dict.fromkeys(names, 1))
                     for before, names in pairwise([[], *PAIRS]))
    ],
}  # fmt: skip


@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
def test_a_site_is_that_of_a_first_build(history: list[Step], served: MkDocs) -> None:
    for step in history:
        served.after(step)
