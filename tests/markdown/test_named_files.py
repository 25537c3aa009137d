"""A file that an option names is part of what is built, in each build of one process, too."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import markdown
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort
from support.named_files import CITED, FILES, OPTIONS, Step, check, each_in_turn, histories

from .conftest import THEME

SOURCE = "\n\n".join(f"[{name if name[0] == '@' else f'@doi:{name}'}]" for name in CITED)
PLUGINS: Any = MkDocsConfig.plugins  # keeps plugins for later builds of the process
Built = tuple[str, list[str]]
Builder = Callable[[Path], Built]


class MkDocs:
    """Builds sites as ``mkdocs serve`` does, from another folder than theirs."""

    def __init__(self, log: pytest.LogCaptureFixture) -> None:
        self._log = log
        self._kept: dict[Path, dict[str, Any]] = {}

    def __call__(self, folder: Path) -> Built:
        docs = folder / "docs"
        docs.mkdir(exist_ok=True)
        (docs / "index.md").write_text(f"# T\n\n{SOURCE}\n", "utf-8")
        options = {**OPTIONS, "bibliography": "references.md", "budget": 1}
        settings = {"site_name": "Test", "theme": THEME, "plugins": [{"doiuri": options}]}
        (folder / "mkdocs.yml").write_text(json.dumps(settings), "utf-8")
        PLUGINS.plugin_cache = self._kept.setdefault(folder, {})
        self._log.clear()
        config = load_config(str(folder / "mkdocs.yml"))
        config.plugins.on_startup(command="serve", dirty=False)
        try:
            build(config)
        except Abort:
            return "", _said(self._log, folder)
        pages = sorted((folder / "site").rglob("*.html"))
        text = "".join(path.read_text("utf-8") for path in pages)
        return text, _said(self._log, folder)


class Markdown:
    """Converts a document as Python-Markdown does, in the folder of the files."""

    def __init__(self, log: pytest.LogCaptureFixture) -> None:
        self._log = log

    def __call__(self, folder: Path) -> Built:
        os.chdir(folder)
        self._log.clear()
        options = {**OPTIONS, "budget": 1}
        try:
            page = markdown.markdown(
                SOURCE, extensions=["doiuri"], extension_configs={"doiuri": options}
            )
        except ValueError as error:
            return "", [str(error)]
        return page, _said(self._log, folder)


def _said(log: pytest.LogCaptureFixture, folder: Path) -> list[str]:
    messages = [record.getMessage() for record in log.records if "INFO" not in record.levelname]
    return [message.replace(str(folder), "FOLDER") for message in messages]


@pytest.fixture(params=[MkDocs, Markdown])
def host(
    request: pytest.FixtureRequest,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Builder:
    monkeypatch.setattr(PLUGINS, "plugin_cache", {})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOIURI_OFFLINE", "1")
    builder: Builder = request.param(caplog)
    return builder


def check_history(folder: Path, history: list[Step], host: Builder) -> list[Built]:
    (folder / "kept").mkdir()
    return check(folder, FILES, history, host)


def test_each_file_in_turn(tmp_path: Path, host: Builder) -> None:
    outcomes = check_history(tmp_path, each_in_turn(FILES), host)

    # The first build, one with each file changed, and one without each file
    shown = {repr(outcome) for outcome in outcomes}
    assert len(shown) == 1 + 2 * len(FILES), "a change that makes no difference proves nothing"


EXAMPLES = 3 if settings().derandomize else 100
FIXTURES = [HealthCheck.function_scoped_fixture]


@settings(max_examples=EXAMPLES, phases=[Phase.generate], suppress_health_check=FIXTURES)
@given(history=histories(FILES))
def test_any_history(
    tmp_path_factory: pytest.TempPathFactory, host: Builder, history: list[Step]
) -> None:
    check_history(tmp_path_factory.mktemp("site"), history, host)


def test_abbreviations_are_those_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    style = FILES["parent.csl"][0].replace(
        '<text variable="title"', '<text variable="container-title" form="short"'
    )
    work = {"id": "a", "title": "A", "container-title": "Journal of Ants"}
    files = {"own.csl": style, "works.json": json.dumps([work])}
    for short in ("J. Ants", "JA"):
        files["short.json"] = json.dumps(
            {"default": {"container-title": {"Journal of Ants": short}}}
        )
        for name, content in files.items():
            Path(name).write_text(content, "utf-8")
        options = {
            "reference_style": "own.csl",
            "works": "works.json",
            "abbreviations": "short.json",
        }

        page = markdown.markdown(
            "[@a]\n", extensions=["doiuri"], extension_configs={"doiuri": options}
        )

        assert f"* {short}" in page, (short, page)
