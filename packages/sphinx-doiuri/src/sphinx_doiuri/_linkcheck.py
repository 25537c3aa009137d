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
    from sphinx.application import Sphinx


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
    shared = options(app.config)
    with suppress(DOISyntaxError):
        return record_url(DOI.from_url(uri), base=shared.settings.base)
    with suppress(DOISyntaxError):
        return record_url(DOI.from_url(uri, hosts=[urlsplit(shared.link).netloc]), base=shared.settings.base)
    return None
