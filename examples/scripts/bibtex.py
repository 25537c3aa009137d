"""Print BibTeX for a list of DOIs, from the registration agencies by content negotiation.

    python examples/scripts/bibtex.py [DOI …] > references.bib

If an agency has no BibTeX, the script prints a plain entry with the DOI. The resolver is https://doi.org or
the one in ``DOIURI_RESOLVER``.
"""

from __future__ import annotations

import re
import sys

import requests
import requests_doiuri
from doiuri import DOI, Record

BIBTEX = "application/x-bibtex"
EXAMPLES = ["10.1103/PhysRevLett.59.381", "10.48550/arXiv.1706.03762", "10.1177/5555555555555555"]


def negotiate(session: requests.Session, doi: DOI, target: str | None) -> str | None:
    """Return the agency's BibTeX, or None if the resolver redirects to the landing page instead."""
    response = session.get(doi.uri, headers={"Accept": BIBTEX}, timeout=30, allow_redirects=False)
    for _ in range(session.max_redirects):
        if response.next is None or response.next.url == target:
            break
        response = session.send(response.next, timeout=30, allow_redirects=False)
    media_type = response.headers.get("Content-Type", "")
    if not response.ok or not media_type.startswith(BIBTEX):
        return None
    return response.content.decode("utf-8", "replace").strip()


def plain(doi: DOI) -> str:
    """Return an entry with only the DOI."""
    key = re.sub(r"[^A-Za-z0-9]+", "-", doi.name).strip("-")
    return f"@misc{{{key},\n  doi = {{{doi.name}}},\n  url = {{{doi.url}}},\n}}"


def main(names: list[str]) -> int:
    """Print the entries, and the summary to stderr; return the exit status."""
    found = negotiated = 0
    with requests_doiuri.mount(requests.Session()) as session:
        for doi in map(DOI.parse, names):
            response = session.get(doi.uri, timeout=30)
            if response.status_code != 404:
                response.raise_for_status()
            if response.json()["responseCode"] == 100:
                print(f"% {doi.name}: no such DOI")
                continue
            found += 1
            entry = negotiate(session, doi, Record.from_json(response.text).url)
            if entry is None:
                print(plain(doi))
            else:
                print(entry)
                negotiated += 1
    resolved = f"{found} resolved ({negotiated} with an agency's BibTeX)"
    missing = len(names) - found
    print(f"{len(names)} DOIs: {resolved}, {missing} not found", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or EXAMPLES))
