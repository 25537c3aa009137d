"""What docutils does with DOIs: the role, the transforms, and the parser that has both."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.parsers import rst
from docutils.parsers.rst import roles
from docutils.transforms import Transform
from docutils.writers import UnfilteredWriter, Writer
from doiuri import DOI, DOISyntaxError
from doiuri.plugins import open_resolver
from doiuri.plugins.display import breakable
from doiuri.plugins.survey import Survey

from docutils_doiuri._report import advice_on, note, report, report_error, report_links
from docutils_doiuri._settings import SPEC, read_options
from docutils_doiuri.nodes import (
    doi_references,
    handle_reference,
    link_uri,
    parse_arxiv_target,
    parse_target,
    reference,
    restore_contents,
    set_lines,
    source_text,
    unlinked,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from docutils.parsers.rst.states import Inliner
    from doiuri.plugins import Options

    from docutils_doiuri.nodes import Target


class LinkDOIs(Transform):
    """Turn references to ``doi:`` URIs into https links."""

    default_priority = 700  # after references.ExternalTargets (640), which resolves named references

    def apply(self) -> None:
        """Rewrite the references; one whose URI is not a DOI becomes *problematic* text, with an error."""
        options = read_options(self.document)
        links = list(self.document.findall(nodes.reference))
        set_lines(self.document, [link for link in links if link.get("refuri", "")[:4].lower() == "doi:"])
        told: dict[tuple[str, str | None, int | None], nodes.system_message] = {}
        for link in links:
            try:
                link_uri(link, options)
            except DOISyntaxError as error:
                key = str(error), link.source, link.line
                if key not in told:
                    told[key] = report_error(self.document.reporter, str(error), base_node=link)
                text = source_text(link)
                link.replace_self(nodes.problematic(text, text, refid=self.document.set_id(told[key])))


class VerifyDOIs(Transform):
    """Look up the DOIs of a document in one batch, and mark those that do not exist."""

    default_priority = 870  # after SmartQuotes (855) and all transforms that add or move references

    @classmethod
    def add_to(cls, document: nodes.document) -> None:
        """Apply this transform to a document, once."""
        transformer = document.transformer
        if not any(entry[1] is cls for entry in transformer.transforms):
            transformer.add_transform(cls)

    def apply(self) -> None:
        """Report the DOIs that were not found, and advice; a DOI without an answer is left as it is."""
        options, links = read_options(self.document), list(doi_references(self.document))
        for link in links:
            if link.get("support_smartquotes") is False:  # docutils, unlike Sphinx, ignores it
                link[:] = [nodes.Text(options.display(link["doi"]))]
        restore_contents(self.document)
        try:
            missing = self._not_found(links, options)
        except ValueError as error:  # an invalid lock file, or a cache that cannot be opened
            report(self.document.reporter, self.document.reporter.ERROR_LEVEL, str(error))
            missing = {}
        report_links(self.document, links, missing)
        if self._becomes_html():
            for link in links:
                _finish_for_html(link)

    def _becomes_html(self) -> bool:
        """Return whether the document is written as HTML, and not kept for any format."""
        writer = self.document.transformer.components.get("writer")
        return (
            isinstance(writer, Writer)
            and "html" in writer.supported  # pseudoxml.Writer.supports("html") is True
            and not isinstance(writer, UnfilteredWriter)
        )

    def _not_found(self, links: list[nodes.reference], options: Options) -> dict[DOI, DOI | None]:
        """Return the DOIs that do not exist, with what was probably meant; report how many are unknown."""
        if not (links and options.resolve):
            return {}
        dois: list[DOI] = list(dict.fromkeys(link["doi"] for link in links))
        with open_resolver(options, "docutils-doiuri") as resolver:
            survey = Survey(resolver, options.budget)
            survey.check(dois)
            dead = [doi for doi, status in survey.statuses.items() if status == "not-found"]
            meant = survey.look_for_meant(dead)
        if text := survey.sentence(dois):
            reporter = self.document.reporter
            report(reporter, reporter.INFO_LEVEL, text, source=reporter.source)  # about no line
        return {doi: meant.get(doi) for doi in dead}


def _finish_for_html(link: nodes.reference) -> None:
    """Let a long name wrap, and strike out a link to a DOI that does not exist."""
    if len(link) == 1 and isinstance(link[0], nodes.image):
        return  # the writer expects an image with a link to be the only child
    parent: nodes.Node | None = link.parent
    while parent is not None:
        if isinstance(parent, nodes.docinfo):
            return  # writers and Pelican take the plain text of fields as metadata, raw nodes included
        parent = parent.parent
    if link.get("support_smartquotes") is False:
        first, *others = breakable(link.astext())
        link[:] = [nodes.Text(first)]
        for part in others:
            link += [_html("<wbr />"), nodes.Text(part)]
    if "doi-not-found" in link["classes"]:  # docutils writes no title of a link
        link[:] = [_html('<s title="This DOI was not found.">'), *link.children, _html("</s>")]


def _html(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def doi_role(
    name: str,  # noqa: ARG001
    rawtext: str,
    text: str,
    lineno: int,
    inliner: Inliner,
    options: Mapping[str, object] | None = None,
    content: Sequence[str] = (),  # noqa: ARG001
    parse: Callable[[str], Target] | None = None,
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Return the link for ``:doi:`10.1000/182``` or ``:doi:`Title <10.1000/182>```.

    A role function of docutils. A ``!`` before the text gives the text without the link. If there is no
    DOI, the source is shown as *problematic* text, with an error.

    :param name: the name of the role in the document.
    :param rawtext: the source of the role.
    :param text: the text in backticks, in which docutils marks backslash escapes by NUL characters.
    :param lineno: the line of the role, from 1.
    :param inliner: the parser of inline text.
    :param options: the options of the directive ``role``: ``class``.
    :param content: not used.
    :param parse: what reads the text; default ``parse_target``.
    :returns: the nodes, and the messages to report.
    """
    given = options or {}
    # ``.. role:: paper(doi)`` defines classes; the key depends on docutils
    classes = [str(one) for key in ("class", "classes") for one in given.get(key) or ()]  # type: ignore[attr-defined]
    settings, parse = read_options(inliner.document), parse or parse_target
    if text.startswith("!"):
        return [unlinked(rawtext, text, parse, settings, classes)], []
    try:
        target = parse(text)
    except DOISyntaxError as error:
        handle = handle_reference(rawtext, text, error, settings, classes)
        node: nodes.Element = handle or nodes.problematic(rawtext, rawtext)
        said, level = [str(error)], inliner.reporter.WARNING_LEVEL if handle else inliner.reporter.ERROR_LEVEL
    else:
        node = reference(rawtext, target, settings, classes)
        said, level = advice_on(node, target.typed), inliner.reporter.WARNING_LEVEL
    source, node.line = inliner.reporter.get_source_and_line(lineno)
    node.source = None if source is None else str(source)
    VerifyDOIs.add_to(inliner.document)
    return [node], note(inliner.document, node, level, said)


def register(name: str = "doi") -> None:
    """Register the role in docutils, for this process, and ``arxiv`` unless there is a role of that name.

    Pelican calls this if ``PLUGINS`` has ``docutils_doiuri``.

    :param name: the name of the role.
    """
    roles.register_local_role(name, doi_role)  # type: ignore[arg-type]
    # docutils prefers a local role
    roles.register_canonical_role("arxiv", partial(doi_role, parse=parse_arxiv_target))  # type: ignore[arg-type]


class Parser(rst.Parser):
    """The reStructuredText parser of docutils, extended by the role ``doi`` and by links to ``doi:`` URIs.

    Its settings, such as ``doi_text``, are also options of the ``docutils`` command: ``--doi-text``.
    """

    settings_spec = (*rst.Parser.settings_spec, *SPEC)
    """docutils' settings for reStructuredText, and those of links to DOIs."""

    def get_transforms(self) -> list[type[Transform]]:
        """Return the transforms of docutils, and the one for ``doi:`` URIs."""
        return [*super().get_transforms(), LinkDOIs]

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Register the roles, and parse a document.

        :param inputstring: the source text.
        :param document: the document to fill.
        """
        register()
        VerifyDOIs.add_to(document)
        super().parse(inputstring, document)
