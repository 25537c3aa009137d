"""Repositories of data sets on loopback: they answer as InvenioRDM, figshare and Dataverse do."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from doiuri import encode
from fsspec_doiuri import DOIFileSystem
from support.servers.web import Answer, Answering, Asked, Site

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
TABLE = "tables/täglich 100%.csv"
NOTES = "notes.txt"
FILES = {TABLE: b"day,depth\n1,20\n2,22\n", NOTES: "gemessen bei 5 °C\n".encode()}
CONTENT = "/content|/file/download|/access/datafile"
"""A pattern of the addresses of files."""


@dataclass
class Repository:
    """What a repository has, and how it behaves.

    ``answers`` replaces what it says for paths that match a pattern: an Answer, or a function of the request.
    """

    kind: str
    files: Mapping[str, bytes] = field(default_factory=lambda: FILES)
    token: str | None = None
    answers: dict[str, Answer | Answering] = field(default_factory=dict)

    def __call__(self, asked: Asked) -> Answer:
        for pattern, answer in self.answers.items():
            if re.search(pattern, asked.target):
                return answer if isinstance(answer, Answer) else answer(asked)
        name, scheme = {
            "inveniordm": ("authorization", "Bearer "),
            "figshare": ("authorization", "token "),
            "dataverse": ("x-dataverse-key", ""),
        }[self.kind]
        if self.token is not None and asked.headers.get(name) != scheme + self.token:
            return error(403, "Permission denied.")
        found: Answer = getattr(self, f"_{self.kind}")(asked, *urlsplit(asked.target)[2:4])
        return found

    def _content(self, asked: Asked, name: str) -> Answer:
        body = self.files[name]
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", asked.headers.get("range", ""))
        if match is None:
            return Answer(200, {}, body)
        start = int(match[1])
        end = int(match[2])
        part = {"Content-Range": f"bytes {start}-{end}/{len(body)}"}
        return Answer(206, part, body[start : end + 1])

    def _inveniordm(self, asked: Asked, path: str, _query: str) -> Answer:
        record = "/api/records/4924875"
        if path == "/api/records/4924874":  # the concept
            return Answer(302, {"Location": record})
        if path == record:
            parent = {"id": "4924874", "pids": {"doi": {"identifier": "10.5281/zenodo.4924874"}}}
            own = {"doi": {"identifier": DOIS[self.kind], "provider": "datacite"}}
            return as_json(
                {"id": "4924875", "parent": parent, "pids": own, "files": {"enabled": True}}
            )
        if path == f"{record}/files":
            usual = {"status": "completed", "access": {"hidden": False}}
            entries = (
                {
                    "key": key,
                    "size": len(body),
                    "checksum": md5(body, "md5:"),
                    "mimetype": mimetype(key),
                }
                for key, body in self.files.items()
            )
            return invenio_files(*({**entry, **usual} for entry in entries))["/files$"]
        match = re.fullmatch(f"{record}/files/(.+)/content", path)
        return self._content(asked, unquote(match[1])) if match else error(404, "Not found.")

    def _figshare(self, asked: Asked, path: str, query: str) -> Answer:
        given = parse_qs(query)
        doi = DOIS[self.kind]
        light = {"id": 14763051, "title": "Tables", "doi": doi}
        entries = []
        folders = {}
        for number, (path_of_file, body) in enumerate(self.files.items(), 3000):
            folder, _, name = path_of_file.rpartition("/")
            # the uploader may be wrong
            proof = {
                "size": len(body),
                "supplied_md5": md5(name.encode()),
                "computed_md5": md5(body),
            }
            entries.append({"id": number, "name": name, "mimetype": mimetype(name), **proof})
            if folder:
                folders[str(number)] = folder
        if path == "/v2/articles":
            matches = [light] if given.get("doi") == [doi] else []
            return as_json(matches)
        if path in {"/v2/articles/14763051", "/v2/articles/14763051/versions/1"}:
            return as_json({**light, "files": entries[:10], "folder_structure": folders})
        if path in {"/v2/articles/14763051/files", "/v2/articles/14763051/versions/1/files"}:
            size = int(given.get("page_size", ["10"])[0])
            start = (int(given.get("page", ["1"])[0]) - 1) * size
            return as_json(entries[start : start + size])
        match = re.fullmatch(r"/v2/file/download/(\d+)", path)
        if match is None:
            return error(404, "Entity not found")
        return self._content(asked, list(self.files)[int(match[1]) - 3000])

    def _dataverse(self, asked: Asked, path: str, query: str) -> Answer:
        given = parse_qs(query)
        version = {"versionNumber": 1, "versionMinorNumber": 0, "versionState": "RELEASED"}
        entries = [
            dataverse_entry(n, name, body) for n, (name, body) in enumerate(self.files.items(), 70)
        ]
        pid = given.get("persistentId", [""])[0]
        if path == "/api/datasets/:persistentId/versions/:latest-published":
            if pid != f"doi:{DOIS[self.kind]}":
                return error(404, f"Dataset with Persistent ID {pid} not found.")
            return as_json({"status": "OK", "data": {**version, "files": entries}})
        if path == "/api/files/:persistentId/versions/:latest-published":
            for entry in entries:
                if pid == entry["dataFile"]["persistentId"]:
                    return as_json({"status": "OK", "data": {**entry, "datasetVersion": version}})
        match = re.fullmatch(r"/api/access/datafile/(\d+)", path)
        if match is None:
            return error(404, "Not found.")
        name = list(self.files)[int(match[1]) - 70]
        if name.endswith(".csv") and given.get("format") != ["original"]:
            return Answer(200, {}, self.files[name].replace(b",", b"\t"))
        return self._content(asked, name)


def invenio_files(*entries: dict[str, Any]) -> dict[str, Answer]:
    """Return the answer of InvenioRDM that lists these files, by the pattern of its address."""
    return {"/files$": as_json({"enabled": True, "entries": entries})}


def dataverse_entry(number: int, name: str, body: bytes) -> dict[str, Any]:
    """Return the entry of a file; a table has become another, with the checksum of the one uploaded."""
    folder, _, label = name.rpartition("/")
    data: dict[str, Any] = {"id": number, "persistentId": f"doi:{DOIS['dataverse']}/F{number}"}
    data |= {"contentType": mimetype(name), "filesize": len(body)}
    data["checksum"] = {"type": "MD5", "value": md5(body)}
    if label.endswith(".csv"):
        data |= {"tabularData": True, "originalFileName": label, "originalFileSize": len(body)}
        data |= {"originalFileFormat": "text/csv", "contentType": "text/tab-separated-values"}
        data["filesize"] = len(body) - 3
        label = label.replace(".csv", ".tab")
    return {"label": label, "dataFile": data, **({"directoryLabel": folder} if folder else {})}


def md5(body: bytes, prefix: str = "") -> str:
    return prefix + hashlib.md5(body).hexdigest()


def mimetype(name: str) -> str:
    match name.rpartition(".")[2]:
        case "csv":
            return "text/csv"
        case "txt":
            return "text/plain"
    return "application/octet-stream"


def as_json(value: object, status: int = 200) -> Answer:
    return Answer(status, {"Content-Type": "application/json"}, json.dumps(value).encode())


def error(status: int, message: str) -> Answer:
    return as_json({"status": "ERROR", "message": message}, status)


@dataclass
class Shelf:
    """A repository that runs, the local DOI proxy that knows its DOI, and the filesystem that reads it."""

    repository: Repository
    server: Site
    proxy: Any
    options: dict[str, Any]

    def __post_init__(self) -> None:
        self.kind = self.repository.kind
        self.host = self.server.host
        self.doi = DOIS[self.kind]
        self.version = "1.0" if self.kind == "dataverse" else self.doi

    def address(self, path: str = "", doi: str = "") -> str:
        """Return the address of a file, as a person who escapes everything would write it."""
        return "doi://" + "/".join(filter(None, (doi or self.doi, encode(path))))

    def fs(self, **options: Any) -> DOIFileSystem:
        return DOIFileSystem(skip_instance_cache=True, **{**self.options, **options})


Start = Callable[..., Shelf]
