"""Requests to repositories: redirects, tokens, limits; files are verified by size and checksum."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import tempfile
import warnings
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import requests
from doiuri.connections import checked_proxy, guarding, pieces, sentence
from doiuri.plugins.clients import TargetError, host_of
from doiuri.rest import retry_after
from requests.adapters import HTTPAdapter
from requests.utils import select_proxy
from urllib3 import Retry
from urllib3.exceptions import HTTPError

from fsspec_doiuri._dataset import TOKENS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import IO

    from doiuri.plugins.clients import TargetCheck
    from urllib3 import PoolManager

    from fsspec_doiuri._dataset import Dataset, File

MAX_SIZE = 64 * 2**20
"""The most bytes of all answers for a listing, and of a file of unknown size: either might never end."""
CONNECT = 10
"""Seconds to connect."""
PIECE = 60
"""Seconds to wait for the next bytes of an answer: a repository needs long for a large listing."""
TIME = 120
"""Seconds for all answers for a listing, and for everything that precedes the bytes of a file."""
MAX_REDIRECTS = 10
WHOLE = 16 * 2**20
"""The most bytes of a file that is kept in memory. Such a file is received when it is opened, so that it is
verified before anything is read."""

_CHUNK = 2**18
_KEPT = 64  # connections to one host that may stay open; urllib3 warns when it closes more
_ALGORITHMS = frozenset({"md5", "sha1", "sha256", "sha512"})
_GZIP = frozenset({"gzip", "x-gzip"})


class MissingError(OSError):
    """The repository answered 404 or 410."""


class _Clock:
    """The time left for a number of requests: in total, and for the next bytes of an answer."""

    def __init__(self) -> None:
        self._end = monotonic() + TIME

    def remaining(self) -> float:
        """Return the seconds to wait for the next bytes. Raises TimeoutError if no time is left."""
        left = self._end - monotonic()
        if left <= 0:
            raise TimeoutError
        return min(left, PIECE)

    def stop(self) -> None:
        """Lift the limit on the total time: the answer is a file, which may be large."""
        self._end = inf

    @property
    def ended(self) -> bool:
        """Whether no time is left."""
        return monotonic() >= self._end


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

    def listing(self, kind: str) -> Callable[[str], Any]:
        """Return a function that gets JSON from the URLs of one listing, with limits on all answers together.

        It raises MissingError for 404 and 410, and OSError for any other answer that is not JSON.
        """
        clock = _Clock()
        remaining = MAX_SIZE

        def get(url: str) -> Any:
            """Return the JSON at a URL."""
            nonlocal remaining
            headers = {"Accept": "application/json"}
            with self._answer(url, kind, headers, 200, clock=clock) as response:
                body = b"".join(pieces(response.raw, remaining))
            remaining -= len(body)
            try:
                return json.loads(body)
            except (ValueError, RecursionError):
                media_type = response.headers.get("Content-Type", "no media type")
                reason = f"sent {media_type:.80} in place of a listing in JSON"
                raise OSError(f"{host_of(url)} {reason}") from None

        return get

    def download(
        self, file: File, dataset: Dataset, out: IO[bytes], progress: Callable[[int], object]
    ) -> None:
        """Write a file to ``out``, and verify it.

        :param out: an empty file, open for writing and reading.
        :param progress: called with the number of bytes after each write.
        :raises OSError: if the file is not what the listing says; the content of ``out`` is then useless.
        """
        digest = new_digest(file)
        size = 0
        with self._answer(file.url, dataset.kind, {}, 200, file=file) as response:
            stated_size = file.size
            if stated_size is None:
                stated_size = response.raw.length_remaining
            limit = MAX_SIZE if stated_size is None else stated_size
            encoding = response.headers.get("Content-Encoding", "").strip().lower()
            is_compressed = encoding in _GZIP
            sent_limit = limit
            if is_compressed:  # compression makes some files a little longer
                sent_limit += limit // 64 + _CHUNK

            # Until the end, or the first piece beyond the limit: how much more there is does not matter.
            while size <= sent_limit:
                piece = response.raw.read(_CHUNK, decode_content=False)
                if not piece:
                    break
                size += len(piece)
                out.write(piece)
                if digest is not None:
                    digest.update(piece)
                progress(len(piece))

        has_size = file.size in {None, size} and size <= limit
        # A file may be a .gz itself, whose checksum is that of the bytes as sent. Else the server compressed them
        # for the transfer, although it was asked not to.
        is_as_listed = has_size and _matches(file, digest)
        if is_compressed and not is_as_listed and _unpack(file, out):
            return
        if not has_size:
            raise _mismatch(file, dataset, _wrong_size(size, stated_size))
        self.verify(file, dataset, digest)

    def read(self, file: File, dataset: Dataset, start: int, end: int) -> bytes | None:
        """Return the bytes from ``start`` to ``end`` of a file; None if the repository sends no ranges of it."""
        headers = {"Range": f"bytes={start}-{end - 1}"}
        with self._answer(file.url, dataset.kind, headers, 200, 206, file=file) as response:
            if response.headers.get("Content-Range") != f"bytes {start}-{end - 1}/{file.size}":
                return None
            size = end - start
            # one byte more than requested, to notice if the server sends too many
            data = response.raw.read(size + 1, decode_content=False)
        if len(data) != size:
            raise OSError(f"{file.path}: {host_of(file.url)} sent {len(data):,} of {size:,} bytes")
        return data

    def verify(self, file: File, dataset: Dataset, digest: hashlib._Hash | None) -> None:
        """Check that the digest of a file's bytes is its checksum. Raises OSError, or warns if that is allowed."""
        if digest is None or _matches(file, digest):
            return
        computed = f"{digest.name}:{digest.hexdigest()}"
        reason = f"sent bytes with the checksum {computed}, expected {file.checksum}"
        error = _mismatch(file, dataset, reason)
        if self.checksums:
            raise error
        warnings.warn(f"{error}; opened without proof", stacklevel=2)

    @contextmanager
    def _answer(
        self,
        url: str,
        kind: str,
        headers: Mapping[str, str],
        *expected: int,
        file: File | None = None,
        clock: _Clock | None = None,
    ) -> Iterator[requests.Response]:
        """Yield the answer at the end of the redirects.

        :param kind: the kind of repository, which decides how a token is sent.
        :param expected: the statuses that it may have.
        :param file: the file that is requested; None for a listing.
        :param clock: the time that is left; None for the usual time.
        :raises OSError: for another status, and for a web page in place of a file.
        """
        path = "" if file is None else f"{file.path}: "  # the beginning of each message
        if self.offline:
            raise OSError(f"{path}{host_of(url)}: offline: request not sent")
        secret = self._secret(url, kind)
        if clock is None:
            clock = _Clock()
        try:
            with self._followed(url, headers, secret, clock) as response:
                if response.status_code not in expected:
                    # after a redirect, it is not the repository that refuses
                    may_need_token = not secret and host_of(response.url) == host_of(url)
                    raise _failure(response, path, may_need_token=may_need_token)
                if file is not None:
                    if _is_page(response, file):
                        reason = "sent a web page in place of the file"
                        raise OSError(f"{path}{host_of(response.url)} {reason}")
                    clock.stop()
                yield response
        except (ValueError, requests.RequestException, HTTPError) as error:
            request = getattr(error, "request", None)  # possibly that of a redirect
            failed_url = url if request is None else request.url
            reason = f"no complete answer within {TIME} s" if clock.ended else sentence(error)
            raise OSError(f"{path}{host_of(failed_url)}: {reason}") from error

    def _secret(self, url: str, kind: str) -> dict[str, str]:
        """Return the header with the token for the host of a URL; none if there is no token for it."""
        token = of_host(self.tokens, url)
        if not token:
            return {}
        if not url.startswith("https:") and not self.check.private:
            reason = "is not sent over http; private=True allows it"
            raise OSError(f"the token for {host_of(url)} {reason}")
        name, scheme = TOKENS[kind]
        return {name: scheme + token}

    def _followed(
        self, url: str, headers: Mapping[str, str], secret: Mapping[str, str], clock: _Clock
    ) -> requests.Response:
        """Return the answer at the end of the redirects.

        Only the first server gets the secret, and not after a redirect to another server, even if that one
        redirects to the first again: it could then choose what is requested with the secret.
        """
        self.check.check_url(url)
        first_origin = urlsplit(url)[:2]  # the scheme, host and port
        is_at_origin = True
        # identity: checksums are those of files that are not compressed to save bytes
        usual = {
            "User-Agent": self.user_agent,
            "Accept": "*/*",
            "Accept-Encoding": "identity",
            **headers,
        }
        for _ in range(MAX_REDIRECTS + 1):
            is_at_origin = is_at_origin and urlsplit(url)[:2] == first_origin
            request_headers = {**usual, **secret} if is_at_origin else usual
            response = self._send(url, request_headers, clock)
            if not response.is_redirect:
                return response
            response.close()
            url = self.check.redirect_target(url, response.headers["Location"])
        raise TargetError(f"more than {MAX_REDIRECTS} redirects")

    def _send(self, url: str, headers: Mapping[str, str], clock: _Clock) -> requests.Response:
        """Return the answer to one request.

        Session.get is bypassed: it reads netrc, keeps cookies, and reads a redirect's body without limit.
        """
        adapter = self.adapters.get(os.getpid())
        if adapter is None:
            # setdefault: another thread may have added one meanwhile
            adapter = self.adapters.setdefault(os.getpid(), _new_adapter())
        request = requests.Request("GET", url, headers).prepare()
        session = requests.Session()  # it reads proxies and certificates from the environment
        # no proxies of our own; stream: the body is not read yet; the usual certificates
        settings: Any = session.merge_environment_settings(url, {}, True, None, None)
        manager = _manager(adapter, url, settings["proxies"])
        with guarding(manager, url, self.check, clock.remaining):
            return adapter.send(request, timeout=(CONNECT, PIECE), **settings)


