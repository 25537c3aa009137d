"""The visible text of a DOI."""

from string import Formatter

from doiuri._doi import DOI
from doiuri._urls import DOI_ORG

_FIELDS = {"name", "prefix", "suffix", "uri", "url"}


def check_display(text: str) -> str:
    """Return ``text`` if ``display`` takes it: "name", "link", or a template; else raise ValueError.

    A template may hold ``{name}``, ``{prefix}``, ``{suffix}``, ``{uri}`` and ``{url}``.
    """
    if text in {"name", "link"}:
        return text
    try:
        fields = [part for part in Formatter().parse(text) if part[1] is not None]
    except ValueError as error:
        raise ValueError(f"not a template for DOIs: {text!r} ({error})") from None
    for _, field, spec, conversion in fields:
        if field not in _FIELDS or spec or conversion:
            raise ValueError(f"not a template for DOIs: {text!r} (known are {', '.join(sorted(_FIELDS))})")
    if not fields:
        raise ValueError(
            f'not a template for DOIs: {text!r} ("name", "link", or a text with {{name}} or the like)'
        )
    return text


def display(doi: DOI, text: str = "name", *, base: str = DOI_ORG) -> str:
    """Return what readers see: "name" is ``doi:…``, "link" the https link at ``base``, else a template.

    Raises ValueError for a bad template.
    """
    check_display(text)
    if text == "name":
        return f"doi:{doi.name}"
    url = doi.link(base)
    if text == "link":
        return url
    return text.format(name=doi.name, prefix=doi.prefix, suffix=doi.suffix, uri=doi.uri, url=url)
