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

from doiuri.plugins.clients import host_of

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
# An id of InvenioRDM, such as "4rgh7-zss31", or of Zenodo, such as "4924875", at the end of a DOI
_ID = re.compile(r"([a-z0-9]{5}-[a-z0-9]{5}|[0-9]+)$", re.IGNORECASE)
# The path of a landing page of figshare: /articles/dataset/Title/12345/1
_ARTICLE = re.compile(
    r"""
    / (?: articles? | collections? ) /
    (?: [^/]+ / )*?          # its kind and title
    ( [0-9]+ )               # its number
    (?: / [0-9]+ )?          # the number of the version
    /?
    """,
    re.VERBOSE,
)
_COLLECTION = re.compile(r"figshare\.c\.")
_VERSION = re.compile(r"\.v([0-9]+)$", re.IGNORECASE)


class Repository(NamedTuple):
    """The repository that has the files of a DOI."""

    kind: str  # what runs there: "inveniordm", "figshare" or "dataverse"
    api: str  # base URL of its API
    landing: str  # the URL that the DOI leads to


def find_repository(doi: DOI, landing: str, kinds: Mapping[str, str]) -> Repository:
    """Return the repository that lists the files of a DOI.

    :param landing: the URL of its landing page.
    :param kinds: kinds of repositories by host, with a port or without.
    :raises OSError: if no repository of a known kind is recognized.
    """
    parts = urlsplit(landing)
    server = host_of(landing)  # with its port
    host = parts.hostname or ""
    domain = f".{host}"  # so that "zenodo.org" ends as its subdomains do

    # What the user says of a host comes first; then what each kind has in its URLs, at any host.
    kind = of_host(kinds, landing)
    if kind is not None:
        folder = "v2" if kind == "figshare" else "api"
        api = f"{parts.scheme}://{server}/{folder}"
        return Repository(kind, api, landing)
    if "persistentId" in parse_qs(parts.query):
        return Repository("dataverse", f"https://{server}/api", landing)
    # Universities show their articles on hosts of their own, but there is one API.
    if domain.endswith(".figshare.com") or _ARTICLE.fullmatch(parts.path):
        return Repository("figshare", FIGSHARE, landing)
    if domain.endswith(".zenodo.org") or _is_invenio(doi, parts.path):
        return Repository("inveniordm", f"https://{server}/api", landing)
    raise OSError(
        f"{doi.name}: its files cannot be listed: {host or 'its URL'} is not known as a repository of "
        f'InvenioRDM, figshare or Dataverse; if it is one, set repositories={{"{host}": "inveniordm"}}, '
        f'"figshare" or "dataverse"; its landing page is {landing:.500}'
    )


def _is_invenio(doi: DOI, path: str) -> bool:
    """Return whether the path of a landing page is that of a record, or of a DOI, in InvenioRDM.

    Examples are /records/4rgh7-zss31 and, for 10.1000/x, /doi/10.1000/x.
    """
    record = _RECORD.fullmatch(path)
    if record is None:
        path_of_doi = f"/doi/{doi.name}"
        return unquote(path).lower() == path_of_doi.lower()
    record_id = record[1]
    # An id of digits, as in /records/1, is what many other sites have, too.
    return "-" in record_id and _ID.fullmatch(record_id) is not None


def list_files(
    doi: DOI, landing: str, kinds: Mapping[str, str], web: Web, part: str = ""
) -> Dataset:
    """Return the listing of a DOI.

    :param landing: the URL in the DOI's record.
    :param kinds: kinds of repositories by host, with a port or without.
    :param part: the URL of a data set in it, to list in its place.
    :raises OSError: if there is no listing, or it cannot be used.
    """
    repository = find_repository(doi, landing, kinds)
    get = web.listing(repository.kind)
    try:
        if part:
            return _article(get, repository.api, part)
        if repository.kind == "inveniordm":
            return _invenio(doi, repository, get)
        if repository.kind == "figshare":
            return _figshare(doi, repository, get)
        return _dataverse(doi, repository, get)
    except OSError as error:
        message = f"{doi.name}: {error}; its landing page is {repository.landing:.500}"
        raise type(error)(message) from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        reason = f"its form is unexpected ({error!r:.200})"
        if (
            type(error) is ValueError
        ):  # raised here, with a reason to show; a subclass comes from parsing
            reason = str(error)
        host = urlsplit(repository.api).netloc
        raise OSError(f"{doi.name}: the listing of {host} is refused: {reason}") from error


