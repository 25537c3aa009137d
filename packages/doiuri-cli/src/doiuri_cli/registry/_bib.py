"""A file of BibTeX entries whose keys are DOIs, for sphinxcontrib-bibtex."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from doiuri import DOI, DOISyntaxError, bibtex
from doiuri.plugins.survey import tally

from doiuri_cli.registry import open_resolver

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from doiuri_cli._config import Config

_KEY = re.compile(r"\A\s*@\s*(\w+)\s*\{\s*([^,{}]*?)\s*,")
# What ends a key in BibTeX, in pybtex or in a role of Sphinx, or is a comment or a command in LaTeX
_UNFIT = re.compile(r"[\s,{}%#~\\\"=]")


def read_bib(path: str) -> dict[str, str]:
    """Return the entries of a file, by the DOI's key; none if it does not exist.

    :raises ValueError: if the file has anything else in it: it is not one that ``render_bib`` wrote.
    """
    file = Path(path)
    if not file.exists():
        return {}
    if not file.is_file():
        raise ValueError(f"{path!r} is not a file; name a file that only doiuri writes")
    entries = {}
    text = file.read_text("utf-8")
    for citation_key, entry in _entries(text):
        try:
            doi = DOI(citation_key)
        except DOISyntaxError:
            what = "text that is not a complete BibTeX entry"
            if citation_key:
                what = f"the entry {citation_key}"
            raise ValueError(
                f"{path} contains {what}; name a file that only doiuri writes"
            ) from None
        entries[doi.key] = entry
    return entries


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Yield the citation key and the text of each entry; the key is empty for any text that is not one."""
    end = 0
    for entry in bibtex.entries(text):
        if text[end : entry.start].strip():
            yield "", text[end : entry.start]
        citation_key = entry.key if entry.is_closed else ""
        yield citation_key, text[entry.start : entry.end]
        end = entry.end
    rest = text[end:].strip()
    if rest:
        yield "", rest


def render_bib(entries: Mapping[str, str]) -> str:
    """Return the text of a file: the same entries give the same text."""
    return "\n".join(f"{entries[key]}\n" for key in sorted(entries))


def keyed(name: str, text: str) -> str | None:
    """Return an entry with a name as its key; None if the text is not one entry."""
    written = _KEY.sub(lambda match: f"@{match[1]}{{{name},", text)
    return written if list(_entries(written)) == [(name, written)] else None


def look_up_entries(dois: Iterable[DOI], entries: dict[str, str], config: Config) -> Iterator[str]:
    """Add the entries of DOIs; yield the problems. An entry stays if there is no answer.

    :raises ValueError: if the resolver or the cache is misconfigured.
    """
    fit = []
    for doi in dois:
        if not _UNFIT.search(doi.name):
            fit.append(doi)
        else:
            yield f"{doi.name}: not in the BibTeX file: a key cannot hold this name"
    causes = []
    with open_resolver(config) as resolver:
        for doi, outcome in zip(fit, resolver.bibtex_many(fit), strict=True):
            if outcome.status == "unknown" and outcome.cause is not None:
                causes.append(outcome.cause)
                continue
            entry = None
            if outcome.metadata is not None:
                entry = keyed(doi.name, outcome.metadata.text)
            if entry is not None:
                entries[doi.key] = entry
            elif outcome.found:
                yield f"{doi.name}: not in the BibTeX file: its entry cannot be read"
            else:
                yield f"{doi.name}: not in the BibTeX file: {outcome.reason}"
    for cause, count in list(tally(causes).items())[:1]:
        yield f"{count:,} entries could not be looked up: {cause}"
