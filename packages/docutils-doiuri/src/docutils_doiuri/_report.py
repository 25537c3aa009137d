"""Messages about DOIs: reports that never stop docutils from publishing a document, and advice."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.utils import SystemMessage

from docutils_doiuri.nodes import describe, remarks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from docutils.utils import Reporter
    from doiuri import DOI

_ATTRIBUTE = "_doiuri_advice"  # of a document: links with advice on them, and its messages

_logger = logging.getLogger("doiuri")


def report(reporter: Reporter, level: int, message: str, **place: Any) -> nodes.system_message:
    """Report a message below ``halt_level``, at which docutils drops the whole document.

    Pelican halts at warnings, and discards what docutils reports. So a message that would halt goes to the
    logger ``doiuri`` as well.

    :param reporter: the document's reporter.
    :param level: the level of the message, which is lowered if docutils would halt at it.
    :param message: the text.
    :param place: ``line`` or ``base_node``, as for the reporter's own methods.
    :returns: the message as a node.
    """
    allowed = _allowed_level(reporter, level)
    node: nodes.system_message = reporter.system_message(allowed, message, **place)
    if level > allowed:
        where = ":".join(str(part) for part in (node.get("source"), node.get("line")) if part)
        _logger.log(min(10 * level + 10, logging.WARNING), "%s: %s" if where else "%s%s", where, message)
    return node


def report_error(reporter: Reporter, message: str, **place: Any) -> nodes.system_message:
    """Report an error; if docutils halts at it, the logger ``doiuri`` gets it as well.

    Pelican discards what docutils reports, and says only that it could not process the file.

    :param reporter: the document's reporter.
    :param message: the text.
    :param place: ``line`` or ``base_node``, as for the reporter's own methods.
    :returns: the message as a node.
    :raises docutils.utils.SystemMessage: if docutils halts at errors.
    """
    try:
        node: nodes.system_message = reporter.error(message, **place)
    except SystemMessage as halted:
        _logger.log(logging.ERROR, "%s", halted)
        raise
    return node


def _allowed_level(reporter: Reporter, level: int) -> int:
    """Return a level, lowered if docutils would halt at it."""
    return min(level, max(reporter.halt_level - 1, reporter.DEBUG_LEVEL))


def note_advice(document: nodes.document, link: nodes.reference, typed: str) -> list[nodes.system_message]:
    """Return the messages with the advice on a link, which ``report_links`` reports.

    :param document: the document that is being parsed.
    :param link: the link, with its source and line.
    :param typed: the DOI as the author typed it.
    :returns: the messages, for docutils to place after the paragraph.
    """
    found = remarks(typed, link["doi"])
    if not found:
        return []
    link["doi_typed"] = typed
    level = _allowed_level(document.reporter, document.reporter.WARNING_LEVEL)
    kind = document.reporter.levels[level]
    messages = [
        nodes.system_message(text, level=level, type=kind, source=link.source, line=link.line)
        for _, text in found
    ]
    for message in messages:
        document.note_parse_message(message)
    vars(document).setdefault(_ATTRIBUTE, []).append((link, messages))
    return messages


def report_links(
    document: nodes.document, links: list[nodes.reference], missing: Mapping[DOI, DOI | None]
) -> None:
    """Report the advice on DOIs, and each use of a DOI that does not exist; both in one message.

    :param document: the document.
    :param links: the links to DOIs in the document.
    :param missing: the DOIs that do not exist, with what was probably meant if it is known.
    """
    lost = [link for link in links if link["doi"] in missing]
    described = {link["doi_typed"] for link in lost if "doi_typed" in link}
    placed: dict[int, list[nodes.system_message]] = {}
    for link, messages in vars(document).pop(_ATTRIBUTE, []):
        if link["doi"] in missing and link["doi_typed"] in described:
            placed[id(link)] = messages
        else:
            for message in messages:
                _replace([message], _report(document, message[0].astext(), link))
    for link in lost:
        link["classes"].append("doi-not-found")
        text, meant = describe(link["doi"], link.get("doi_typed"), known=missing[link["doi"]])
        hint = f"; did you mean {meant}?" if meant else ""
        _replace(placed.pop(id(link), []), _report(document, f"DOI not found: {text}{hint}", link))
    for messages in placed.values():  # in a substitution: reported where it is used
        _replace(messages)
    for link in links:
        link.attributes.pop("doi_typed", None)


def _report(document: nodes.document, text: str, link: nodes.reference) -> nodes.system_message:
    return report(document.reporter, document.reporter.WARNING_LEVEL, text, base_node=link)


def _replace(messages: list[nodes.system_message], *new: nodes.system_message) -> None:
    """Replace messages in a document by the new one, if there is one."""
    present = [message for message in messages if message.parent]
    for message in present[1:] if new else present:
        message.parent.remove(message)
    for message in present[:1] if new else ():
        message.replace_self(list(new))