def _new_adapter() -> HTTPAdapter:
    # Retry once if the connection fails (a server may have closed an idle one), but not after an answer.
    retries = Retry(1, status=0, redirect=0, respect_retry_after_header=False)
    # Connections are not limited: a slow file would keep others from being read.
    return HTTPAdapter(pool_maxsize=_KEPT, max_retries=retries)


def _manager(adapter: HTTPAdapter, url: str, proxies: Mapping[str, str]) -> PoolManager:
    """Return the manager of the connections to a URL, or to the proxy for it."""
    manager: PoolManager = adapter.poolmanager
    proxy = select_proxy(url, proxies)
    if proxy:
        manager = adapter.proxy_manager_for(checked_proxy(proxy))
    return manager


def of_host(table: Mapping[str, str], url: str) -> str | None:
    """Return the entry for the host of a URL: "example.org" and "example.org:443" are those of https://example.org.

    None if the table has neither.
    """
    parts = urlsplit(url)
    host = host_of(url).lower()
    port = "443" if parts.scheme == "https" else "80"
    without_port = parts.hostname or ""
    return table.get(host) or table.get(f"{host}:{port}") or table.get(without_port)


def _failure(response: requests.Response, path: str, *, may_need_token: bool) -> OSError:
    """Return the error for an HTTP status, with the message of the answer if it has one.

    :param path: the path of the file and a colon; "" for a listing.
    """
    status = response.status_code
    host = host_of(response.url)
    message = f"{path}{host} answered {status} {response.reason or ''}".rstrip()
    message += _message(response)
    if status in {404, 410}:
        return MissingError(message)
    if status in {401, 403}:
        if may_need_token:
            message += f"; a token may be needed: tokens={{{host!r}: …}} or DOIURI_TOKENS"
        return PermissionError(message)
    if status == 429:
        seconds = retry_after(response.headers)
        if seconds is not None:
            message += f"; Retry-After: {seconds:.0f} s"
    return OSError(message)


