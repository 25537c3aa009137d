"""Requests to repositories: redirects, tokens, bounds; files proved by size and checksum."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
import warnings
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import requests
from doiuri.plugins.clients import TargetError
from doiuri.plugins.connections import guarding, host_of, pieces, sentence
from doiuri.rest import retry_after
from requests.adapters import HTTPAdapter
from urllib3 import Retry
from urllib3.exceptions import HTTPError

from fsspec_doiuri._dataset import TOKENS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import IO

    from doiuri.plugins.clients import TargetCheck

    from fsspec_doiuri._dataset import Dataset, File

MAX_SIZE = 64 * 2**20
"""Bytes of all answers for a listing, and of a file whose size nobody says: either might never end."""
TIMEOUT = (10, 60)
"""Seconds to connect, and to wait for more of an answer: large listings take a repository long."""
MAX_REDIRECTS = 10
LISTING_TIME = 120.0
"""Seconds for all answers of one listing."""
KEPT = 4
"""Connections to one host that are kept; more are opened if as many files are read at the same time."""

_CHUNK = 2**18
_GZIP_OR_ZLIB = 47  # what zlib calls the two formats, which it tells apart
_ALGORITHMS = frozenset({"md5", "sha1", "sha256", "sha512"})


class MissingError(OSError):
    """The repository answered 404 or 410."""


@dataclass(frozen=True)
class Web:
    """The requests of one filesystem."""

    check: TargetCheck
    user_agent: str
    tokens: Mapping[str, str] = field(repr=False)  # by host, with a port or without
    offline: bool
    checksums: bool = True  # whether a wrong checksum is an error; else it is a warning
    # by process: connections do not survive a fork
    adapters: dict[int, HTTPAdapter] = field(default_factory=dict, repr=False)

    def listing(self, repository: str) -> Callable[[str], Any]:
        """Return a function that gets JSON from the URLs of one listing, which together are bounded.

        It raises MissingError for 404 and 410, and OSError for all else that is not JSON.
        """
        left = MAX_SIZE
        deadline = time.monotonic() + LISTING_TIME

        def remaining() -> float:
            if time.monotonic() >= deadline:
                raise TimeoutError(f"the listing took more than {LISTING_TIME:.0f} s")
            return deadline - time.monotonic()

        def get(url: str) -> Any:
            nonlocal left
            headers = {"Accept": "application/json"}
            with self._answer(url, repository, headers, 200, remaining=remaining) as response:
                body = b"".join(pieces(response.raw, left))
            left -= len(body)
            try:
                return json.loads(body)
            except (ValueError, RecursionError):
                kind = response.headers.get("Content-Type", "no media type")
                raise OSError(
                    f"{host_of(url)} sent {kind:.80} in place of a listing in JSON"
                ) from None

        return get

    def download(
        self, file: File, dataset: Dataset, out: IO[bytes], progress: Callable[[int], object]
    ) -> None:
        """Write a whole file; raises OSError if it is not what the listing says: then forget ``out``."""
        digest, size = new_digest(file), 0
        with self._answer(file.url, dataset.repository, {}, 200, file=file) as response:
            coding = response.headers.get("Content-Encoding", "")
            said = response.raw.length_remaining if file.size is None else file.size
            limit = MAX_SIZE if said is None else said
            while size <= limit and (piece := response.raw.read(_CHUNK, decode_content=False)):
                size += len(piece)
                out.write(piece)
                if digest is not None:
                    digest.update(piece)
                progress(len(piece))
        if coding and self._unpacked(file, out):
            return
        if size > limit or file.size not in {None, size}:
            sent = f"more than {limit:,}" if size > limit else f"{size:,}"
            more = " without saying how many there are" if said is None else f", expected {said:,}"
            raise _mismatch(file, dataset, f"sent {sent} bytes{more}")
        self.check_digest(file, dataset, digest)

    def _unpacked(self, file: File, out: IO[bytes]) -> bool:
        """Undo a compression that nobody asked for, if only then the bytes have the file's checksum.

        Otherwise the bytes stay as they were sent: they may be those of a compressed file.
        """
        digest = new_digest(file)
        if digest is None:
            return False
        limit = MAX_SIZE if file.size is None else file.size
        with tempfile.SpooledTemporaryFile(max_size=MAX_SIZE) as unpacked:
            out.seek(0)
            inflating, size = zlib.decompressobj(_GZIP_OR_ZLIB), 0
            rest = b""
            while piece := rest or out.read(_CHUNK):
                try:
                    data = inflating.decompress(piece, _CHUNK)
                except zlib.error:
                    return False
                rest = inflating.unconsumed_tail
                size += len(data)
                if size > limit:
                    return False
                digest.update(data)
                unpacked.write(data)
            if digest.hexdigest() != file.digest:
                return False
            unpacked.seek(0)
            out.seek(0)
            out.truncate()
            shutil.copyfileobj(unpacked, out)
        return True

    def check_digest(self, file: File, dataset: Dataset, digest: hashlib._Hash | None) -> None:
        """Check that a file's bytes have its checksum; raises OSError, or warns without ``checksums``."""
        if digest is None or digest.hexdigest() == file.digest:
            return
        sent = f"{digest.name}:{digest.hexdigest()}"
        error = _mismatch(
            file, dataset, f"sent bytes with the checksum {sent}, expected {file.checksum}"
        )
        if self.checksums:
            raise error
        warnings.warn(f"{error}; opened without proof", stacklevel=2)

    def read(self, file: File, dataset: Dataset, start: int, end: int) -> bytes | None:
        """Return a range of a file's bytes; None if the repository does not send ranges of it."""
        headers = {"Range": f"bytes={start}-{end - 1}"}
        with self._answer(file.url, dataset.repository, headers, 200, 206, file=file) as response:
            if response.headers.get("Content-Range") != f"bytes {start}-{end - 1}/{file.size}":
                return None
            data = response.raw.read(
                end - start + 1, decode_content=False
            )  # one more: none must follow
        if len(data) != end - start:
            raise OSError(
                f"{file.path}: {host_of(file.url)} sent {len(data):,} of {end - start:,} bytes"
            )
        return data

    @contextmanager
    def _answer(
        self,
        url: str,
        repository: str,
        headers: Mapping[str, str],
        *expected: int,
        file: File | None = None,
        remaining: Callable[[], float] | None = None,
    ) -> Iterator[requests.Response]:
        """Yield the answer at the end of the redirects; raises OSError for another status, and a web page."""
        of_file = "" if file is None else f"{file.path}: "
        if self.offline:
            raise OSError(f"{of_file}{host_of(url)}: offline: request not sent")
        token, (name, scheme) = of_host(self.tokens, url), TOKENS[repository]
        if token and not url.startswith("https:") and not self.check.private:
            raise OSError(
                f"the token for {host_of(url)} is not sent over http; private=True allows it"
            )
        try:
            secret = {name: scheme + token} if token else {}
            with self._followed(url, headers, secret, remaining) as response:
                if response.status_code not in expected:
                    may_need_token = not token and host_of(response.url) == host_of(url)
                    raise _failure(response, of_file, may_need_token=may_need_token)
                if file is not None and _is_page(response, file):
                    raise OSError(
                        f"{of_file}{host_of(response.url)} sent a web page in place of the file"
                    )
                yield response
        except (ValueError, requests.RequestException, HTTPError) as error:
            request = getattr(error, "request", None)  # maybe that of a redirect
            host = host_of(url if request is None else request.url)
            raise OSError(f"{of_file}{host}: {sentence(error)}") from error

    def _followed(
        self,
        url: str,
        headers: Mapping[str, str],
        secret: Mapping[str, str],
        remaining: Callable[[], float] | None,
    ) -> requests.Response:
        self.check.check_url(url)
        first = urlsplit(url)[:2]  # the scheme, host and port
        # identity: checksums are those of the files, whatever a server may do to save bytes
        usual = {
            "User-Agent": self.user_agent,
            "Accept": "*/*",
            "Accept-Encoding": "identity",
            **headers,
        }
        adapter = self.adapters.get(os.getpid()) or self.adapters.setdefault(
            os.getpid(), _new_adapter()
        )
        session = (
            requests.Session()
        )  # only for what the environment says of proxies and certificates
        for _ in range(MAX_REDIRECTS + 1):
            if urlsplit(url)[:2] != first:
                secret = {}  # for good: another host may send it back with a request of its choice
            sent = {**usual, **secret}
            # not Session.get: it reads netrc, keeps cookies, and reads a redirect's body without limit
            request = requests.Request("GET", url, sent).prepare()
            settings: Any = session.merge_environment_settings(url, {}, True, None, None)
            with guarding(adapter.poolmanager, url, self.check, remaining):
                response = adapter.send(request, timeout=TIMEOUT, **settings)
            if not response.is_redirect:
                return response
            response.close()
            url = self.check.redirect_target(url, response.headers["Location"])
        raise TargetError(f"more than {MAX_REDIRECTS} redirects")


