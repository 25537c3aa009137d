"""The identifiers of arXiv, and the DOIs of its e-prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri._doi import DOI

if TYPE_CHECKING:
    import re

ARXIV_PATTERN = (
    r"(?i:arxiv: ?)?"
    r"(?P<identifier>"
    # Until March 2007, an archive and perhaps a subject class precede the number
    r"(?:(?P<archive>[a-z-]+)(?:\.[A-Z]{2})?/)?"
    r"(?P<number>(?(archive)[0-9]{7}|[0-9]{4}\.[0-9]{4,5}))"
    r"(?:v[0-9]+)?"
    r")"
)


def arxiv_doi(match: re.Match[str]) -> DOI:
    """Return the DOI of an e-print: that of all its versions, without the subject class.

    >>> import re
    >>> arxiv_doi(re.fullmatch(ARXIV_PATTERN, "arXiv:math.GT/0309136v1"))
    DOI('10.48550/arXiv.math/0309136')

    :param match: of a pattern that contains ``ARXIV_PATTERN``.
    """
    archive = match["archive"]
    number = match["number"]
    identifier = number if archive is None else f"{archive}/{number}"
    return DOI(f"10.48550/arXiv.{identifier}")
