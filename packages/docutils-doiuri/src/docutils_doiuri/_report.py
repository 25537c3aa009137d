"""Reports that never stop docutils from publishing a document, and errors that say why they do."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from docutils.utils import SystemMessage

if TYPE_CHECKING:
    from docutils import nodes
    from docutils.utils import Reporter

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
    allowed = allowed_level(reporter, level)
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


def allowed_level(reporter: Reporter, level: int) -> int:
    """Return a level, lowered if docutils would halt at it."""
    return min(level, max(reporter.halt_level - 1, reporter.DEBUG_LEVEL))
