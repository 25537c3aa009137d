"""The simplest script: ``urlopen("doi:…")`` gives the DOI's record.

    python examples/scripts/urlopen.py [DOI …]

The resolver is https://doi.org or the one in ``DOIURI_RESOLVER``.
"""

import json
import sys
from urllib.error import HTTPError
from urllib.request import urlopen

import urllib_doiuri
from doiuri import DOI, DOINotFound, Record

EXAMPLES = [
    "10.1000/182",
    "10.1000/456#789",
    "10.26321/Á.GUTIÉRREZ.ZARZA.02.2018.03",
    "10.1177/5555555555555555",
]


def main(names: list[str]) -> int:
    """Print where each DOI points to; return the exit status."""
    urllib_doiuri.install()
    found = 0
    for doi in map(DOI, names):
        try:
            with urlopen(doi.uri) as response:
                print(doi.name, "->", Record.from_json(json.load(response)).url)
            found += 1
        except HTTPError as error:
            error.close()
            if not isinstance(error.__cause__, DOINotFound):
                raise
            print(error.reason)
    print(f"{len(names)} DOIs: {found} resolved, {len(names) - found} not found")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or EXAMPLES))