def _message(response: requests.Response) -> str:
    """Return a colon and the member ``message`` of a JSON answer; "" if there is none."""
    if "json" not in response.headers.get("Content-Type", ""):
        return ""
    try:
        body = response.raw.read(_CHUNK, decode_content=False)
        message = json.loads(body)["message"]
        return f": {message[:300]}" if message.isprintable() else ""
    except (AttributeError, KeyError, TypeError, ValueError, HTTPError):
        return ""


def _is_page(response: requests.Response, file: File) -> bool:
    """Return whether an answer is a web page in place of the file, such as that of a login or a firewall."""
    media_type = response.headers.get("Content-Type", "").lower()
    if not media_type.startswith(("text/html", "application/xhtml")):
        return False
    path = file.path.lower()
    return not ("html" in file.mimetype or path.endswith((".html", ".htm", ".xhtml")))


def new_digest(file: File) -> hashlib._Hash | None:
    """Return a new digest to compute a file's checksum with.

    None if the file has no checksum; a warning and None if its checksum is of an unknown kind.
    """
    if not file.checksum:
        return None
    name, _, value = file.checksum.lower().replace("-", "").partition(":")  # also "SHA-1:…"
    if value and name in _ALGORITHMS:
        return hashlib.new(name, usedforsecurity=False)
    warnings.warn(
        f"{file.path}: only its size is verified: its checksum {file.checksum!r:.100} is of an unknown kind",
        stacklevel=2,
    )
    return None


def _matches(file: File, digest: hashlib._Hash | None) -> bool:
    """Return whether a digest is a file's checksum; it is if there is no digest."""
    if digest is None:
        return True
    checksum = file.checksum.partition(":")[2]
    return digest.hexdigest() == checksum.lower()


def _wrong_size(size: int, stated_size: int | None) -> str:
    """Return what is wrong with the number of received bytes."""
    if stated_size is None:
        return f"sent more than {MAX_SIZE:,} bytes without saying how many there are"
    sent = f"more than {stated_size:,}" if size > stated_size else f"{size:,}"
    return f"sent {sent} bytes, expected {stated_size:,}"


def _unpack(file: File, out: IO[bytes]) -> bool:
    """Replace the received bytes by what they decompress to, if that has the file's checksum and size.

    Return whether it has.
    """
    digest = new_digest(file)
    if digest is None:
        return False
    limit = MAX_SIZE if file.size is None else file.size
    size = 0
    out.seek(0)
    with tempfile.SpooledTemporaryFile(max_size=WHOLE) as unpacked:
        try:
            packed = gzip.GzipFile(fileobj=out, mode="rb")
            while size <= limit:
                piece = packed.read(_CHUNK)
                if not piece:
                    break
                size += len(piece)
                unpacked.write(piece)
                digest.update(piece)
        except (EOFError, OSError, zlib.error):  # it is not gzip, or is cut off
            return False
        if file.size not in {None, size} or size > limit or not _matches(file, digest):
            return False

        out.seek(0)
        out.truncate()
        unpacked.seek(0)
        shutil.copyfileobj(unpacked, out)
    return True


def _mismatch(file: File, dataset: Dataset, reason: str) -> OSError:
    """Return the error for a file that is not what its listing says."""
    changed = " has changed since it was locked" if dataset.locked else ""
    return OSError(f"{file.path}{changed}: {host_of(file.url)} {reason}")
