"""What docutils does with DOIs: the role, the settings, the transforms, and the parser that has them all."""

from __future__ import annotations

import logging
import sys
from functools import partial
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.parsers import rst
from docutils.parsers.rst import roles
from docutils.transforms import Transform
from docutils.writers import Writer
from doiuri import DOI, DOISyntaxError
from doiuri.plugins import open_resolver
from doiuri.plugins.display import breakable
from doiuri.plugins.mentions import MENTION_OPTIONS, MentionRule
from doiuri.plugins.options import OPTIONS, Options
from doiuri.plugins.sentences import dead_doi, remarks
from doiuri.plugins.survey import Answer, Need, Survey

from docutils_doiuri.nodes import (
    cut_link,
    doi_references,
    follow_longer_name,
    link_mentions,
    link_uri,
    parse_arxiv_target,
    restore_contents,
    role_node,
    set_lines,
    source_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from docutils.parsers.rst.states import Inliner
    from pelican.readers import Readers

    from docutils_doiuri.nodes import Target

# Plain docutils has no citations
_CITES = {
    "citation",
    "notes",
    "reference_style",
    "csl_path",
    "abbreviations",
    "reference_locale",
    "works",
}
_SETTINGS = {
    f"doi_{option.name}": option
    for option in (*OPTIONS, *MENTION_OPTIONS)
    if option.name not in _CITES and option.name != "bare_links"  # docutils links URLs
}
_ATTRIBUTE = "_doiuri_options"
_RULE = "_doiuri_mentions"
_NO_MENTIONS = MentionRule(labelled=False, names=False, links=False)

_logger = logging.getLogger("doiuri")


def _check(
    setting: str, value: object, *_: object, config_parser: object = None, **__: object
) -> object:
    """Return the value of a setting. docutils puts the name of the option before the message of an error.

    :raises ValueError: if the value comes from the command line and is invalid.
    """
    try:
        _SETTINGS[setting].read({setting: value}, prefix="doi_")
    except ValueError as error:
        # An invalid value in docutils.conf is reported when a document is read
        if config_parser is None:
            raise ValueError(str(error).removeprefix(f"{setting}: ")) from None
    return value


_SPEC = tuple(
    (
        option.describe(),
        [f"--doi-{option.name.replace('_', '-')}"],
        {"metavar": f"<{option.name}>", "validator": _check},
    )
    for option in _SETTINGS.values()
)


def _prepare(document: nodes.document) -> Options:
    """Return the options in the settings of a document; the first time, arrange that its DOIs are verified.

    A setting that is None has its default. If a setting is invalid, an error is reported, once a document;
    links are then made with the defaults, and no DOI is looked up.
    """
    attributes = vars(document)
    if _ATTRIBUTE not in attributes:
        document.transformer.add_transform(VerifyDOIs)
        settings = vars(document.settings)
        given = {name: value for name, value in settings.items() if value is not None}
        try:
            attributes[_ATTRIBUTE] = Options.read(given, prefix="doi_")
            attributes[_RULE] = MentionRule.read(given, prefix="doi_")
        except ValueError as error:
            _report(document, document.reporter.ERROR_LEVEL, str(error))
            attributes[_ATTRIBUTE] = Options.read({"resolve": False}, environ={})
            attributes[_RULE] = _NO_MENTIONS
    options: Options = attributes[_ATTRIBUTE]
    return options


def _report(document: nodes.document, level: int, text: str, **place: Any) -> nodes.system_message:
    """Report a message below ``halt_level``, at which docutils drops the document; it is not on the page.

    Pelican halts at warnings, and discards what docutils reports. So a message that would halt goes to the
    logger ``doiuri`` as well. ``place`` is ``base_node`` or ``source``, as for the reporter's own methods.
    """
    reporter = document.reporter
    allowed = min(level, max(reporter.halt_level - 1, reporter.DEBUG_LEVEL))
    message: nodes.system_message = reporter.system_message(allowed, text, **place)
    for messages in (document.parse_messages, document.transform_messages):
        if message in messages:
            messages.remove(message)
    if level > allowed:
        parts = [message.get("source"), message.get("line")]
        where = ":".join(str(part) for part in parts if part)
        logged = f"{where}: {text}" if where else text
        _logger.log(min(10 * level + 10, logging.WARNING), "%s", logged)
    return message


class LinkMentions(Transform):
    """Make links of the DOIs in running text, as the settings say."""

    # After InternalTargets (660), the last that resolves references; before SmartQuotes (855)
    default_priority = 690

    def apply(self) -> None:
        """Change a document, and report what has a label, but is not a DOI."""
        options = _prepare(self.document)
        rule: MentionRule = vars(self.document)[_RULE]
        parser = self.document.transformer.components.get("parser")
        invalid = link_mentions(self.document, rule, options, parser)
        set_lines(self.document, invalid)
        level = self.document.reporter.WARNING_LEVEL
        for element in invalid:
            _report(self.document, level, element["doi_error"], base_node=element)


class VerifyDOIs(Transform):
    """Look up the DOIs of a document in one batch, mark those that do not exist, and report what is wrong."""

    # After SmartQuotes (855), before Messages (860), which puts errors on the page
    default_priority = 858

    def apply(self) -> None:
        """Show names as they are written, look them up, report what is wrong, and finish the links for HTML.

        A link to a DOI without an answer is left as it is.
        """
        options = _prepare(self.document)
        if isinstance(self.document.transformer.components.get("parser"), Parser):
            self._link_uris(options)
        links = list(doi_references(self.document))
        for link in links:
            if link.get("support_smartquotes") is False:  # docutils, unlike Sphinx, ignores it
                text = link.get("doi_written") or options.display(link["doi"])
                link[:] = [nodes.Text(text)]
        restore_contents(self.document)

        answers = self._look_up(links, options)
        self._report_all(links, answers)
        self._report_cut_links()
        if self._becomes_html():
            for link in links:
                _finish_for_html(link)

    def _link_uris(self, options: Options) -> None:
        """Turn references to ``doi:`` URIs into links, and note in each what is wrong with it."""
        for link in self.document.findall(nodes.reference):
            try:
                link_uri(link, options)
            except DOISyntaxError as error:
                link["doi_error"] = str(error)

    def _becomes_html(self) -> bool:
        """Return whether the document is written as HTML."""
        writer = self.document.transformer.components.get("writer")
        # Not writer.supports(): the writer for pseudoxml supports all formats
        return isinstance(writer, Writer) and "html" in writer.supported

    def _look_up(self, links: list[nodes.reference], options: Options) -> Mapping[DOI, Answer]:
        """Return the answers about DOIs, and report how many are unknown.

        Links to names that are registered only with the punctuation after them lead to the longer names. There
        are no answers if ``doi_resolve`` is off or the resolver cannot be opened.
        """
        if not (links and options.resolve):
            return {}
        reporter = self.document.reporter
        needs = dict.fromkeys((link["doi"] for link in links), Need.EXISTENCE)
        longer = [(link["doi"], link.get("doi_longer", ())) for link in links]
        try:
            with open_resolver(options, "docutils-doiuri") as resolver:
                survey = Survey(resolver, options.budget)
                survey.ask(needs, longer=longer)
        except ValueError as error:  # an invalid lock file, or a cache that cannot be opened
            _report(self.document, reporter.ERROR_LEVEL, str(error))
            return {}

        for link in links:
            doi = link["doi"]
            if follow_longer_name(link, doi, survey.statuses, options.link) != doi:
                link["doi_typed"] = link["doi"].name
        dois = dict.fromkeys(link["doi"] for link in links)
        unknown = survey.sentence(dois)
        if unknown:
            # With the name of the document, as no single line is meant
            _report(self.document, reporter.INFO_LEVEL, unknown, source=reporter.source)
        return {doi: survey.answer(doi) for doi in dois}

    def _report_all(self, links: list[nodes.reference], answers: Mapping[DOI, Answer]) -> None:
        """Report what is not a DOI, DOIs that do not exist, and advice, each once where it is written.

        What is not a DOI is shown as its source. What links have noted for this is then removed.
        """
        in_links = {id(link) for link in links}
        elements = list(self.document.findall(nodes.Element))
        inline = [node for node in elements if "doi_error" in node or id(node) in in_links]
        set_lines(self.document, inline)

        reporter = self.document.reporter
        warn = partial(_report, self.document, reporter.WARNING_LEVEL)
        reported: dict[tuple[str, object, int | None], nodes.system_message] = {}
        for node in inline:
            is_error = _is_error(node)
            report = reporter.error if is_error else warn
            for text in _problems(node, answers):
                identity = (text, node.source or id(node), node.line)
                if identity not in reported:
                    reported[identity] = report(text, base_node=node)
                if is_error:
                    _show_problem(self.document, node, reported[identity])
        for node in self.document.findall(nodes.Element):  # also in substitutions that are not used
            for name in ("doi_typed", "doi_written", "doi_longer"):
                node.attributes.pop(name, None)

    def _report_cut_links(self) -> None:
        """Report the URLs that docutils ends inside of a name."""
        cuts = {link: cut_link(link) for link in self.document.findall(nodes.reference)}
        cut_links = [link for link, cut in cuts.items() if cut is not None]
        set_lines(self.document, cut_links)
        level = self.document.reporter.WARNING_LEVEL
        for link in cut_links:
            _report(self.document, level, str(cuts[link]), base_node=link)


def _is_error(node: nodes.Element) -> bool:
    """Return whether a node has no link because of its error; a handle that is not a DOI has one all the same."""
    # A node without a URI, such as the *problematic* source of a role, has no link.
    uri = node.get("refuri", "doi:")
    return "doi_error" in node and uri[:4].lower() == "doi:"


def _problems(node: nodes.Element, answers: Mapping[DOI, Answer]) -> list[str]:
    """Return what to report about a node; a link to a DOI that does not exist is marked."""
    error = node.attributes.pop("doi_error", None)
    if error:
        return [error]

    doi = node["doi"]
    typed = node.get("doi_typed")
    answer = answers.get(doi, Answer("unknown"))
    if answer.status == "not-found":
        node["classes"].append("doi-not-found")
        return [str(dead_doi(doi, typed, meant=answer.meant))]
    if not typed:
        return []
    advice = remarks(typed, doi, exists=answer.status == "found")
    return [sentence for _, sentence in advice]


def _show_problem(
    document: nodes.document, node: nodes.Element, message: nodes.system_message
) -> None:
    """Show the source of a node in its place, linked with the message about it."""
    problem = node
    if not isinstance(node, nodes.problematic):
        text = source_text(node)
        problem = nodes.problematic(text, text)
        node.replace_self(problem)
    problem["refid"] = document.set_id(message)
    message.add_backref(document.set_id(problem))


def _finish_for_html(link: nodes.reference) -> None:
    """Let a long name wrap, and strike out a link to a DOI that does not exist."""
    if len(link) == 1 and isinstance(link[0], nodes.image):
        return  # the writer expects an image with a link to be the only child
    if _is_in_docinfo(link):
        return  # writers and Pelican take the plain text of fields as metadata, raw nodes included

    if link.get("support_smartquotes") is False:
        first_part, *next_parts = breakable(link.astext())
        link[:] = [nodes.Text(first_part)]
        for part in next_parts:
            link += [_html("<wbr />"), nodes.Text(part)]
    if "doi-not-found" in link["classes"]:  # docutils writes no title of a link
        link[:] = [_html('<s title="This DOI was not found.">'), *link.children, _html("</s>")]


def _is_in_docinfo(node: nodes.Node) -> bool:
    """Return whether a node stands in a field of the bibliographic data of its document."""
    parent: nodes.Node | None = node.parent
    while parent is not None:
        if isinstance(parent, nodes.docinfo):
            return True
        parent = parent.parent
    return False


def _html(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def doi_role(
    name: str,  # noqa: ARG001
    rawtext: str,
    text: str,
    lineno: int,
    inliner: Inliner,
    options: Mapping[str, Any] | None = None,
    content: Sequence[str] = (),  # noqa: ARG001
    parse: Callable[[str], Target] | None = None,
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Return the link for ``:doi:`10.1000/182``` or ``:doi:`Title <10.1000/182>```, and no messages.

    A role function of docutils. A ``!`` before the text gives the text without the link. If there is no
    DOI, the source is shown as *problematic* text. What is wrong is reported when the document has been read.

    :param name: the name of the role in the document.
    :param rawtext: the source of the role.
    :param text: the text in backticks, in which docutils marks backslash escapes by NUL characters.
    :param lineno: the line of the role, from 1.
    :param inliner: the parser of inline text.
    :param options: the options of the role: ``classes``, which the directive ``role`` sets.
    :param content: not used.
    :param parse: as for :func:`docutils_doiuri.nodes.role_node`.
    """
    classes: Sequence[str] = (options or {}).get("classes", ())  # of ``.. role:: paper(doi)``
    node = role_node(rawtext, text, _prepare(inliner.document), classes, parse)
    source, node.line = inliner.reporter.get_source_and_line(lineno)
    node.source = None if source is None else str(source)
    return [node], []


def register(name: str = "doi") -> None:
    """Register the role in docutils, for this process, and ``arxiv`` unless there is a role of that name.

    Pelican calls this if ``PLUGINS`` has ``docutils_doiuri``; there, DOIs in running text become links, too.

    :param name: the name of the role.
    """
    _register_roles(name)
    if "pelican" in sys.modules:
        from pelican import signals

        signals.readers_init.connect(_link_mentions_in_pelican)


def _link_mentions_in_pelican(readers: Readers) -> None:
    """Give the transform of DOIs in running text to Pelican's readers of reStructuredText.

    They make their parser themselves. Of a document's components they let a plugin choose the writer.
    """
    from pelican.readers import RstReader

    for extension, reader in readers.reader_classes.items():
        if issubclass(reader, RstReader):
            writer = type("Writer", (_LinkingWriter, reader.writer_class), {})
            linking = type("Reader", (reader,), {"writer_class": writer})
            readers.reader_classes[extension] = linking


class _LinkingWriter(Writer):  # type: ignore[type-arg]
    """A writer that makes links of the DOIs in running text before it writes."""

    def get_transforms(self) -> list[type[Transform]]:
        return [*super().get_transforms(), LinkMentions]


def _register_roles(name: str) -> None:
    roles.register_local_role(name, doi_role)  # type: ignore[arg-type]
    # docutils prefers a local role of this name, such as one of another extension
    roles.register_canonical_role("arxiv", partial(doi_role, parse=parse_arxiv_target))  # type: ignore[arg-type]


class Parser(rst.Parser):
    """The reStructuredText parser of docutils, extended by the role ``doi`` and by links to ``doi:`` URIs.

    Its settings, such as ``doi_text``, are also options of the ``docutils`` command: ``--doi-text``.
    """

    settings_spec = (*rst.Parser.settings_spec, "DOI Options", None, _SPEC)
    """docutils' settings for reStructuredText, and those of links to DOIs."""

    relative_path_settings = (
        *rst.Parser.relative_path_settings,
        *(name for name, option in _SETTINGS.items() if option.file_suffix is not None),
    )
    """The settings with paths, which docutils reads as relative to the docutils.conf that has them."""

    def get_transforms(self) -> list[type[Transform]]:
        """Return the transforms of reStructuredText, and that of DOIs in running text."""
        return [*super().get_transforms(), LinkMentions]

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Register the roles, and parse a document.

        :param inputstring: the source text.
        :param document: the document to fill.
        """
        _register_roles("doi")
        _prepare(document)
        super().parse(inputstring, document)
