"""What an author wrote into the role: a DOI, or a title and a DOI in angle brackets."""

import re
from dataclasses import dataclass

from docutils.utils import unescape
from doiuri import DOI, DOISyntaxError

_OPENING = re.compile(r"(?<!\x00)<")  # docutils writes a backslash escape as a NUL before the character


@dataclass(frozen=True, slots=True)
class Target:
    """The DOI a role names, how it was ``typed``, and the explicit ``title``, if there is one."""

    doi: DOI
    typed: str
    title: str | None = None


def read_target(text: str) -> Target:
    """Read a role's text, with docutils' NUL escapes still in it.

    ``Title <10.1000/182>`` has a title; so has ``a < b <10.1000/182>``. Names hold angle brackets too (SICI):
    the first ``<`` after which a DOI is left opens the target; where there is none, the whole is the name,
    as in ``10.1000/a<b>``. Raises DOISyntaxError, of the target where the text looks like title and target.
    """
    error: DOISyntaxError | None = None
    if text.endswith(">"):
        for opening in _OPENING.finditer(text, 1):
            typed = unescape(text[opening.end() : -1]).strip()
            try:
                return Target(DOI.parse(typed), typed, unescape(text[: opening.start()].rstrip()))
            except DOISyntaxError as wrong:
                error = error or wrong
    typed = unescape(text)
    try:
        return Target(DOI.parse(typed), typed)
    except DOISyntaxError as wrong:
        raise error or wrong from None
