"""What can be the base of links and requests: the address of a DOI proxy."""

from urllib.parse import urlsplit

_NOT_IN_URLS = frozenset(' "<>\\^`{|}')  # RFC 3986 appendix A, and what is not printable


def check_base(where: str, base: str) -> str:
    """Return ``base`` without outer white space and the slash at its end.

    Raises ValueError, which begins with ``where``, for what is no plain http or https URL.
    """
    if not isinstance(base, str):
        raise TypeError(f"{where}: expected str, not {type(base).__name__}")
    text = base.strip(" \t\r\n")
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        raise ValueError(f"{where}: {base!r} is not a URL: {error}") from None
    plain = text.isprintable() and _NOT_IN_URLS.isdisjoint(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname or not plain:
        raise ValueError(f"{where}: {base!r} is not an http or https URL such as https://doi.org")
    if "?" in text or "#" in text or "@" in parts.netloc:
        raise ValueError(f"{where}: {base!r} must have neither user, query nor fragment")
    return text.rstrip("/")
