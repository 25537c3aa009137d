"""Print a table from a data set by the data set's DOI, with ``fsspec.open("doi://…")``.

    python examples/scripts/table.py

No network is needed: the script starts a small repository, which answers as InvenioRDM does, and a local DOI
proxy, whose record of the DOI points to that repository.
"""

from __future__ import annotations

import csv
import hashlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import fsspec
from doiuri_proxy import running

EXAMPLE = "10.5281/zenodo.4924875"
TABLE = b"lake,continent,depth\nBaikal,Asia,1642\nTanganyika,Africa,1470\nMalawi,Africa,706\n"
MD5 = hashlib.md5(TABLE).hexdigest()
FILE = {
    "key": "lakes.csv",
    "size": len(TABLE),
    "checksum": f"md5:{MD5}",
    "status": "completed",
}
RECORD = {"id": "4924875", "pids": {"doi": {"identifier": EXAMPLE}}}
ANSWERS = {
    "/api/records/4924875": json.dumps(RECORD).encode(),
    "/api/records/4924875/files": json.dumps({"enabled": True, "entries": [FILE]}).encode(),
    "/api/records/4924875/files/lakes.csv/content": TABLE,
}


class Repository(BaseHTTPRequestHandler):
    """A repository with one data set."""

    def do_GET(self) -> None:
        """Send the record, the list of its files, or the file."""
        status = 200 if self.path in ANSWERS else 404
        body = ANSWERS.get(self.path, b"")
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print no line for each request."""


def main() -> int:
    """Print the table; return the exit status."""
    address = f"doi://{EXAMPLE}/lakes.csv"
    with ThreadingHTTPServer(("127.0.0.1", 0), Repository) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host = f"127.0.0.1:{server.server_port}"
        target = {"format": "string", "value": f"http://{host}/records/4924875"}
        url = {"index": 1, "type": "URL", "data": target}
        with running([{"handle": EXAMPLE, "values": [url]}]) as proxy:
            local = {"resolver": proxy.url, "repositories": {host: "inveniordm"}, "private": True}
            # With https://doi.org and a public repository, the address is enough
            with fsspec.open(address, "rt", encoding="utf-8", cache=":memory:", **local) as file:
                rows = list(csv.DictReader(file))
        server.shutdown()
    for row in rows:
        print(f"{row['lake']:12}{row['continent']:8}{row['depth']:>6} m")
    deepest = max(rows, key=depth)
    print(f"{address}: {len(rows)} rows, the deepest is {deepest['lake']}, {depth(deepest)} m")
    return 0


def depth(lake: dict[str, str]) -> int:
    """Return the depth of a lake in metres."""
    return int(lake["depth"])


if __name__ == "__main__":
    sys.exit(main())
