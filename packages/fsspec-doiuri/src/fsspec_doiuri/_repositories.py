"""The repositories: which one a landing page belongs to, and what its API lists.

InvenioRDM: its REST API reference, "Records" and "Record files". figshare: API v2. Dataverse: Native API,
"Get Version of a Dataset", and Data Access API, "Basic File Access".
"""

from __future__ import annotations

import re
from dataclasses import replace
from math import inf
from posixpath import splitext
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs, quote, unquote, urlsplit

from doiuri.plugins.connections import host_of

from fsspec_doiuri._dataset import MAX_FILES, Dataset, File
from fsspec_doiuri._web import MissingError, of_host

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from doiuri import DOI

    from fsspec_doiuri._web import Web

    Get = Callable[[str], Any]  # JSON from a URL; raises MissingError for 404 and 410

FIGSHARE = "https://api.figshare.com/v2"
PAGE = 1000  # items on a page of figshare's API: its maximum

_IN_KEYS = "/!$&'()*+,;=:@"  # characters that InvenioRDM does not escape in the URLs of files
_RECORD = re.compile(r"/records?/([^/]+)/?")
# An id of InvenioRDM, "4rgh7-zss31", or of Zenodo, at the end of the DOI's suffix
_ID = re.compile(r"([a-z0-9]{5}-[a-z0-9]{5}|[0-9]+)$", re.IGNORECASE)
_ARTICLE = re.compile(r"/(?:articles?|collections?)/(?:[^/]+/)*?([0-9]+)(?:/[0-9]+)?/?")
_VERSION = re.compile(r"\.v([0-9]+)$", re.IGNORECASE)


class Place(NamedTuple):
    """Where to ask for the listing of a DOI."""

    repository: str  # what runs there: "inveniordm", "figshare" or "dataverse"
    api: str  # base URL of its API
    landing: str  # the URL that the DOI leads to


def find_place(doi: DOI, landing: str, given: Mapping[str, str]) -> Place:
    """Return the repository that a landing page belongs to; raises OSError if it is none that we can ask."""
    parts, server = urlsplit(landing), host_of(landing)
    host = parts.hostname or ""
    kind = of_host(given, landing)
    if kind is not None:
        return Place(
            kind, f"{parts.scheme}://{server}/{'v2' if kind == 'figshare' else 'api'}", landing
        )
    if "persistentId" in parse_qs(parts.query):
        return Place("dataverse", f"https://{server}/api", landing)
    if f".{host}".endswith(".figshare.com") or _ARTICLE.fullmatch(parts.path):
        return Place("figshare", FIGSHARE, landing)
    if f".{host}".endswith(".zenodo.org") or _is_invenio(doi, parts.path):
        return Place("inveniordm", f"https://{server}/api", landing)
    raise OSError(
        f"{doi.name}: its files cannot be listed: {host or 'its URL'} is not known as a repository of "
        f'InvenioRDM, figshare or Dataverse; if it is one, set repositories={{"{host}": "inveniordm"}}, '
        f'"figshare" or "dataverse"; its landing page is {landing:.500}'
    )


def _is_invenio(doi: DOI, path: str) -> bool:
    record = _RECORD.fullmatch(path)
    if record is None:
        return unquote(path).lower() == f"/doi/{doi.name}".lower()
    return "-" in record[1] and _ID.fullmatch(record[1]) is not None


def list_files(
    doi: DOI, landing: str, given: Mapping[str, str], web: Web, part: str = ""
) -> Dataset:
    """Return the listing of a DOI.

    :param landing: the URL in the DOI's record.
    :param given: kinds of repositories by host, with a port or without.
    :param part: the URL of a data set in it; that one is listed.
    :raises OSError: if there is none, or one that cannot be used.
    """
    place = find_place(doi, landing, given)
    get = web.listing(place.repository)
    list_own = {"inveniordm": _invenio, "figshare": _figshare, "dataverse": _dataverse}[
        place.repository
    ]
    try:
        return _article(get, place.api, part) if part else list_own(doi, place, get)
    except OSError as error:
        raise type(error)(
            f"{doi.name}: {error}; its landing page is {place.landing:.500}"
        ) from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        host = urlsplit(place.api).netloc
        reason = (
            str(error) if type(error) is ValueError else f"its form is unexpected ({error!r:.200})"
        )
        raise OSError(f"{doi.name}: the listing of {host} is refused: {reason}") from error


