"""Requests to repositories: redirects, tokens, bounds; files verified by size and checksum."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import tempfile
import warnings
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import requests
from doiuri.plugins.clients import TargetError
from doiuri.plugins.connections import checked_proxy, guarding, host_of, pieces, sentence
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
"""Bytes of all answers for a listing, and of a file whose size nobody says: either might never end."""
CONNECT = 10
"""Seconds to connect."""
PIECE = 60
"""Seconds to wait for more of an answer: large listings take a repository long."""
TIME = 120
"""Seconds for all answers for a listing, and for what comes before the bytes of a file."""
MAX_REDIRECTS = 10
WHOLE = 16 * 2**20
"""Bytes up to which a file is kept in memory, and received whole when it is opened, so that it is verified
before anything is read."""

_CHUNK = 2**18
_KEPT = 64  # connections to one host that may stay open; urllib3 warns when it closes more
_ALGORITHMS = frozenset({"md5", "sha1", "sha256", "sha512"})
_GZIP = frozenset({"gzip", "x-gzip"})


class MissingError(OSError):
    """The repository answered 404 or 410."""


class _Clock:
    """The time that is left for some requests: in total, and for each piece of an answer."""

    def __init__(self) -> None:
        self._end = monotonic() + TIME

    def remaining(self) -> float:
        """Return the seconds to wait for the next piece; raises TimeoutError at the end."""
        left = self._end - monotonic()
        if left <= 0:
            raise TimeoutError
        return min(left, PIECE)

    def stop(self) -> None:
        """Allow any total time: the answer is a file, which may be large."""
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

    def listing(self, repository: str) -> Callable[[str], Any]:
        """Return a function that gets JSON from the URLs of one listing, which together are bounded.

        It raises MissingError for 404 and 410, and OSError for all else that is not JSON.
        """
        clock = _Clock()
        left = MAX_SIZE

        def get(url: str) -> Any:
            nonlocal left
            headers = {"Accept": "application/json"}
            with self._answer(url, repository, headers, 200, clock=clock) as response:
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
        """Write a whole file; raises OSError if it is not what the listing says: then forget ``out``.

        :param out: an empty file to write to; it is read, too.
        """
        digest = new_digest(file)
        size = 0
        with self._answer(file.url, dataset.repository, {}, 200, file=file) as response:
            said = file.size
            if said is None:
                said = response.raw.length_remaining
            limit = MAX_SIZE if said is None else said
            # what cannot be compressed becomes a little longer
            is_packed = response.headers.get("Content-Encoding", "").strip().lower() in _GZIP
            most = limit + limit // 64 + _CHUNK if is_packed else limit
            while size <= most and (piece := response.raw.read(_CHUNK, decode_content=False)):
                size += len(piece)
                out.write(piece)
                if digest is not None:
                    digest.update(piece)
                progress(len(piece))

        # checksums are those of the bytes as sent, unless a server compressed what should be sent as it is
        is_same = file.size in {None, size} and size <= limit and _matches(file, digest)
        if is_packed and not is_same and _unpack(file, out):
            return
        if size > limit or file.size not in {None, size}:
            sent = f"more than {limit:,}" if size > limit else f"{size:,}"
            expected = " without saying how many there are"
            if said is not None:
                expected = f", expected {said:,}"
            raise _mismatch(file, dataset, f"sent {sent} bytes{expected}")
        self.verify(file, dataset, digest)

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

    def verify(self, file: File, dataset: Dataset, digest: hashlib._Hash | None) -> None:
        """Check that a file's bytes have its checksum; raises OSError, or warns if that is allowed."""
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
        repository: str,
        headers: Mapping[str, str],
        *expected: int,
        file: File | None = None,
        clock: _Clock | None = None,
    ) -> Iterator[requests.Response]:
        """Yield the answer at the end of the redirects; raises OSError for another status, and a web page."""
        of_file = "" if file is None else f"{file.path}: "
        if self.offline:
            raise OSError(f"{of_file}{host_of(url)}: offline: request not sent")
        token = of_host(self.tokens, url)
        if token and not url.startswith("https:") and not self.check.private:
            raise OSError(
                f"the token for {host_of(url)} is not sent over http; private=True allows it"
            )
        secret = {}
        if token:
            name, scheme = TOKENS[repository]
            secret[name] = scheme + token
        clock = clock or _Clock()
        try:
            with self._followed(url, headers, secret, clock) as response:
                if response.status_code not in expected:
                    may_need_token = not token and host_of(response.url) == host_of(url)
                    raise _failure(response, of_file, may_need_token=may_need_token)
                if file is not None:
                    if _is_page(response, file):
                        raise OSError(
                            f"{of_file}{host_of(response.url)} sent a web page in place of the file"
                        )
                    clock.stop()
                yield response
        except (ValueError, requests.RequestException, HTTPError) as error:
            request = getattr(error, "request", None)  # maybe that of a redirect
            place = url if request is None else request.url
            reason = sentence(error)
            if clock.ended:
                reason = f"no complete answer within {TIME} s"
            raise OSError(f"{of_file}{host_of(place)}: {reason}") from error

    def _followed(
        self, url: str, headers: Mapping[str, str], secret: Mapping[str, str], clock: _Clock
    ) -> requests.Response:
        """Return the answer at the end of the redirects.

        The first server alone gets the secret, and no longer after a redirect to another one: where that leads
        back to, and what is requested there, is not the first one's choice.
        """
        self.check.check_url(url)
        first_origin = urlsplit(url)[:2]  # the scheme, host and port
        is_at_origin = True
        # identity: checksums are those of the files, whatever a server may do to save bytes
        usual = {
            "User-Agent": self.user_agent,
            "Accept": "*/*",
            "Accept-Encoding": "identity",
            **headers,
        }
        for _ in range(MAX_REDIRECTS + 1):
            is_at_origin = is_at_origin and urlsplit(url)[:2] == first_origin
            sent = {**usual, **secret} if is_at_origin else usual
            response = self._send(url, sent, clock)
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
            adapter = self.adapters.setdefault(os.getpid(), _new_adapter())
        request = requests.Request("GET", url, headers).prepare()
        session = requests.Session()  # for what the environment says of proxies and certificates
        settings: Any = session.merge_environment_settings(url, {}, True, None, None)
        manager = _manager(adapter, url, settings["proxies"])
        with guarding(manager, url, self.check, clock.remaining):
            return adapter.send(request, timeout=(CONNECT, PIECE), **settings)


