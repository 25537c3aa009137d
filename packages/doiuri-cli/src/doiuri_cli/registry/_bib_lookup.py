"""Look up the entries of a BibTeX file whose keys are DOIs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from doiuri_cli.registry._answers import in_threads
from doiuri_cli.registry._bib import is_fit, keyed
from doiuri_cli.registry._check import brief_reason, open_resolver

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
    unknown: Counter[str] = Counter()
    with open_resolver(config) as resolver:
        found = in_threads(resolver.bibtex, (doi.uri for doi in fit), resolver.budget)
        for doi, answer in zip(fit, found, strict=True):
            if answer.status == "unknown":
                unknown[brief_reason(answer.reason, resolver.base)] += 1
                continue
            entry = keyed(doi.name, answer.text) if answer.status == "found" else None
            if entry is not None:
                entries[doi.key] = entry
            elif answer.status == "found":
                yield f"{doi.name}: not in the BibTeX file: its entry cannot be read"
            else:
                yield f"{doi.name}: not in the BibTeX file: {answer.reason or 'not found'}"
    for reason, count in unknown.most_common(1):
        yield f"{count:,} entries could not be looked up: {reason}"