def _invenio(doi: DOI, repository: Repository, get: Get) -> Dataset:
    """Return the listing of a record of InvenioRDM. Raises ValueError if the record is not that of the DOI.

    The DOI may be that of the concept, which stands for all versions.
    """
    path = urlsplit(repository.landing).path
    match = _RECORD.fullmatch(path) or _ID.search(doi.suffix)
    if match is None:
        raise ValueError("no id of a record is in the DOI or its URL")
    record_id = match[1]
    # The API redirects the id of a concept to the record of the latest version.
    record = get(f"{repository.api}/records/{record_id}")
    # Zenodo's own form of a record has "doi" and "conceptdoi"; that of InvenioRDM has both DOIs among "pids".
    version = record.get("doi") or _pid(record) or doi.name
    concept = record.get("conceptdoi") or _pid(record.get("parent", {}))
    name = doi.name.lower()
    if name not in {version.lower(), str(concept).lower()}:
        raise ValueError(f"the record {record_id} is that of {version}")

    latest_id = quote(str(record["id"]), safe="")
    url = f"{repository.api}/records/{latest_id}/files"
    entries = get(url).get("entries", [])  # missing if the record has metadata only
    if isinstance(entries, dict):
        entries = entries.values()
    files = [_invenio_file(url, entry) for entry in entries if not _is_hidden(entry)]
    return Dataset("inveniordm", version, files)


def _pid(record: dict[str, Any]) -> Any:
    """Return the DOI among the persistent identifiers of a record, or of its concept; None if it has none."""
    return record.get("pids", {}).get("doi", {}).get("identifier")


def _is_hidden(entry: dict[str, Any]) -> bool:
    access = entry.get("access") or {}
    return bool(access.get("hidden"))


def _invenio_file(files_url: str, entry: dict[str, Any]) -> File:
    """Return a file; one whose upload is not completed cannot be opened."""
    path = entry["key"]
    url = f"{files_url}/{quote(path, safe=_IN_KEYS)}/content"
    size = _size(entry, "size")
    checksum = _text(entry, "checksum")
    mimetype = _text(entry, "mimetype")
    status = entry.get("status", "completed")
    error = "" if status == "completed" else f"its upload is {status}"
    return File(path, url, size, checksum, mimetype, error=error)


def _figshare(doi: DOI, repository: Repository, get: Get) -> Dataset:
    """Return the listing of an article or a collection of figshare."""
    if "/collections/" in repository.landing or _COLLECTION.search(doi.suffix):
        return _collection(doi, repository, get)
    number = _figshare_number(doi, repository, get, "articles")
    url = f"{repository.api}/articles/{number}"
    return _article(get, repository.api, _at_version(url, doi.name), doi)


def _collection(doi: DOI, repository: Repository, get: Get) -> Dataset:
    """Return the listing of a collection of figshare, whose articles are data sets."""
    number = _figshare_number(doi, repository, get, "collections")
    url = f"{repository.api}/collections/{number}"
    collection = get(_at_version(url, doi.name))
    collection_doi = _identity(collection, doi)
    parts = {}
    for article in _pages(get, f"{url}/articles"):
        article_doi = article.get("doi") or ""
        article_number = int(article["id"])
        article_url = f"{repository.api}/articles/{article_number}"
        parts[str(article_number)] = _at_version(article_url, article_doi)
    return Dataset("figshare", collection_doi, [], parts)


