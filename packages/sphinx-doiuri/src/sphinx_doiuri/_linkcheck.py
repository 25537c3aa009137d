"""Links to DOIs in linkcheck: ask the REST API whether the DOI exists."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from doiuri import DOI, DOISyntaxError
from doiuri.rest import record_url

from sphinx_doiuri._config import options, switch

if TYPE_CHECKING:
    from doiuri.plugins import Options
    from sphinx.application import Sphinx
    from sphinx.builders.linkcheck import CheckResult


def check_in_rest_api(app: Sphinx, uri: str) -> str | None:
    """Return the URL that linkcheck requests in place of a link to a DOI.

    It is the REST API's, which knows whether the DOI exists; publishers often refuse linkcheck. Handles
    ``linkcheck-process-uri``.

    :param uri: the URL of a link.
    :returns: the REST API's URL for the DOI; None to check the link itself.
    """
    ignored = any(re.match(pattern, uri) for pattern in app.config.linkcheck_ignore)
    if ignored or not switch(app.config, "doi_linkcheck"):
        return None
    url = _url_in_rest_api(options(app.config), uri)
    if url is not None:
        _checked_links(app).setdefault(url, uri)
    return url


def _url_in_rest_api(shared: Options, uri: str) -> str | None:
    with suppress(DOISyntaxError):
        return record_url(DOI.from_url(uri), base=shared.settings.base)
    with suppress(DOISyntaxError):
        return record_url(DOI.from_url(uri, hosts=[urlsplit(shared.link).netloc]), base=shared.settings.base)
    return None


def _checked_links(app: Sphinx) -> dict[str, str]:
    """Return the first link of the pages for each URL that linkcheck checks instead."""
    links: dict[str, str] = vars(app.builder).setdefault("_doiuri_links", {})
    return links


def report_links(app: Sphinx) -> None:
    """Make linkcheck report the links of the pages, not the REST API's URLs. Handles ``builder-inited``."""
    process_result = getattr(app.builder, "process_result", None)
    if app.builder.name != "linkcheck" or process_result is None:
        return
    links = _checked_links(app)

    def process_link(result: CheckResult) -> None:
        process_result(result._replace(uri=links.get(result.uri, result.uri)))

    vars(app.builder)["process_result"] = process_link