def _invenio(doi: DOI, place: Place, get: Get) -> Dataset:
    path = urlsplit(place.landing).path
    match = _RECORD.fullmatch(path) or _ID.search(doi.suffix)
    if match is None:
        raise ValueError("no id of a record is in the DOI or its URL")
    record = get(f"{place.api}/records/{match[1]}")  # of a concept: redirects to the latest version
    own = record.get("doi") or record.get("pids", {}).get("doi", {}).get("identifier") or doi.name
    parent = record.get("parent", {}).get("pids", {}).get("doi", {}).get("identifier")
    if doi.name.lower() not in {own.lower(), str(record.get("conceptdoi") or parent).lower()}:
        raise ValueError(f"the record {match[1]} is that of {own}")
    base = f"{place.api}/records/{quote(str(record['id']), safe='')}/files"
    entries = get(base).get("entries", [])  # none if the record has metadata only
    files = []
    for entry in entries.values() if isinstance(entries, dict) else entries:
        if (entry.get("access") or {}).get("hidden"):
            continue
        url = f"{base}/{quote(entry['key'], safe=_IN_KEYS)}/content"
        checksum, kind = str(entry.get("checksum") or ""), str(entry.get("mimetype") or "")
        status = entry.get("status", "completed")
        error = "" if status == "completed" else f"its upload is {status}"
        files.append(File(entry["key"], url, _size(entry.get("size")), checksum, kind, error=error))
    return Dataset("inveniordm", own, files)


def _figshare(doi: DOI, place: Place, get: Get) -> Dataset:
    landing = _ARTICLE.fullmatch(urlsplit(place.landing).path)
    is_collection = (
        "/collections/" in place.landing or re.search(r"figshare\.c\.", doi.suffix) is not None
    )
    kind = "collections" if is_collection else "articles"
    # the API may know the DOI of the latest version only
    found = get(f"{place.api}/{kind}?doi={quote(doi.name, safe='/')}")
    number = next(
        (int(item["id"]) for item in found if _same(item["doi"], doi)), landing and landing[1]
    )
    if number is None:
        raise MissingError(f"{urlsplit(place.api).netloc} has no article with this DOI")
    version = _VERSION.search(doi.suffix)
    url = f"{place.api}/{kind}/{number}"
    pinned = f"{url}/versions/{version[1]}" if version else url
    if not is_collection:
        return _article(get, place.api, pinned, doi)
    own = _identity(get(pinned), doi)
    parts = {}
    for item in _pages(get, f"{url}/articles"):
        member = _VERSION.search(item.get("doi") or "")
        part = f"{place.api}/articles/{int(item['id'])}"
        parts[str(int(item["id"]))] = f"{part}/versions/{member[1]}" if member else part
    return Dataset("figshare", own, [], parts)


def _article(get: Get, api: str, url: str, doi: DOI | None = None) -> Dataset:
    article = get(url)
    own = _identity(article, doi)
    files, folders = article.get("files") or [], article.get("folder_structure") or {}
    if not 0 < len(files) < 10:  # an article has up to ten of them, the other address all
        files = _pages(get, f"{url}/files")
    used: set[str] = set()
    listed = []
    for entry in files:
        folder = str(folders.get(str(entry["id"])) or "").strip("/")
        path = f"{folder}/{entry['name']}" if folder else entry["name"]
        if path in used:  # figshare allows several files of one name
            stem, extension = splitext(path)
            path = f"{stem} ({entry['id']}){extension}"
        used.add(path)
        url, size = f"{api}/file/download/{int(entry['id'])}", _size(entry.get("size"))
        error = (
            f"it is only a link, to {entry.get('download_url')}"
            if entry.get("is_link_only")
            else ""
        )
        md5 = "" if error else entry.get("computed_md5") or entry.get("supplied_md5")
        kind = str(entry.get("mimetype") or "")
        listed.append(File(path, url, size, f"md5:{md5}" if md5 else "", kind, error=error))
    return Dataset("figshare", own, listed)