def _at_version(url: str, doi: str) -> str:
    """Return the URL of an article or a collection, for the version in its DOI if that has one.

    That of 10.6084/m9.figshare.14763051.v1 ends in ``/versions/1``.
    """
    version = _VERSION.search(doi)
    if version is None:
        return url
    return f"{url}/versions/{version[1]}"


def _figshare_number(doi: DOI, repository: Repository, get: Get, resource: str) -> int | str:
    """Return the number of an article or a collection: that of its DOI in the API, else that in its URL.

    The API may know the DOI of the latest version only.

    :param resource: "articles" or "collections", as the API's paths have it.
    """
    query = "doi=" + quote(doi.name, safe="/")
    for item in get(f"{repository.api}/{resource}?{query}"):
        if _same(item["doi"], doi):
            return int(item["id"])
    landing = _ARTICLE.fullmatch(urlsplit(repository.landing).path)
    if landing is None:
        host = urlsplit(repository.api).netloc
        raise MissingError(f"{host} has no article with this DOI")
    return landing[1]


def _article(get: Get, api: str, url: str, doi: DOI | None = None) -> Dataset:
    """Return the listing of an article of figshare, which has to be that of the DOI if there is one."""
    article = get(url)
    article_doi = _identity(article, doi)
    entries = article.get("files") or []
    folders = article.get("folder_structure") or {}
    if not 0 < len(entries) < 10:  # an article itself lists up to ten files, "/files" all
        entries = _pages(get, f"{url}/files")

    files = []
    paths: set[str] = set()
    for entry in entries:
        number = entry["id"]
        folder = _text(folders, str(number)).strip("/")
        path = _joined(folder, entry["name"])
        if path in paths:  # figshare allows several files with the same name
            stem, extension = splitext(path)
            path = f"{stem} ({number}){extension}"
        paths.add(path)
        files.append(_figshare_file(api, path, entry))
    return Dataset("figshare", article_doi, files)


def _figshare_file(api: str, path: str, entry: dict[str, Any]) -> File:
    """Return a file; one that is only a link to another server cannot be opened."""
    number = int(entry["id"])
    url = f"{api}/file/download/{number}"
    size = _size(entry, "size")
    mimetype = _text(entry, "mimetype")
    if entry.get("is_link_only"):
        error = f"it is only a link, to {entry.get('download_url')}"
        return File(path, url, size, mimetype=mimetype, error=error)
    md5 = entry.get("computed_md5") or entry.get("supplied_md5")
    checksum = f"md5:{md5}" if md5 else ""
    return File(path, url, size, checksum, mimetype)


def _joined(folder: str, name: str) -> str:
    """Return the path of a file; a folder of "" is that of the data set."""
    return f"{folder}/{name}" if folder else name


def _identity(item: dict[str, Any], doi: DOI | None) -> str:
    """Return the DOI of an article or a collection. Raises ValueError if it is not the expected one."""
    name = str(item["doi"]).removeprefix("https://doi.org/")
    if doi is not None and not _same(name, doi):
        raise ValueError(f"{item['id']} is that of {name}")
    return name


def _same(name: str, doi: DOI) -> bool:
    """Return whether a name, or its link, is that of a DOI, apart from the version ``.v1``."""
    name = name.removeprefix("https://doi.org/")
    return _without_version(name) == _without_version(doi.name)


def _without_version(name: str) -> str:
    return _VERSION.sub("", name.lower())


def _pages(get: Get, url: str) -> Iterator[Any]:
    """Yield the items on all pages. The last page is the first with fewer than PAGE items.

    At most one page more than MAX_FILES is requested, which is enough for Dataset to refuse the listing.
    """
    last = MAX_FILES // PAGE + 1
    for page in range(1, last + 1):
        items = get(f"{url}?page={page}&page_size={PAGE}")
        yield from items
        if len(items) < PAGE:
            return


