"""The plugin: its options, and what it does in a build.

1. ``on_config`` adds the extension; ``on_files`` adds the files of cards, and a page of references if needed.
2. ``on_nav`` reads the sources of all pages, and looks up their DOIs in one batch.
3. ``on_page_markdown`` notes the page that is converted next; the page of references comes last.
4. ``on_page_context`` hides from MkDocs' search what it would take for words.
5. ``on_post_build`` says how many DOIs could not be checked. Problems are reported with their pages.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from doiuri import DOI, find
from doiuri.citations import EntryCache
from doiuri.plugins.display import SCRIPT, STYLE_SHEET
from doiuri.plugins.markdown import without_code
from doiuri.plugins.options import Option, hint
from mkdocs.config.base import BaseConfigOption, LegacyConfig, ValidationError
from mkdocs.config.config_options import Type
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, CombinedEvent, event_priority, get_plugin_logger
from mkdocs.structure.files import File

from markdown_doiuri._links import WORD_BREAK, without_cards
from markdown_doiuri._mentions import ID, raw_html_in
from markdown_doiuri._mkdocs._site import SiteExtension
from markdown_doiuri._options import OPTIONS, default_of
from markdown_doiuri._report import Problem

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from jinja2 import Environment
    from mkdocs.config.base import Config, ConfigErrors, ConfigWarnings
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.livereload import LiveReloadServer
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page
    from mkdocs.utils.templates import TemplateContext

    from markdown_doiuri._references import Key

_AT_NAME = re.compile(rf"@(?P<brace>\{{?)(?P<name>{ID})")
_OURS = re.compile(r"(?:@\{?|\]\(<?|\]: <?|<)doi:10\.", re.IGNORECASE)
_HIDDEN_AT = "\ue0ff"


class PageMentions(NamedTuple):
    """What the source of a page mentions, each DOI once, in order."""

    dois: list[DOI]
    cited: list[Key]
    """The works of citations such as ``[@doi:10.1000/182]``."""


def mentions_of(source: str, ids: Mapping[str, Key], *, bare_names: bool) -> PageMentions:
    """Return what the source of a page mentions; code and math are left out.

    DOIs missed here are looked up when their page is converted.

    :param ids: the works of the author's files, by their ids, as in ``@kahn``.
    """
    if "10." not in source and not ids:
        return PageMentions([], [])
    text = without_code(source)
    is_raw = raw_html_in(text)  # attributes may be links, but they cite nothing

    cited_at: dict[int, Key] = {}  # by position
    for at_name in _AT_NAME.finditer(text):
        if at_name["name"] in ids and not is_raw(at_name.start()):
            cited_at[at_name.start()] = ids[at_name["name"]]

    dois: dict[DOI, None] = {}
    for match in find(text, "markdown"):
        if bare_names or match.label:
            dois[match.doi] = None
        before = text[max(0, match.start - 2) : match.start]  # "@" or "@{"
        has_at = before.rstrip("{").endswith("@")
        if has_at and not is_raw(match.start - 1):
            cited_at[match.start] = match.doi
    cited = [cited_at[position] for position in sorted(cited_at)]
    return PageMentions(list(dois), list(dict.fromkeys(cited)))


def source_lines(source: str, converted: str) -> Iterator[int]:
    """Yield the line of the source that each converted line comes from.

    Front matter and other plugins make them differ. A line that replaces others has the line of one of
    these; one that was added has the line before it.
    """
    matcher = SequenceMatcher(None, source.split("\n"), converted.split("\n"))
    for tag, start, end, converted_start, converted_end in matcher.get_opcodes():
        for offset in range(converted_end - converted_start):
            line = start + offset + 1
            if tag != "equal":
                line = max(1, min(line, end))
            yield line


BUDGET = 60.0
"""Seconds for all requests of one build, by default."""


class ExtensionOption(BaseConfigOption[object]):
    """An option that the extension has too, checked as the extension checks it."""

    def __init__(self, option: Option) -> None:
        super().__init__()
        self.default = BUDGET if option.name == "budget" else default_of(option)
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
        if (
            not isinstance(value, str)
            or not value.endswith(".md")
            or value.startswith(("/", "../"))
        ):
            raise ValidationError(
                f"{value!r} is not the path of a page in docs_dir, such as references.md"
            )
        return posixpath.normpath(value)


_STYLE = f"assets/{STYLE_SHEET.name}"
_SCRIPT = f"assets/{SCRIPT.name}"
_FIRST = 100  # priorities among plugins
_BEFORE_I18N = -99  # mkdocs-static-i18n has -100
_LAST = -100
_NAMES = {"doiuri", "markdown_doiuri"}
_logger = get_plugin_logger("doiuri")


class DOIPlugin(BasePlugin[LegacyConfig]):  # type: ignore[no-untyped-call]  # __init_subclass__
    """MkDocs' plugin ``doiuri``: links the DOIs of all pages, verifies them together, and reports them.

    The options are those of the extension, without ``warn``; the budget is that of the whole build.
    """

    config_scheme = (
        ("bibliography", PageOption()),
        ("page_lists", Type(bool, default=False)),
        *(
            (option.name, ExtensionOption(option))
            for option in OPTIONS
            if option.name not in {"warn", "file"}
        ),
    )

    def __init__(self) -> None:
        self._entries = EntryCache()  # also of earlier builds
        self._dirty = False  # whether only changed pages are converted
        self._generated: set[str] = set()  # the paths of the pages of references that were added

        # Of the page that is converted
        self._converted = ""  # its text, which other plugins may have changed
        # the lines of its source, by the lines of this text; [] if not known yet
        self._lines: list[int] = []
        self._content: str | None = None  # its HTML, with names that may be broken

    def load_config(
        self, options: dict[str, Any], config_file_path: str | None = None
    ) -> tuple[ConfigErrors, ConfigWarnings]:
        """Check the options; MkDocs' warning of an unknown one names the option that was probably meant."""
        errors, warnings = super().load_config(options, config_file_path)
        names = [name for name, _ in self.config_scheme]
        with_hints = []
        for name, text in warnings:
            advice = "" if name in names else hint(name, names)
            with_hints.append((name, f"{text}{advice}"))
        return errors, with_hints

    def on_startup(self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:  # noqa: ARG002
        """Note the kind of build; because of this method ``mkdocs serve`` keeps the plugin between builds."""
        self._dirty = dirty

    def on_config(self, config: MkDocsConfig) -> None:
        """Add the extension."""
        _remove_extension(config)
        options = {name: self.config[name] for name, _ in self.config_scheme}
        folder = Path(config.config_file_path or "").parent
        for option in OPTIONS:
            if option.name in options:
                options[option.name] = option.in_folder(options[option.name], folder)
        try:
            self._entries = EntryCache(self._entries)
            self._extension = SiteExtension(
                self._entries, **options, warn=self._warn, is_dirty=self._dirty
            )
        except ValueError as error:
            raise PluginError(f"doiuri: {error}") from None
        # Markdown takes instances of extensions as well as names.
        config.markdown_extensions.append(self._extension)  # type: ignore[arg-type]

    @event_priority(_BEFORE_I18N)
    def on_files(self, files: Files, *, config: MkDocsConfig) -> None:
        """Add the page of references if there is none, and the style sheet of cards."""
        if "i18n" in config.plugins:
            _check_paths(files)
        if self._extension.options.details:
            files.append(File.generated(config, _STYLE, abs_src_path=str(STYLE_SHEET)))
            if _STYLE not in config.extra_css:
                config.extra_css.insert(
                    0, _STYLE
                )  # first, so that the author's style sheets override it
            files.append(File.generated(config, _SCRIPT, abs_src_path=str(SCRIPT)))
            if _SCRIPT not in config.extra_javascript:
                config.extra_javascript.append(_SCRIPT)
        references = self._extension.references
        self._generated = set()
        if references is not None and files.get_file_from_path(references.path) is None:
            paths = _in_each_language(references.path, config)
            self._generated = {path for path in paths if files.get_file_from_path(path) is None}
            for path in self._generated:
                files.append(_in_docs_dir(path, config, self._source_of_list()))

    @event_priority(_LAST)
    def on_nav(self, nav: Navigation, *, config: Config, files: Files) -> None:  # noqa: ARG002
        """Verify the DOIs of all pages in one batch."""
        options = self._extension.options
        references = self._extension.references
        if references is not None:
            references.path = self._last_page(files, references.path).src_uri

        ids = options.citing.library.ids or {}
        in_order = _in_order(nav, files)
        _report_notebooks(in_order, ids)

        dois: dict[DOI, None] = {}
        cited: list[Key] = []
        for file in in_order:
            mentions = mentions_of(file.content_string, ids, bare_names=options.mentions.names)
            dois |= dict.fromkeys(mentions.dois)
            cited += mentions.cited
        cited += options.nocite
        linked = list(dois) if options.list_links else []

        cited_dois = [key for key in cited if isinstance(key, DOI)]
        try:
            self._extension.site.prepare(dois, [*cited_dois, *linked])
        except ValueError as error:  # the lock file was broken since the last build of mkdocs serve
            raise PluginError(f"doiuri: {error}") from None
        if references is not None:
            references.add_sources(cited, linked)

    @event_priority(_FIRST)
    def _hide_citations(
        self,
        markdown: str,
        *,
        page: Page,  # noqa: ARG002
        config: MkDocsConfig,
        files: Files,  # noqa: ARG002
    ) -> str | None:
        """Hide citations from mkdocs-bibtex, which removes what is in brackets after an "@"."""
        if "bibtex" not in config.plugins:
            return None
        ids = self._extension.options.citing.library.ids or {}

        def hidden(match: re.Match[str]) -> str:
            name = match["name"]
            is_citation = name in ids or name.lower().startswith("doi:")
            at = _HIDDEN_AT if is_citation else "@"
            return f"{at}{match['brace']}{name}"

        return _AT_NAME.sub(hidden, markdown)

    @event_priority(_LAST)
    def _begin_page(self, markdown: str, *, page: Page, config: Config, files: Files) -> str:  # noqa: ARG002
        """Note the page that is converted next."""
        self._extension.begin(page.file, _as_lines(page.meta.get("nocite")))
        self._converted = markdown.replace(_HIDDEN_AT, "@")
        self._lines = []
        return self._converted

    on_page_markdown = CombinedEvent(_hide_citations, _begin_page)

    def _last_page(self, files: Files, path: str) -> File:
        """Return the file of the page of references, after moving it to the end of the files.

        MkDocs converts pages in the order of files, so all citations are known when it converts this one, and
        the list is there for plugins that keep the HTML of pages, such as mkdocs-print-site-plugin.

        :raises PluginError: if there is none.
        """
        file = files.get_file_from_path(path)
        if file is None:
            raise PluginError(
                f"doiuri: bibliography: this build has no page {path}, since a plugin or an option of one "
                "excludes it; write the page, with mkdocs-static-i18n one for each language"
            )
        if file.src_uri in self._generated:  # mkdocs-static-i18n made another File of ours
            file.content_string = self._source_of_list()
            file.generated_by = "doiuri"
        files.remove(file)
        files.append(file)
        return file

    def _source_of_list(self) -> str:
        """Return the source of a generated page of references: its title, in the language of the list."""
        return f"# {self._extension.options.citing.heading}\n"

    @event_priority(_FIRST)
    def on_env(self, env: Environment, *, config: Config, files: Files) -> None:  # noqa: ARG002
        """Note that what is converted from now on belongs to no page."""
        self._extension.begin(None)

    @event_priority(_FIRST)
    def _join_names(
        self,
        context: TemplateContext,  # noqa: ARG002
        *,
        page: Page,
        config: Config,  # noqa: ARG002
        nav: Navigation,  # noqa: ARG002
    ) -> None:
        """Join names where they may be broken, and leave out cards, for MkDocs' search.

        It would take the parts of names for words, and find each card.
        """
        self._content = page.content
        page.content = _joined(page.content)

    @event_priority(_LAST)
    def _break_names(
        self,
        context: TemplateContext,  # noqa: ARG002
        *,
        page: Page,
        config: Config,  # noqa: ARG002
        nav: Navigation,  # noqa: ARG002
    ) -> None:
        """Undo ``_join_names``, unless another plugin has changed the page."""
        if page.content == _joined(self._content):
            page.content = self._content

    on_page_context = CombinedEvent(_join_names, _break_names)

    def on_serve(self, server: LiveReloadServer, *, config: Config, builder: object) -> None:  # noqa: ARG002
        """Build again when a file changes that an option names, except the lock file, which builds write."""
        options = self._extension.options
        shared = options.shared
        for path in dict.fromkeys((*shared.files, *options.citing.style_files)):
            if path != shared.lock:
                server.watch(path)

    def on_post_build(self, *, config: Config) -> None:  # noqa: ARG002
        """Say how many DOIs could not be checked, and what else is no problem."""
        for message in self._extension.information:
            _logger.info("%s", message)
        unchecked = self._extension.site.unchecked_dois()
        if unchecked:
            _logger.info("%s", unchecked)

    def _warn(self, problem: Problem) -> None:
        file = self._extension.file
        if file is not None and problem.file is None:
            line = self._source_line(file, problem.line)
            problem = replace(problem, file=file.src_uri, line=line)
        _logger.warning("%s", problem)

    def _source_line(self, file: File, line: int | None) -> int | None:
        """Return the line of the source for a line of what is converted, which plugins may have changed.

        It is None if the line is unknown, or was added after the last one.
        """
        if line is None:
            return None
        if not self._lines:
            self._lines = list(source_lines(file.content_string, self._converted))
        if line > len(self._lines):
            return None
        return self._lines[line - 1]


def _as_lines(value: object) -> str:
    """Return a text of the metadata, or a list of texts, as lines."""
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return "" if value is None else str(value)


def _report_notebooks(files: list[File], ids: Container[str]) -> None:
    """Say which notebooks have citations or links: mkdocs-jupyter does not use Markdown's extensions."""
    notebooks = [file for file in files if file.src_uri.endswith(".ipynb")]
    names = [file.src_uri for file in notebooks if _has_citations(file.content_string, ids)]
    if names:
        _logger.warning(
            "citations and doi: links in notebooks stay as they are written: %s", ", ".join(names)
        )


def _has_citations(text: str, ids: Container[str]) -> bool:
    """Return whether a text has links to DOIs or citations, which the extension would read."""
    if _OURS.search(text):
        return True
    return any(match["name"] in ids for match in _AT_NAME.finditer(text))


def _in_each_language(path: str, config: MkDocsConfig) -> list[str]:
    """Return the path of a page; with mkdocs-static-i18n, those of the page in all languages."""
    i18n = config.plugins.get("i18n")
    if i18n is None:
        return [path]
    languages = [language["locale"] for language in i18n.config["languages"] if language["build"]]
    if i18n.config["docs_structure"] == "folder":
        return [f"{language}/{path}" for language in languages]
    stem, extension = posixpath.splitext(path)
    return [f"{stem}.{language}{extension}" for language in languages]


def _check_paths(files: Files) -> None:
    """Raise PluginError if a file has no source path: mkdocs-static-i18n would end with a TypeError."""
    for file in files:
        if file.abs_src_path is None:
            raise PluginError(
                f"doiuri: i18n cannot build {file.src_uri}: it has no source path; {file.generated_by} "
                "generates it in memory, but has to write it to a file"
            )


def _in_docs_dir(path: str, config: MkDocsConfig, source: str) -> File:
    """Return a generated page that has a path, as if it stood in the folder of pages.

    mkdocs-static-i18n fails if a file has no path, and omits pages that are not in this folder.
    """
    file = File.generated(config, path, content=source)
    file.abs_src_path = str(Path(config.docs_dir, path))
    return file


def _in_order(nav: Navigation, files: Files) -> list[File]:
    """Return the files of pages: those of the navigation in its order, then the others."""
    in_navigation = [page.file for page in nav.pages]
    return list(dict.fromkeys([*in_navigation, *files.documentation_pages()]))


def _remove_extension(config: MkDocsConfig) -> None:
    """Remove the extension from the list if it is there without options; raises PluginError otherwise.

    That of an earlier build goes, too: mkdocs-static-i18n builds each language with one configuration.
    """
    config.markdown_extensions[:] = [
        name for name in config.markdown_extensions if not isinstance(name, SiteExtension)
    ]
    listed = [name for name in config.markdown_extensions if name in _NAMES]
    for name in listed:
        if config.mdx_configs.get(name):
            raise PluginError(
                f'doiuri: "{name}" is in markdown_extensions too, with options of its own; '
                "remove it there and give its options to the plugin"
            )
        config.markdown_extensions.remove(name)


def _joined(content: str | None) -> str | None:
    """Return the HTML of a page with names that are not broken, and without cards."""
    if content is None:
        return None
    return without_cards(content.replace(WORD_BREAK, ""))
