"""The plugin: adds the extension, has all DOIs verified together, and reports them by file and line."""

from __future__ import annotations

import re
import sys
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from doiuri import find
from mkdocs.config.base import LegacyConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, CombinedEvent, event_priority, get_plugin_logger
from mkdocs.structure.files import File

from markdown_doiuri._code import without_code
from markdown_doiuri._links import WORD_BREAK
from markdown_doiuri._mkdocs._config import beside, schema
from markdown_doiuri._mkdocs._site import SiteExtension, with_list
from markdown_doiuri._options import hint
from markdown_doiuri._report import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri import DOI
    from jinja2 import Environment
    from mkdocs.config.base import Config, ConfigErrors, ConfigWarnings
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page
    from mkdocs.utils.templates import TemplateContext

_LABEL = re.compile(r"(?:urn:|info:)?(?:doi|hdl)|(?:https?:)?//(?:dx\.|www\.)?doi\.org|<", re.IGNORECASE)


class Read(NamedTuple):
    """What the source of a page mentions, each DOI once, in order."""

    dois: list[DOI]
    cited: list[DOI]
    """Those of citations such as ``[@doi:10.1000/182]``."""


class Sources:
    """The DOIs in the sources of a site's pages; a file is read again only if it has changed."""

    def __init__(self, *, bare_names: bool) -> None:
        self._bare_names = bare_names
        self._known: dict[str, tuple[tuple[int, int], Read]] = {}  # by path, with what tells changes

    def read(self, file: File) -> Read:
        """Return the DOIs in the source of a page; code and math are left out."""
        path = file.abs_src_path
        if path is None:  # made by a plugin
            return self._find(file.content_string)
        status = Path(path).stat()
        state = status.st_mtime_ns, status.st_size
        known = self._known.get(path)
        if known is None or known[0] != state:
            known = self._known[path] = state, self._find(file.content_string)
        return known[1]

    def _find(self, source: str) -> Read:
        if "10." not in source:
            return Read([], [])
        # What this leaves out by mistake is requested with its page.
        text = without_code(source)
        dois: dict[DOI, None] = {}
        cited: dict[DOI, None] = {}
        for start, _, written, doi in find(text, "markdown"):
            if self._bare_names or _LABEL.match(written):
                dois[doi] = None
            if text[max(0, start - 2) : start].rstrip("{").endswith("@"):
                cited[doi] = None
        return Read(list(dois), list(cited))


class Lines:
    """The lines of a page's file that the lines of its converted text come from."""

    def __init__(self, source: str, converted: str) -> None:
        self._lines: list[int] = []
        self._offset = 0
        if source.endswith(converted):
            self._offset = source.count("\n", 0, len(source) - len(converted))  # front matter
        else:
            self._lines = list(_origins(source.splitlines(), converted.splitlines()))

    def __getitem__(self, line: int) -> int:
        """Return the line in the file for a line of the converted text; both are counted from 1."""
        return self._lines[line - 1] if line <= len(self._lines) else line + self._offset


def _origins(source: list[str], converted: list[str]) -> Iterator[int]:
    """Yield the line of the source for each converted line; for a new one, that replaced or before it."""
    for tag, start, end, first, last in SequenceMatcher(None, source, converted).get_opcodes():
        for number in range(last - first):
            yield max(1, start + number + 1 if tag == "equal" else min(start + number + 1, end))


_FIRST, _LAST = 100, -100  # priorities among plugins
_NAMES = {"doiuri", "markdown_doiuri"}
_logger = get_plugin_logger("doiuri")