def _identity(item: dict[str, Any], doi: DOI | None) -> str:
    """Return the DOI of an article or a collection, which has to be that one."""
    own = str(item["doi"]).removeprefix("https://doi.org/")
    if doi is not None and not _same(own, doi):
        raise ValueError(f"{item['id']} is that of {own}")
    return own


def _same(name: str, doi: DOI) -> bool:
    """Return whether a name is that of a DOI, but for the version."""
    name = name.removeprefix("https://doi.org/").lower()
    return _VERSION.sub("", name) == _VERSION.sub("", doi.name.lower())


def _pages(get: Get, url: str) -> Iterator[Any]:
    """Yield the items on all pages: a short one is the last."""
    for page in range(1, MAX_FILES // PAGE + 2):
        items = get(f"{url}?page={page}&page_size={PAGE}")
        yield from items
        if len(items) < PAGE:
            return


def _dataverse(doi: DOI, place: Place, get: Get) -> Dataset:
    name = f"doi:{doi.name}"
    given = parse_qs(urlsplit(place.landing).query).get("persistentId", [name])[0]
    # as the URL has it: before Dataverse 6.5 names are compared with regard to case
    query = f"persistentId={quote(given if given.lower() == name.lower() else name, safe=':/')}"
    try:
        data = get(f"{place.api}/datasets/:persistentId/versions/:latest-published?{query}")["data"]
    except MissingError:
        entry = _dataverse_file(place, get, query)
        data = {**entry.get("datasetVersion", {}), "files": [entry]}
    version = (
        f"{data['versionNumber']}.{data['versionMinorNumber']}" if "versionNumber" in data else ""
    )
    files = [_dataverse_entry(place, entry) for entry in data["files"]]
    # an original may have the name of another file; then it keeps that of its table
    taken = {file.path for file in files if not file.alias}
    for number, file in enumerate(files):
        if file.alias and file.path in taken:
            files[number] = replace(file, path=file.alias, alias="")
        taken.add(files[number].path)
    return Dataset("dataverse", version, files)


def _dataverse_file(place: Place, get: Get, query: str) -> Any:
    """Return the entry of a file with a DOI of its own; before Dataverse 6.2 without a version."""
    url = f"{place.api}/files/:persistentId"
    try:
        return get(f"{url}/versions/:latest-published?{query}&returnDatasetVersion=true")["data"]
    except MissingError:
        return get(f"{url}?{query}")["data"]


def _dataverse_entry(place: Place, entry: dict[str, Any]) -> File:
    """Return a file. A table is listed as it was uploaded: the checksum is that of the original."""
    data = entry["dataFile"]
    folder = (entry.get("directoryLabel") or "").strip("/")
    label = entry.get("label") or data["filename"]
    url = f"{place.api}/access/datafile/{int(data['id'])}"
    checksum = data.get("checksum") or {"type": "MD5", "value": data.get("md5")}
    digest = (
        f"{checksum['type']}:{checksum['value']}".lower().replace("-", "")
        if checksum.get("value")
        else ""
    )
    path = f"{folder}/{label}" if folder else label
    if not (data.get("tabularData") or data.get("originalFileFormat")):
        return File(
            path, url, _size(data.get("filesize")), digest, str(data.get("contentType") or "")
        )
    name = data.get("originalFileName") or label
    original = f"{folder}/{name}" if folder else name
    size = _size(data.get("originalFileSize")) or None  # old entries may have 0 or -1
    kind = str(data.get("originalFileFormat") or "")
    return File(
        original, f"{url}?format=original", size, digest, kind, "" if name == label else path
    )


def _size(value: object) -> int | None:
    """Return a number of bytes, which some APIs give as a float; None if it is unknown."""
    return int(value) if isinstance(value, int | float) and 0 <= value < inf else None
