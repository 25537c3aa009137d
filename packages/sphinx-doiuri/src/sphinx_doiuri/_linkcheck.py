"""linkcheck asks the DOI system whether a DOI exists, and not the publisher, who may refuse robots."""

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from doiuri import DOI, DOISyntaxError
from doiuri.rest import record_url

from sphinx_doiuri._config import options, switch

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_HOSTS = ("doi.org", "dx.doi.org", "www.doi.org")


def ask_rest_api(app: "Sphinx", uri: str) -> str | None:
    """Return the REST API's URL for a link to a DOI; None leaves any other link as it is."""
    ignored = any(re.match(pattern, uri) for pattern in app.config.linkcheck_ignore)
    if ignored or not switch(app.config, "doi_linkcheck"):
        return None
    shown = options(app.config)
    own = urlsplit(shown.link).netloc
    try:
        doi = DOI.from_url(uri, hosts=(*_HOSTS, own))
    except DOISyntaxError:
        return None
    return record_url(doi, base=shown.settings.base)
