"""What the proxy says of all locations of a record: the Link header, and the list of ``action=showurls``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from doiuri_proxy.app._target import header_url

if TYPE_CHECKING:
    from doiuri.records import Location, Locations

MAX_LINKS = 4096  # characters of a Link header: clients refuse long header lines

_ATTRIBUTE = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def header_links(locations: Locations) -> str:
    """Write the Link header of the locations that have a ``rel``, "" if none has."""
    links = ""
    for place in locations.candidates:
        url, rel = header_url(place.href), place.attributes.get("rel", "")
        if url and rel and _plain(rel):
            kind = place.attributes.get("media-type") or place.attributes.get("type", "")
            link = f'<{url}>; rel="{rel}"' + (f'; type="{kind}"' if kind and _plain(kind) else "")
            longer = f"{links}, {link}" if links else link
            if len(longer) > MAX_LINKS:
                break
            links = longer
    return links


def _plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and not set(text) & set('"\\')


def show_urls(locations: Locations) -> bytes:
    """Write the list of all places that the proxy could redirect to, as XML."""
    places = "".join(f"<location {_attributes(place)} />" for place in locations.candidates)
    return f"<locations>{places}</locations>".encode()


def _attributes(place: Location) -> str:
    attributes = {**place.attributes, "href": place.href}
    return " ".join(
        f"{name}={quoteattr(_NOT_XML.sub('?', value))}"
        for name, value in attributes.items()
        if _ATTRIBUTE.fullmatch(name) and name != "xmlns"
    )
