"""The settings of docutils that start with ``doi_``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri.plugins import Options, Settings

from docutils_doiuri._report import report

if TYPE_CHECKING:
    from docutils import nodes

_OPTIONS = (
    ("Text of a DOI without a title: name, link, or a template such as '{name}'.", "text", "<text>"),
    ("Base URL of links (default: https://doi.org).", "link", "<url>"),
    ("How to look up DOIs: records (default), existence, or no.", "resolve", "<how>"),
    ("Base URL of the REST API (default: $DOIURI_RESOLVER or https://doi.org).", "resolver", "<url>"),
    ("Use only the cache: yes or no (default: $DOIURI_OFFLINE or no).", "offline", "<flag>"),
    ("Timeout of one request, in seconds (default: 10).", "timeout", "<seconds>"),
    ("Time limit for all DOIs of a document, in seconds (default: 2).", "budget", "<seconds>"),
    ("Lock file to use instead of the network.", "lock", "<file>"),
    ("Path or URL of the cache (default: $DOIURI_CACHE).", "cache", "<path>"),
    ("Contact address to send with requests (default: $DOIURI_MAILTO).", "mailto", "<address>"),
)
SPEC = (
    "DOI Options",
    None,
    tuple((text, [f"--doi-{name}"], {"metavar": metavar}) for text, name, metavar in _OPTIONS),
)
_ATTRIBUTE = "_doiuri_options"


def read_options(document: nodes.document) -> Options:
    """Return the options in the settings of a document; a setting that is None has its default.

    An invalid setting is reported as an error, once a document. Links are then made with the defaults, and
    no DOI is looked up.
    """
    attributes = vars(document)
    if _ATTRIBUTE not in attributes:
        given = {name: value for name, value in vars(document.settings).items() if value is not None}
        try:
            attributes[_ATTRIBUTE] = Options.read(given, prefix="doi_")
        except ValueError as error:
            report(document.reporter, document.reporter.ERROR_LEVEL, str(error))
            attributes[_ATTRIBUTE] = Options(Settings(), resolve=False)
    options: Options = attributes[_ATTRIBUTE]
    return options