class DOIPlugin(BasePlugin[LegacyConfig]):  # type: ignore[no-untyped-call]  # __init_subclass__
    """MkDocs' plugin ``doiuri``: links the DOIs of all pages, verifies them together, and reports them.

    The options are those of the extension, without ``warn``; the budget is that of the whole build.
    """

    config_scheme = schema()

    def __init__(self) -> None:
        self._sources: dict[bool, Sources] = {}
        self._dirty = False
        self._converted = ""
        self._problems: list[Problem] = []
        self._content: str | None = None

    def load_config(
        self, options: dict[str, Any], config_file_path: str | None = None
    ) -> tuple[ConfigErrors, ConfigWarnings]:
        """Check the options; MkDocs' warning of an unknown one names the option that was probably meant."""
        errors, warnings = super().load_config(options, config_file_path)
        names = [name for name, _ in self.config_scheme]
        return errors, [
            (name, text if name in names else f"{text}{hint(name, names)}") for name, text in warnings
        ]

    def on_startup(self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:  # noqa: ARG002
        """Note the kind of build; because of this method ``mkdocs serve`` keeps the plugin between builds."""
        self._dirty = dirty

    def on_config(self, config: MkDocsConfig) -> None:
        """Add the extension."""
        _remove_extension(config)
        options = {name: self.config[name] for name, _ in self.config_scheme}
        options["lock"] = beside(config.config_file_path, options["lock"])
        try:
            self._extension = SiteExtension(**options, warn=self._warn)
        except ValueError as error:
            raise PluginError(f"doiuri: {error}") from None
        # Markdown takes instances of extensions as well as names.
        config.markdown_extensions.append(self._extension)  # type: ignore[arg-type]

    def on_files(self, files: Files, *, config: MkDocsConfig) -> None:
        """Add the page of references if there is none."""
        references = self._extension.references
        if references is not None and files.get_file_from_path(references.path) is None:
            files.append(File.generated(config, references.path, content="# References\n"))

    @event_priority(_LAST)
    def on_nav(self, nav: Navigation, *, config: Config, files: Files) -> None:  # noqa: ARG002
        """Verify the DOIs of all pages in one batch."""
        bare_names = self._extension.options.bare_names
        sources = self._sources.setdefault(bare_names, Sources(bare_names=bare_names))
        extension = self._extension
        pages = [sources.read(file) for file in _in_order(nav, files)]
        cited = [doi for page in pages for doi in page.cited]
        extension.site.prepare((doi for page in pages for doi in page.dois), cited)
        if extension.references is not None:
            extension.references.add(cited)

    @event_priority(_LAST)
    def on_page_markdown(self, markdown: str, *, page: Page, config: Config, files: Files) -> None:  # noqa: ARG002
        """Note the page that is converted next."""
        self._extension.file = page.file
        self._converted = markdown

    @event_priority(_FIRST)
    def on_page_content(self, html: str, *, page: Page, config: Config, files: Files) -> None:  # noqa: ARG002
        """Report the problems of the page that was converted last."""
        problems, self._problems = self._problems, []
        self._extension.file = None
        if not problems:
            return
        lines = Lines(page.file.content_string, self._converted)
        for problem in sorted(problems, key=lambda problem: problem.line or sys.maxsize):
            line = f":{lines[problem.line]}" if problem.line else ""
            _logger.warning("%s%s: %s", page.file.src_uri, line, problem.message)

    @event_priority(_FIRST)
    def on_env(self, env: Environment, *, config: Config, files: Files) -> None:  # noqa: ARG002
        """Write the list of references."""
        references = self._extension.references
        file = None if references is None else files.get_file_from_path(references.path)
        if references is None or file is None or file.page is None or file.page.content is None:
            return
        page = file.page
        page.content = with_list(file.page.content, references.html(file, everything=self._dirty))
        page.present_anchor_ids = (page.present_anchor_ids or set()) | references.ids

    @event_priority(_FIRST)
    def _join_names(self, context: TemplateContext, *, page: Page, config: Config, nav: Navigation) -> None:  # noqa: ARG002
        """Join names where they may be broken, for MkDocs' search: it would take their parts for words."""
        self._content = page.content
        page.content = _joined(page.content)

    @event_priority(_LAST)
    def _break_names(self, context: TemplateContext, *, page: Page, config: Config, nav: Navigation) -> None:  # noqa: ARG002
        """Undo this, unless another plugin has changed the page."""
        if page.content == _joined(self._content):
            page.content = self._content

    on_page_context = CombinedEvent(_join_names, _break_names)

    def on_post_build(self, *, config: Config) -> None:  # noqa: ARG002
        """Say how many DOIs could not be checked."""
        if unknown := self._extension.site.unknown():
            _logger.info("%s", unknown)

    def _warn(self, problem: Problem) -> None:
        if self._extension.file is not None:
            self._problems.append(problem)
        else:
            _logger.warning("%s", problem)


def _in_order(nav: Navigation, files: Files) -> list[File]:
    """Return the files of pages: those of the navigation in its order, then the others."""
    return list(dict.fromkeys([*(page.file for page in nav.pages), *files.documentation_pages()]))


def _remove_extension(config: MkDocsConfig) -> None:
    """Remove the extension from the list if it is there without options; raises PluginError otherwise."""
    listed = [name for name in config.markdown_extensions if name in _NAMES]
    for name in listed:
        if config.mdx_configs.get(name):
            raise PluginError(
                f'doiuri: "{name}" is in markdown_extensions too, with options of its own; '
                "remove it there and give its options to the plugin"
            )
        config.markdown_extensions.remove(name)


def _joined(content: str | None) -> str | None:
    return content and content.replace(WORD_BREAK, "")
