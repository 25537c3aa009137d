"""The settings of docutils that start with ``doi_``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri.plugins import OPTIONS, Options

from docutils_doiuri._report import report

if TYPE_CHECKING:
    from docutils import nodes

_CITES = {"citation", "reference_style", "reference_locale", "works"}  # plain docutils has no citations
SPEC = (
    "DOI Options",
    None,
    tuple(
        (option.describe(), [f"--doi-{option.name}"], {"metavar": f"<{option.name}>"})
        for option in OPTIONS
        if option.name not in _CITES
    ),
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
            attributes[_ATTRIBUTE] = Options.read({"resolve": False}, environ={})
    options: Options = attributes[_ATTRIBUTE]
    return options
