"""The same with requests: ``session.get("doi:…")``, with the REST API's parameters as ``params``.

    python examples/scripts/requests_get.py [DOI …]

The resolver is https://doi.org or the one in ``DOIURI_RESOLVER``.
"""

import sys

import requests
import requests_doiuri
from doiuri import DOI

EXAMPLES = [
    "10.1000/1",
    "10.1525/bio.2009.59.5.9",
    "10.1002/(SICI)1521-3951(199911)216:1<135::AID-PSSB135>3.0.CO;2-#",
]


def main(names: list[str]) -> int:
    """Print the URL values of each DOI's record; return the exit status."""
    found = 0
    with requests_doiuri.mount(requests.Session()) as session:
        for doi in map(DOI, names):
            response = session.get(doi.uri, params={"type": "URL"}, timeout=10)
            if response.status_code != 404:
                response.raise_for_status()
            answer = response.json()
            if answer["responseCode"] == 100:
                print(f"{doi.name}: no such DOI")
                continue
            urls = [value["data"]["value"] for value in answer.get("values", ())]
            print(doi.name, "->", *urls)
            found += 1
    print(f"{len(names)} DOIs: {found} resolved, {len(names) - found} not found")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or EXAMPLES))
