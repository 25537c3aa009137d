"""Look up the entries of a BibTeX file whose keys are DOIs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri.plugins import tally

from doiuri_cli.registry._bib import is_fit, keyed
from doiuri_cli.registry._check import open_resolver

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doiuri import DOI

    from doiuri_cli._config import Config
    from doiuri_cli.registry._bib import BibEntry


def look_up_entries(dois: Iterable[DOI], entries: dict[str, BibEntry], config: Config) -> Iterator[str]:
    """Add the entries of DOIs; yield the problems. An entry stays if there is no answer.

    :param dois: the DOIs.
    :param entries: the entries by the DOI's key.
    :param config: the configuration.
    :raises ValueError: if the resolver or the cache is not configured rightly.
    """
    fit = []
    for doi in dois:
        if is_fit(doi.name):
            fit.append(doi)
        else:
            yield f"{doi.name}: not in the BibTeX file: a key cannot hold this name"
    causes = []
    with open_resolver(config) as resolver:
        for doi, outcome in zip(fit, resolver.bibtex_many(fit), strict=True):
            if outcome.status == "unknown" and outcome.cause is not None:
                causes.append(outcome.cause)
                continue
            entry = keyed(doi.name, outcome.metadata.text) if outcome.metadata is not None else None
            if entry is not None:
                entries[doi.key] = entry
            elif outcome.found:
                yield f"{doi.name}: not in the BibTeX file: its entry cannot be read"
            else:
                yield f"{doi.name}: not in the BibTeX file: {outcome.reason}"
    for cause, count in list(tally(causes).items())[:1]:
        yield f"{count:,} entries could not be looked up: {cause}"