def _new_adapter() -> HTTPAdapter:
    # once more if the connection fails (a server may have closed a kept one), never after an answer
    retries = Retry(1, status=0, redirect=0, respect_retry_after_header=False)
    return HTTPAdapter(pool_maxsize=KEPT, max_retries=retries)


def of_host(table: Mapping[str, str], url: str) -> str | None:
    """Return the entry for the host of a URL, which may be with its port or without."""
    parts, host = urlsplit(url), host_of(url).lower()
    port = "443" if parts.scheme == "https" else "80"
    return table.get(host) or table.get(f"{host}:{port}") or table.get(parts.hostname or "")


def _failure(response: requests.Response, of_file: str, *, may_need_token: bool) -> OSError:
    """Return the error for an HTTP status, with what the answer says, if it is JSON."""
    status, host = response.status_code, host_of(response.url)
    said = f"{of_file}{host} answered {status} {response.reason or ''}".rstrip()
    if "json" in response.headers.get("Content-Type", ""):
        with suppress(AttributeError, KeyError, TypeError, ValueError):
            message = json.loads(response.raw.read(_CHUNK, decode_content=False))["message"]
            said += f": {message[:300]}" if message.isprintable() else ""
    if status in {404, 410}:
        return MissingError(said)
    if status in {401, 403}:
        hint = f"; a token may be needed: tokens={{{host!r}: …}} or DOIURI_TOKENS"
        return PermissionError(said + hint if may_need_token else said)
    if status == 429 and (seconds := retry_after(response.headers)) is not None:
        said += f"; Retry-After: {seconds:.0f} s"
    return OSError(said)


def _is_page(response: requests.Response, file: File) -> bool:
    """Return whether this is a web page in place of a file: of a login, or of a firewall."""
    kind = response.headers.get("Content-Type", "").lower()
    is_html = "html" in file.mimetype or file.path.lower().endswith((".html", ".htm", ".xhtml"))
    return kind.startswith(("text/html", "application/xhtml")) and not is_html


def new_digest(file: File) -> hashlib._Hash | None:
    """Return a new digest for a file's checksum; None if it has none, or, with a warning, an unknown kind."""
    name, _, value = file.checksum.lower().replace("-", "").partition(":")  # also "SHA-1:…"
    if not value:
        return None
    if name not in _ALGORITHMS:
        warnings.warn(
            f"{file.path}: opened without proof: its checksum {file.checksum!r:.100} is of an unknown kind",
            stacklevel=2,
        )
        return None
    return hashlib.new(name, usedforsecurity=False)


def _mismatch(file: File, dataset: Dataset, reason: str) -> OSError:
    changed = " has changed since it was locked" if dataset.locked else ""
    return OSError(f"{file.path}{changed}: {host_of(file.url)} {reason}")
