"""The options of the plugin: those of the extension, and how MkDocs checks them."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import Any

from mkdocs.config.base import BaseConfigOption, Config, ValidationError

from markdown_doiuri._extension import DOIExtension
from markdown_doiuri._options import default_config

BUDGET = 60.0
"""Seconds for all requests of one build, by default."""


class ExtensionOption(BaseConfigOption[object]):
    """An option that the extension has too, checked as the extension checks it."""

    def __init__(self, default: object) -> None:
        super().__init__()
        self.default = default
        self._key = ""

    def pre_validation(self, config: Config, key_name: str) -> None:  # noqa: ARG002
        """Remember the name of the option, which begins the messages of the extension."""
        self._key = key_name

    def run_validation(self, value: object) -> object:
        """Return ``value``; raises ValidationError if the extension refuses it."""
        try:
            DOIExtension(**{self._key: value})
        except ValueError as error:
            problem = str(error)
            # Variables of the environment are reported once, when the extension is made.
            if not problem.startswith("DOIURI_"):
                raise ValidationError(problem.removeprefix(f"{self._key}: ")) from None
        return value


class PageOption(BaseConfigOption[str]):
    """The path of a page in the folder of pages, or ""."""

    def __init__(self) -> None:
        super().__init__()
        self.default = ""

    def run_validation(self, value: object) -> str:
        """Return ``value``; raises ValidationError if it is not the path of a page."""
        if not value:
            return ""
        if not isinstance(value, str) or not value.endswith(".md") or value.startswith(("/", "../")):
            raise ValidationError(f"{value!r} is not the path of a page in docs_dir, such as references.md")
        return posixpath.normpath(value)


def schema() -> tuple[tuple[str, BaseConfigOption[Any]], ...]:
    """Return the plugin's options, as MkDocs wants them."""
    defaults = {
        name: default for name, (default, _) in default_config().items() if name not in {"warn", "file"}
    }
    defaults["budget"] = BUDGET
    shared = ((name, ExtensionOption(default)) for name, default in defaults.items())
    return ("bibliography", PageOption()), *shared


def beside(config_file: str | None, path: object) -> object:
    """Return ``path`` as seen from the folder of ``mkdocs.yml``, if it is a relative path."""
    if not config_file or not isinstance(path, str) or not path:
        return path
    return str(Path(config_file).parent / path)