def _dataverse(doi: DOI, repository: Repository, get: Get) -> Dataset:
    """Return the listing of a data set of Dataverse, or of a single file that has a DOI of its own."""
    query = "persistentId=" + quote(_persistent_id(doi, repository), safe=":/")
    latest = f"{repository.api}/datasets/:persistentId/versions/:latest-published"
    try:
        data = get(f"{latest}?{query}")["data"]
    except MissingError:  # no data set has this DOI, but a file may
        entry = _dataverse_file(repository, get, query)
        data = {**entry.get("datasetVersion", {}), "files": [entry]}

    version = ""
    if "versionNumber" in data:
        minor = data["versionMinorNumber"]
        version = f"{data['versionNumber']}.{minor}"
    files = [_dataverse_entry(repository, entry) for entry in data["files"]]
    return Dataset("dataverse", version, _without_collisions(files))


def _persistent_id(doi: DOI, repository: Repository) -> str:
    """Return the DOI as the landing page's URL has it: before version 6.5, Dataverse compares case-sensitively."""
    name = f"doi:{doi.name}"
    parameters = parse_qs(urlsplit(repository.landing).query)
    in_url = parameters.get("persistentId", [name])[0]
    return in_url if in_url.lower() == name.lower() else name


def _without_collisions(files: list[File]) -> list[File]:
    """Return files, with the original of a table under the table's name if another file has its own.

    A table data.tab, uploaded as data.csv, is listed as data.csv, unless the data set has a data.csv, too. It is
    then listed as data.tab. Of two tables uploaded as data.csv, the first has that name.

    Only a table has an alias here, which is its own name: data.tab.
    """
    result = []
    # The names of files that are not tables are taken from the start, whatever the order.
    taken = {file.path for file in files if not file.alias}
    for file in files:
        if file.alias and file.path in taken:
            file = replace(file, path=file.alias, alias="")  # noqa: PLW2901
        taken.add(file.path)
        result.append(file)
    return result


def _dataverse_file(repository: Repository, get: Get, query: str) -> Any:
    """Return the entry of a file with a DOI of its own; before Dataverse 6.2 without the data set's version."""
    url = f"{repository.api}/files/:persistentId"
    try:
        return get(f"{url}/versions/:latest-published?{query}&returnDatasetVersion=true")["data"]
    except MissingError:
        return get(f"{url}?{query}")["data"]


def _dataverse_entry(repository: Repository, entry: dict[str, Any]) -> File:
    """Return a file. A table is listed as it was uploaded, because the checksum is that of the original."""
    data = entry["dataFile"]
    folder = (entry.get("directoryLabel") or "").strip("/")
    label = entry.get("label") or data["filename"]
    path = _joined(folder, label)
    number = int(data["id"])
    url = f"{repository.api}/access/datafile/{number}"
    checksum = _dataverse_checksum(data)
    is_table = data.get("tabularData") or data.get("originalFileFormat")
    if not is_table:
        size = _size(data, "filesize")
        mimetype = _text(data, "contentType")
        return File(path, url, size, checksum, mimetype)

    original = _joined(folder, data.get("originalFileName") or label)
    original_url = f"{url}?format=original"
    size = _size(data, "originalFileSize") or None  # old entries may have 0 or -1
    mimetype = _text(data, "originalFileFormat")
    alias = "" if original == path else path
    return File(original, original_url, size, checksum, mimetype, alias)


def _dataverse_checksum(data: dict[str, Any]) -> str:
    """Return the checksum, such as "sha1:…"; "" if there is none. Old versions have the member "md5" only."""
    checksum = data.get("checksum")
    if not checksum:
        checksum = {"type": "MD5", "value": data.get("md5")}
    value = checksum.get("value")
    if not value:
        return ""
    algorithm = checksum["type"]
    return f"{algorithm}:{value}".lower().replace("-", "")


def _size(entry: dict[str, Any], member: str) -> int | None:
    """Return a number of bytes, which some APIs give as a float; None if it is unknown."""
    size = entry.get(member)
    if not isinstance(size, int | float) or not 0 <= size < inf:
        return None
    return int(size)


def _text(entry: dict[str, Any], member: str) -> str:
    return str(entry.get(member) or "")
