"""BibTeX entries of the registry, and a file of them whose keys are DOIs, for sphinxcontrib-bibtex."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from doiuri import DOI, DOISyntaxError, bibtex
from doiuri.plugins import locked_folder
from doiuri.plugins.survey import tally
from doiuri.tex import HARMLESS

from doiuri_cli.files import replace_file
from doiuri_cli.registry import open_resolver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from doiuri_cli._config import Config

_KEY = re.compile(r"\A\s*@\s*(\w+)\s*\{\s*([^,{}]*?)\s*,")
# What ends a key in BibTeX, in pybtex or in a role of Sphinx, or is a comment or a command in LaTeX
_UNFIT = re.compile(r"[\s,{}%#~\\\"=]")
_REMEDY = "name a file that only doiuri writes"
_PATIENCE = 5.0  # seconds to wait for other programs that write to the file, as for the lock file

_CARETS = re.compile(r"\^{2,}")
_COMMAND = re.compile(r"\\([A-Za-z]+|.)", re.DOTALL)


def read_bib(path: str) -> dict[str, str]:
    """Return the entries of a file, by the DOI's key; none if it does not exist.

    :raises ValueError: if the file has anything else in it: it is not one that ``render_bib`` wrote.
    """
    file = Path(path)
    if not file.exists():
        return {}
    if not file.is_file():
        raise ValueError(f"{path!r} is not a file; {_REMEDY}")
    entries: dict[str, str] = {}
    try:
        text = file.read_text("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not in UTF-8; {_REMEDY}") from None
    for citation_key, entry in _entries(text):
        # Text that is no entry has the key "", which is no DOI either
        try:
            doi = DOI(citation_key)
        except DOISyntaxError:
            what = "text that is not a complete BibTeX entry"
            if citation_key:
                what = f"the entry {citation_key}"
            raise ValueError(f"{path} contains {what}; {_REMEDY}") from None
        if entries.setdefault(doi.key, entry) != entry:
            raise ValueError(f"{path} contains two entries of {doi.name}; delete one of them")
    return entries


def edit_bib(path: str, change: Callable[[dict[str, str]], None]) -> None:
    """Change the entries of a file, which are read again: other programs may have written to it.

    :raises OSError: if it cannot be written; TimeoutError if another program keeps its folder locked.
    :raises ValueError: as ``read_bib`` does.
    """
    with locked_folder(Path(path).resolve().parent, _PATIENCE):
        old = read_bib(path)
        new = old.copy()
        change(new)
        if new != old:
            replace_file(path, render_bib(new).encode())


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
    """Return an entry with a name as its key, as TeX may read it; None if the text is not one entry.

    >>> keyed("10.1000/182", "@book{Paskin_2012, year={2012}}")
    '@book{10.1000/182, year={2012}}'
    """
    written = tamed(_KEY.sub(lambda match: f"@{match[1]}{{{name},", text))
    # Read again: a server's answer may hold two entries, or other text beside the entry
    return written if list(_entries(written)) == [(name, written)] else None


def readable(text: str) -> str | None:
    """Return an entry as TeX may read it; None if the text is not one complete entry."""
    written = tamed(text)
    entries = list(_entries(written))
    is_one = len(entries) == 1 and entries[0][0] != ""
    return written if is_one else None


def tamed(entry: str) -> str:
    r"""Return an entry in which commands that are not known to be harmless are text.

    Strangers write it, and TeX may read and write files and run programs.

    >>> tamed(r"@misc{a, title={\emph{On} \input{secrets}}}")
    '@misc{a, title={\\emph{On} \\textbackslash{}input{secrets}}}'
    """
    # TeX reads ^^5c as a backslash, even within a command (The TeXbook, chapter 8)
    without = _CARETS.sub(lambda carets: r"\textasciicircum{}" * len(carets[0]), entry)
    return _COMMAND.sub(_harmless, without)


def _harmless(command: re.Match[str]) -> str:
    name = command[1]
    is_word = name.isascii() and name.isalpha()
    if is_word and name not in HARMLESS:
        return rf"\textbackslash{{}}{name}"
    return command[0]


def look_up_entries(dois: Iterable[DOI], entries: dict[str, str], config: Config) -> Iterator[str]:
    """Add the entries of DOIs to ``entries``, which has none of them; yield the problems.

    :raises ValueError: if the resolver or the cache is misconfigured.
    """
    usable = []  # as keys
    for doi in dois:
        if not _UNFIT.search(doi.name):
            usable.append(doi)
        else:
            yield f"{doi.name}: not in the BibTeX file: a key cannot hold this name"
    causes = []
    with open_resolver(config) as resolver:
        for doi, outcome in zip(usable, resolver.bibtex_many(usable), strict=True):
            # Without an answer; with an entry; with one that cannot be read; without any
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
    for cause, count in tally(causes).items():
        entries_of_cause = "1 entry" if count == 1 else f"{count:,} entries"
        yield f"{entries_of_cause} could not be looked up: {cause}"
