"""A reStructuredText parser with the role built in, for docutils' own command line."""

from typing import TYPE_CHECKING

from docutils.parsers import rst

from docutils_doiuri._role import register
from docutils_doiuri._transforms import LinkDOIs, VerifyDOIs

if TYPE_CHECKING:
    from docutils import nodes
    from docutils.transforms import Transform

_OPTIONS = (
    ("What a DOI without a title shows: name, link, or a template such as '{name}'.", "text", "<text>"),
    ("Base of the links (default: https://doi.org).", "link", "<url>"),
    ("Look DOIs up: records (default), existence, or no.", "resolve", "<how>"),
    ("Base of the REST API (default: $DOIURI_RESOLVER or https://doi.org).", "resolver", "<url>"),
    ("Ask nobody, only the cache: yes or no (default: $DOIURI_OFFLINE or no).", "offline", "<flag>"),
    ("Seconds to wait for one answer (default: 10).", "timeout", "<seconds>"),
    ("Seconds for all answers of a document (default: 2).", "budget", "<seconds>"),
    ("Lock file that answers in place of the network.", "lock", "<file>"),
    ("Where answers are kept (default: $DOIURI_CACHE).", "cache", "<path>"),
    ("Mail address that is sent along (default: $DOIURI_MAILTO).", "mailto", "<address>"),
)


class Parser(rst.Parser):
    """docutils' parser for reStructuredText, with the role ``doi`` and ``doi:`` references."""

    settings_spec = (
        *rst.Parser.settings_spec,
        "DOI Options",
        None,
        tuple((text, [f"--doi-{name}"], {"metavar": metavar}) for text, name, metavar in _OPTIONS),
    )

    def get_transforms(self) -> "list[type[Transform]]":
        """Return docutils' transforms and ours."""
        return [*super().get_transforms(), LinkDOIs, VerifyDOIs]

    def parse(self, inputstring: str, document: "nodes.document") -> None:
        """Parse, with the role known."""
        register()
        super().parse(inputstring, document)
