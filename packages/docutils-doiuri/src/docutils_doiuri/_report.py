"""Messages about DOIs: reports that never stop docutils from publishing a document, and advice."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.utils import SystemMessage

from docutils_doiuri.nodes import describe, remarks, set_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from docutils.utils import Reporter
    from doiuri import DOI

_ATTRIBUTE = "_doiuri_notes"  # of a document: nodes with a problem or advice, and the messages about them

_logger = logging.getLogger("doiuri")


def report(reporter: Reporter, level: int, message: str, **place: Any) -> nodes.system_message:
    """Report a message below ``halt_level``, at which docutils drops the whole document.

    Pelican halts at warnings, and discards what docutils reports. So a message that would halt goes to the
    logger ``doiuri`` as well. ``place`` is ``line`` or ``base_node``, as for the reporter's own methods.
    """
    allowed = _allowed_level(reporter, level)
    node: nodes.system_message = reporter.system_message(allowed, message, **place)
    if level > allowed:
        where = ":".join(str(part) for part in (node.get("source"), node.get("line")) if part)
        _logger.log(min(10 * level + 10, logging.WARNING), "%s: %s" if where else "%s%s", where, message)
    return node


def report_error(reporter: Reporter, message: str, **place: Any) -> nodes.system_message:
    """Report an error; if docutils halts at it, the logger ``doiuri`` gets it as well.

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


def advice_on(link: nodes.Element, typed: str) -> list[str]:
    """Return the advice on a link; if there is any, the link keeps what the author typed."""
    if found := remarks(typed, link["doi"]):
        link["doi_typed"] = typed
    return [text for _, text in found]


def note(
    document: nodes.document, node: nodes.Element, level: int, texts: list[str]
) -> list[nodes.system_message]:
    """Return messages for docutils to place, which ``report_links`` reports: only then is the line known."""
    if level < document.reporter.ERROR_LEVEL:
        level = _allowed_level(document.reporter, level)
    place = {"type": document.reporter.levels[level], "source": node.source, "line": node.line}
    messages = [nodes.system_message(text, level=level, **place) for text in texts]
    for message in messages:
        document.note_parse_message(message)
        if isinstance(node, nodes.problematic):
            node["refid"] = document.set_id(message)
            message.add_backref(document.set_id(node))
    if messages:
        vars(document).setdefault(_ATTRIBUTE, []).append((node, messages))
    return messages


def report_links(
    document: nodes.document, links: list[nodes.reference], missing: Mapping[DOI, DOI | None]
) -> None:
    """Report what was noted, and each use of a DOI that does not exist; its advice is in the same message.

    :param missing: the DOIs that do not exist, with what was probably meant if it is known.
    """
    noted = vars(document).pop(_ATTRIBUTE, [])
    roles = {id(node) for node in (*(node for node, _ in noted), *links) if node.rawsource[-1:] in {"`", ":"}}
    set_lines(document, [node for node in document.findall(nodes.Element) if id(node) in roles])
    lost = [link for link in links if link["doi"] in missing]
    described = {link["doi_typed"] for link in lost if "doi_typed" in link}
    placed: dict[int, list[nodes.system_message]] = {}
    for node, messages in noted:
        if node.get("doi") in missing and node["doi_typed"] in described:
            placed[id(node)] = messages
        else:
            for message in messages:
                _replace([message], _report(document, message[0].astext(), node))
    told = set()  # a substitution that is used twice is written once
    for link in lost:
        link["classes"].append("doi-not-found")
        text, meant = describe(link["doi"], link.get("doi_typed"), known=missing[link["doi"]])
        hint = f"; did you mean {meant}?" if meant else ""
        use = text, link.source or id(link), link.line
        if use not in told:
            told.add(use)
            _replace(placed.pop(id(link), []), _report(document, f"DOI not found: {text}{hint}", link))
    for messages in placed.values():  # in a substitution: reported where it is used
        _replace(messages)
    for link in links:
        link.attributes.pop("doi_typed", None)


def _report(document: nodes.document, text: str, node: nodes.Element) -> nodes.system_message:
    reporter = document.reporter
    if isinstance(node, nodes.problematic):
        return report_error(reporter, text, base_node=node)
    return report(reporter, reporter.WARNING_LEVEL, text, base_node=node)


def _replace(messages: list[nodes.system_message], *new: nodes.system_message) -> None:
    """Replace messages in a document by the new one, if there is one."""
    present = [message for message in messages if message.parent]
    for message in present[1:] if new else present:
        message.parent.remove(message)
    for message in present[:1] if new else ():
        new[0]["ids"], new[0]["backrefs"] = message["ids"], message["backrefs"]
        message.replace_self(list(new))
