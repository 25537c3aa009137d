"""Download a dataset by its DOI.

    python examples/scripts/download_dataset.py [DOI] [--to FOLDER]

Without ``--to``, the script only prints the URL of the dataset. The resolver is https://doi.org or the one in
``DOIURI_RESOLVER``.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path, PurePosixPath
from shutil import copyfileobj
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit

from doiuri import DOI, DOINotFound, Record
from urllib_doiuri import urlopen

EXAMPLE = "10.5281/zenodo.1436372"


def record(doi: DOI) -> Record:
    """Return what the DOI resolves to; raises HTTPError."""
    with urlopen(doi.uri, timeout=30) as response:
        return Record.from_json(json.load(response))


def download(doi: DOI, folder: Path) -> Path:
    """Save what the DOI points to under the last part of its address; raises URLError."""
    with urlopen(doi.uri, timeout=30, follow="target") as response:
        address = unquote(urlsplit(response.url).path)
        name = PurePosixPath(address).name.replace("\\", "_").lstrip(".")
        path = folder / (name or "dataset")
        with path.open("wb") as file:
            copyfileobj(response, file)
    return path


def main() -> int:
    """Download, or say what would be downloaded; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("doi", nargs="?", default=EXAMPLE, type=DOI.parse)
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="where to save it")
    arguments = parser.parse_args()
    try:
        print(arguments.doi.name, "->", record(arguments.doi).url)
        if arguments.to:
            path = download(arguments.doi, arguments.to)
            print(f"saved {path}, {path.stat().st_size} octets")
    except HTTPError as error:
        error.close()
        print(error)
        missing = 1 if isinstance(error.__cause__, DOINotFound) else 0
        print(f"1 DOI: 0 resolved, {missing} not found")
        return 1
    print("1 DOI: 1 resolved, 0 not found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