def _new_adapter() -> HTTPAdapter:
    # once more if the connection fails (a server may have closed a kept one), never after an answer
    retries = Retry(1, status=0, redirect=0, respect_retry_after_header=False)
    # no limit of connections: a slow file would keep others from being read
    return HTTPAdapter(pool_maxsize=_KEPT, max_retries=retries)


def _manager(adapter: HTTPAdapter, url: str, proxies: Mapping[str, str]) -> PoolManager:
    """Return what makes the connections to a URL, or to the proxy for it."""
    manager: PoolManager = adapter.poolmanager
    proxy = select_proxy(url, proxies)
    if proxy:
        manager = adapter.proxy_manager_for(checked_proxy(proxy))
    return manager


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
        with suppress(AttributeError, KeyError, TypeError, ValueError, HTTPError):
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
    """Return a new digest for a file's checksum; None if it has none, or warns if that is of an unknown kind."""
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
    """Return whether a digest is a file's checksum, or there is none to compare."""
    return digest is None or digest.hexdigest() == file.checksum.partition(":")[2].lower()


def _unpack(file: File, out: IO[bytes]) -> bool:
    """Replace what was received by what is packed in it, once, if that has the file's checksum and size.

    Returns whether it has.
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
            while size <= limit and (piece := packed.read(_CHUNK)):
                size += len(piece)
                unpacked.write(piece)
                digest.update(piece)
        except (EOFError, OSError, zlib.error):  # it is not gzip, or only the begin
            return False
        if file.size not in {None, size} or size > limit or not _matches(file, digest):
            return False
        out.seek(0)
        out.truncate()
        unpacked.seek(0)
        shutil.copyfileobj(unpacked, out)
    return True


def _mismatch(file: File, dataset: Dataset, reason: str) -> OSError:
    changed = " has changed since it was locked" if dataset.locked else ""
    return OSError(f"{file.path}{changed}: {host_of(file.url)} {reason}")
