"""The role ``doi`` for plain docutils."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils.parsers.rst import roles
from doiuri import DOISyntaxError

from docutils_doiuri._advice import note_advice
from docutils_doiuri._report import report_error
from docutils_doiuri._settings import read_options
from docutils_doiuri._transforms import VerifyDOIs
from docutils_doiuri.nodes import parse_target, reference, unlinked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from docutils import nodes
    from docutils.parsers.rst.states import Inliner


def doi_role(
    name: str,  # noqa: ARG001
    rawtext: str,
    text: str,
    lineno: int,
    inliner: Inliner,
    options: Mapping[str, object] | None = None,
    content: Sequence[str] = (),  # noqa: ARG001
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
    :returns: the nodes, and the messages to report.
    """
    classes = _classes(options)
    settings = read_options(inliner.document)
    if text.startswith("!"):
        return [unlinked(rawtext, text, settings, classes)], []
    try:
        target = parse_target(text)
    except DOISyntaxError as error:
        message = report_error(inliner.reporter, str(error), line=lineno)
        return [inliner.problematic(rawtext, rawtext, message)], [message]
    link = reference(rawtext, target, settings, classes)
    source, link.line = inliner.reporter.get_source_and_line(lineno)
    link.source = None if source is None else str(source)
    VerifyDOIs.add_to(inliner.document)
    return [link], note_advice(inliner.document, link, target.typed)


def _classes(options: Mapping[str, object] | None) -> list[str]:
    """Return the classes of a role defined by ``.. role:: paper(doi)``; the key depends on docutils."""
    given = options or {}
    return [str(name) for key in ("class", "classes") for name in given.get(key) or ()]  # type: ignore[attr-defined]


def register(name: str = "doi") -> None:
    """Register the role in docutils, for this process.

    Pelican calls this if ``PLUGINS`` has ``docutils_doiuri``.

    :param name: the name of the role.
    """
    roles.register_local_role(name, doi_role)  # type: ignore[arg-type]
