"""Repositories of data sets on loopback: they answer as InvenioRDM, figshare and Dataverse do."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from support.servers.web import Answer, Answering, Asked

KINDS = ("inveniordm", "figshare", "dataverse")
DOIS = {
    "inveniordm": "10.5281/zenodo.4924875",
    "figshare": "10.6084/m9.figshare.14763051.v1",
    "dataverse": "10.7910/DVN/RLLL1V",
}
LANDINGS = {
    "inveniordm": "/records/4924875",
    "figshare": "/articles/dataset/Tables/14763051/1",
    "dataverse": "/citation?persistentId=doi:10.7910/DVN/RLLL1V",
}
VERSIONS = {"inveniordm": DOIS["inveniordm"], "figshare": DOIS["figshare"], "dataverse": "1.0"}
TABLE = "tables/täglich 100%.csv"
NOTES = "notes.txt"
FILES = {TABLE: b"day,depth\n1,20\n2,22\n", NOTES: "gemessen bei 5 °C\n".encode()}
TAB = "tables/täglich 100%.tab"
"""The name under which Dataverse keeps the table after it has read it."""


@dataclass
class Repository:
    """What a repository has, and how it behaves.

    ``answers`` replaces what it says for paths that match a pattern: an Answer, or a function of the request.
    """

    kind: str
    files: Mapping[str, bytes] = field(default_factory=lambda: FILES)
    token: str | None = None
    ranges: bool = True
    answers: dict[str, Answer | Answering] = field(default_factory=dict)

    def __call__(self, asked: Asked) -> Answer:
        for pattern, answer in self.answers.items():
            if re.search(pattern, asked.target):
                return answer if isinstance(answer, Answer) else answer(asked)
        if self.token is not None and not self._is_let_in(asked):
            return error(403, "Permission denied.")
        base = f"http://{asked.headers['host']}"
        found: Answer = getattr(self, f"_{self.kind}")(base, asked, urlsplit(asked.target).path)
        return found

    def _is_let_in(self, asked: Asked) -> bool:
        wanted = {
            "inveniordm": ("authorization", f"Bearer {self.token}"),
            "figshare": ("authorization", f"token {self.token}"),
            "dataverse": ("x-dataverse-key", self.token),
        }
        name, value = wanted[self.kind]
        return asked.headers.get(name) == value

    def _content(self, asked: Asked, name: str) -> Answer:
        body = self.files[name]
        headers = {"Content-Type": "application/octet-stream"}
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", asked.headers.get("range", ""))
        if match is None or not self.ranges:
            return Answer(200, headers, body)
        start, end = int(match[1]), int(match[2]) + 1
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(body)}"
        return Answer(206, headers, body[start:end])

    def _inveniordm(self, base: str, asked: Asked, path: str) -> Answer:
        record = f"{base}/api/records/4924875"
        if path == "/api/records/4924874":  # the concept
            return Answer(302, {"Location": record})
        if path == "/api/records/4924875":
            identifier = {"identifier": DOIS[self.kind], "provider": "datacite"}
            concept = {"identifier": "10.5281/zenodo.4924874", "provider": "datacite"}
            return as_json(
                {
                    "id": "4924875",
                    "links": {"self": record, "files": f"{record}/files"},
                    "parent": {"id": "4924874", "pids": {"doi": concept}},
                    "pids": {"doi": identifier},
                    "access": {"record": "public", "files": "public"},
                    "versions": {"is_latest": True, "index": 1},
                    "files": {"enabled": True, "count": len(self.files)},
                }
            )
        if path == "/api/records/4924875/files":
            entries = [
                {
                    "key": key,
                    "size": len(body),
                    "checksum": md5(body, "md5:"),
                    "mimetype": mimetype(key),
                    "status": "completed",
                    "storage_class": "L",
                    "metadata": None,
                    "access": {"hidden": False},
                    "links": {"content": f"{record}/files/{key}/content"},
                }
                for key, body in self.files.items()
            ]
            return as_json({"enabled": True, "links": {}, "entries": entries, "order": []})
        match = re.fullmatch("/api/records/4924875/files/(.+)/content", path)
        return self._content(asked, unquote(match[1])) if match else error(404, "Not found.")

    def _figshare(self, base: str, asked: Asked, path: str) -> Answer:
        query = parse_qs(urlsplit(asked.target).query)
        doi = DOIS[self.kind]
        light = {"id": 14763051, "title": "Tables", "doi": doi, "url": f"{base}/v2/articles/14763051"}
        entries = [
            {
                "id": number,
                "name": name.rpartition("/")[2],
                "size": len(body),
                "is_link_only": False,
                "download_url": f"https://ndownloader.figshare.com/files/{number}",
                "supplied_md5": md5(body),
                "computed_md5": md5(body),
                "mimetype": mimetype(name),
            }
            for number, (name, body) in enumerate(self.files.items(), 3000)
        ]
        if path == "/v2/articles":
            return as_json([light] if query.get("doi") == [doi] else [])
        if path in {"/v2/articles/14763051", "/v2/articles/14763051/versions/1"}:
            folders = {
                str(number): name.rpartition("/")[0]
                for number, name in enumerate(self.files, 3000)
                if "/" in name
            }
            more = {"version": 1, "files": entries[:10], "folder_structure": folders}
            return as_json({**light, **more, "is_embargoed": False})
        if path in {"/v2/articles/14763051/files", "/v2/articles/14763051/versions/1/files"}:
            size = int(query.get("page_size", ["10"])[0])
            start = (int(query.get("page", ["1"])[0]) - 1) * size
            return as_json(entries[start : start + size])
        match = re.fullmatch(r"/v2/file/download/(\d+)", path)
        if match is None:
            return error(404, "Entity not found")
        return self._content(asked, list(self.files)[int(match[1]) - 3000])

    def _dataverse(self, _base: str, asked: Asked, path: str) -> Answer:
        query = parse_qs(urlsplit(asked.target).query)
        version = {
            "datasetPersistentId": f"doi:{DOIS[self.kind]}",
            "versionNumber": 1,
            "versionMinorNumber": 0,
            "versionState": "RELEASED",
        }
        entries = {n: self._dataverse_file(n, name) for n, name in enumerate(self.files, 70)}
        pid = query.get("persistentId", [""])[0]
        if path == "/api/datasets/:persistentId/versions/:latest-published":
            if pid != f"doi:{DOIS[self.kind]}":
                return error(404, f"Dataset with Persistent ID {pid} not found.")
            return as_json({"status": "OK", "data": {**version, "files": [*entries.values()]}})
        if path == "/api/files/:persistentId/versions/:latest-published":
            found = [entry for entry in entries.values() if pid == entry["dataFile"]["persistentId"]]
            if not found:
                return error(404, f"Datafile with Persistent ID {pid} not found.")
            return as_json({"status": "OK", "data": {**found[0], "datasetVersion": version}})
        match = re.fullmatch(r"/api/access/datafile/(\d+)", path)
        if match is None:
            return error(404, "API endpoint does not exist on this server.")
        name = list(self.files)[int(match[1]) - 70]
        if name.endswith(".csv") and query.get("format") != ["original"]:
            return Answer(200, {}, self.files[name].replace(b",", b"\t"))
        return self._content(asked, name)

    def _dataverse_file(self, number: int, name: str) -> dict[str, Any]:
        body = self.files[name]
        folder, _, label = name.rpartition("/")
        is_table = label.endswith(".csv")
        data: dict[str, Any] = {
            "id": number,
            "persistentId": f"doi:{DOIS[self.kind]}/F{number}",
            "contentType": mimetype(name),
            "filesize": len(body),
            "md5": md5(body),
            "checksum": {"type": "MD5", "value": md5(body)},
            "tabularData": is_table,
        }
        if is_table:  # the checksum stays that of the file that was uploaded
            data |= {"originalFileName": label, "originalFileSize": len(body)}
            data |= {"originalFileFormat": "text/csv"}
            data |= {"filesize": len(body) - 3, "contentType": "text/tab-separated-values"}
            label = label.replace(".csv", ".tab")
        entry = {"label": label, "restricted": False, "version": 1, "dataFile": {"filename": label, **data}}
        return {**entry, "directoryLabel": folder} if folder else entry


def md5(body: bytes, prefix: str = "") -> str:
    return prefix + hashlib.md5(body).hexdigest()


def mimetype(name: str) -> str:
    return {"csv": "text/csv", "txt": "text/plain"}.get(name.rpartition(".")[2], "application/octet-stream")


def as_json(value: object, status: int = 200, headers: Mapping[str, str] = {}) -> Answer:
    return Answer(status, {"Content-Type": "application/json", **headers}, json.dumps(value).encode())


def error(status: int, message: str, headers: Mapping[str, str] = {}) -> Answer:
    return as_json({"status": "ERROR", "message": message}, status, headers)
