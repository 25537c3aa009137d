"""URLs of DOI proxies: the default, the hosts, which URLs can be a base, and the origin of a URL."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    QueryValue: TypeAlias = str | int | bool | Sequence[str | int] | None
    Origin: TypeAlias = tuple[str, str | None, int | None]

DOI_ORG = "https://doi.org"
"""The DOI Foundation's proxy: the default resolver, and the default base of links."""

PROXY_HOSTS = ("doi.org", "dx.doi.org", "www.doi.org")
"""The hosts of the DOI Foundation's proxy, in lower case."""

# "doi\.org|dx\.doi\.org|www\.doi\.org", without importing re
PROXY_HOST_PATTERN = "|".join(host.replace(".", r"\.") for host in PROXY_HOSTS)
"""The source of a pattern for these hosts, as alternatives."""

PROXY_PATTERN = rf"(?:(?:https?:)?//)?(?:{PROXY_HOST_PATTERN})\.?(?::[0-9]{{0,5}})?"
"""The source of a pattern for what links to the proxy begin with: scheme, host and port.

Only the host is required. Use the pattern with ``re.IGNORECASE``.
"""

_PORTS = {"http": 80, "https": 443}
# Characters, with the port; a host name has at most 253 (RFC 1035 section 2.3.4)
_LONGEST_HOST = 260
_NOT_IN_URLS = frozenset(' "<>\\^`{|}')  # RFC 3986 appendix A, and what is not printable


def check_base(where: str, base: str) -> str:
    """Return ``base`` as ``read_base`` does; the message of an error begins with ``where``."""
    try:
        return read_base(base)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{where}: {error}") from None


def read_base(base: str) -> str:
    """Return ``base`` without outer white space and trailing slashes.

    >>> read_base(" https://doi.example.org/proxy/ ")
    'https://doi.example.org/proxy'

    :raises TypeError: if it is not a string.
    :raises ValueError: for anything but an http or https URL in ASCII, without user, query and fragment.
    """
    from urllib.parse import urlsplit  # slow to import, and not needed to read or write a DOI

    if not isinstance(base, str):
        raise TypeError(f"expected str, not {type(base).__name__}")
    text = base.strip(" \t\r\n")
    if "@" in text:
        # without the URL: a password with a "/" or "?" may be in any part of it
        raise ValueError('the URL must have neither user nor password, nor any other "@"')
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        raise ValueError(f"{base!r} is not a URL: {error}") from None
    plain = text.isprintable() and _NOT_IN_URLS.isdisjoint(text)
    if parts.scheme not in _PORTS or not parts.hostname or not plain:
        raise ValueError(f"{base!r} is not an http or https URL such as {DOI_ORG}")
    if not text.isascii():
        raise ValueError(
            f"{base!r} is not ASCII: write its host as xn--…, and percent-encode its path"
        )
    if "?" in text or "#" in text:
        raise ValueError(f"{base!r} must have neither query nor fragment")
    return text.rstrip("/")


def origin(url: str) -> "Origin":
    """Return scheme, host and port of a URL, the scheme's default port filled in (RFC 6454 §4)."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)


def server_of(url: str) -> "tuple[str | None, int | None]":
    """Return the host and port of a URL; http and https on their default ports are one server.

    >>> server_of("http://doi.org/"), server_of("https://doi.org:443/"), server_of("http://doi.org:8000/")
    (('doi.org', None), ('doi.org', None), ('doi.org', 8000))
    """
    scheme, host, port = origin(url)
    return host, None if port == _PORTS.get(scheme) else port


def host_of(url: str) -> str:
    """Return the host and port of a URL, without user and password.

    >>> host_of("https://me:secret@example.org:8000/data")
    'example.org:8000'
    """
    from urllib.parse import urlsplit

    host = urlsplit(url).netloc.rpartition("@")[2]
    return host[:_LONGEST_HOST]


def query_string(query: "Iterable[tuple[object, object]]", safe: str = "") -> str:
    """Return the parameters percent-encoded and joined by ``&``; characters in ``safe`` stay in values.

    A sequence repeats its parameter, True adds it without a value, False and None leave it out.

    >>> query_string([("locatt", ["id:1", "id:2"]), ("noredirect", True), ("auth", False)], safe=":")
    'locatt=id:1&locatt=id:2&noredirect'
    """
    fields = []
    for name, value in query:
        quoted_name = _quoted(name)
        for item in _repeated(value):
            if item is True:
                fields.append(quoted_name)
            elif item is not None and item is not False:
                fields.append(f"{quoted_name}={_quoted(item, safe)}")
    return "&".join(fields)


def _repeated(value: object) -> "Iterable[object]":
    """Return the values of a parameter: those in a sequence, or the one value."""
    from collections.abc import Iterable

    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return [value]
    return value


def _quoted(value: object, safe: str = "") -> str:
    from urllib.parse import quote

    if not isinstance(value, bytes):
        value = str(value)
    return quote(value, safe=safe)
