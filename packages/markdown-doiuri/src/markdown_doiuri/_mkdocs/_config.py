"""The options of the plugin: those of the extension, and how MkDocs checks them."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import Any

from doiuri.plugins import Option
from mkdocs.config.base import BaseConfigOption, ValidationError

from markdown_doiuri._options import OPTIONS

BUDGET = 60.0
"""Seconds for all requests of one build, by default."""


class ExtensionOption(BaseConfigOption[object]):
    """An option that the extension has too, checked as the extension checks it."""

    def __init__(self, option: Option) -> None:
        super().__init__()
        self.default = None if option.variable else BUDGET if option.name == "budget" else option.default
        self._option = option

    def run_validation(self, value: object) -> object:
        """Return ``value``; raises ValidationError if it is invalid."""
        if value is None and self._option.none is None:
            return self.default
        try:
            # an invalid variable is reported once, by the extension
            self._option.read({self._option.name: value}, environ={})
        except ValueError as error:
            raise ValidationError(str(error).removeprefix(f"{self._option.name}: ")) from None
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
    shared = (option for option in OPTIONS if option.name not in {"warn", "file"})
    return ("bibliography", PageOption()), *((option.name, ExtensionOption(option)) for option in shared)


def beside(config_file: str | None, path: object) -> object:
    """Return a path, or each of several, as seen from the folder of ``mkdocs.yml``, if it is relative."""
    if isinstance(path, list):
        return [beside(config_file, one) for one in path]
    if not config_file or not isinstance(path, str) or not path:
        return path
    return str(Path(config_file).parent / path)
