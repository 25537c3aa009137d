"""Work with other extensions and builders: extlinks, doi_role.py, MyST, linkcheck, sphinxcontrib-bibtex."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from docutils import nodes
from docutils.parsers.rst import roles
from doiuri import DOI, DOISyntaxError
from doiuri.rest import record_url
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from sphinx_doiuri._config import options, switch
from sphinx_doiuri._environment import Use, doi_data
from sphinx_doiuri._lines import location_in_file
from sphinx_doiuri._locale import __
from sphinx_doiuri._read import DOIRole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx
    from sphinx.builders.linkcheck import CheckResult
    from sphinx.config import Config
    from sphinx.environment import BuildEnvironment

_SCHEMES = {"doi": None, "DOI": None}  # MyST compares case-sensitively
_RAW = "https://doi.org/"  # what pybtex puts before the field "doi"

logger = logging.getLogger(__name__)


def replace_extlinks(app: Sphinx, config: Config) -> None:
    """Remove ``doi`` from ``extlinks``, which would override the role, and warn."""
    links = getattr(config, "extlinks", None)
    ours = [name for name in links if name.lower() == "doi"] if isinstance(links, dict) else []
    if not ours or not isinstance(links, dict):
        return
    config.extlinks = {name: link for name, link in links.items() if name not in ours}
    logger.warning(
        __("extlinks[%r] is ignored because sphinx_doiuri provides the role; remove it from extlinks"),
        ours[0],
        type="doi",
        subtype="extlinks",
        location=location_in_file(Path(app.confdir, "conf.py"), "extlinks ="),
    )


def replace_role(app: Sphinx) -> None:
    """Register our role again if another extension, such as a copied doi_role.py, has replaced it."""
    if isinstance(vars(roles)["_roles"].get("doi"), DOIRole):
        return
    app.add_role("doi", DOIRole(), override=True)
    logger.warning(
        __("sphinx_doiuri overrides the role doi of another extension; remove that extension"),
        type="doi",
        subtype="role",
        location=location_in_file(Path(app.confdir, "conf.py"), "extensions"),
    )


def allow_doi_urls_in_myst(app: Sphinx, config: Config) -> None:  # noqa: ARG001
    """Make MyST leave ``doi:`` URLs as they are: its templates drop the query and the fragment."""
    if "myst_url_schemes" not in config:
        return
    schemes = config.myst_url_schemes
    if isinstance(schemes, dict):
        config.myst_url_schemes = {**schemes, **_SCHEMES}
    elif isinstance(schemes, list | tuple | set | frozenset):
        config.myst_url_schemes = {**dict.fromkeys(schemes), **_SCHEMES}


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
    for hosts in (), (urlsplit(shared.link).netloc,):
        with suppress(DOISyntaxError):
            doi = DOI.from_url(uri, hosts=hosts) if hosts else DOI.from_url(uri)
            url = record_url(doi, base=shared.settings.base)
            _checked_links(app).setdefault(url, uri)
            return url
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


def collect_bibtex_uses(env: BuildEnvironment) -> None:
    """Add the DOIs of the entries that documents list to the uses in these documents."""
    uses = doi_data(env).uses
    for docname in [*uses]:
        uses[docname] = [use for use in uses[docname] if not use.entry]
        if not uses[docname]:
            del uses[docname]
    for docname, key, field in _entries(env):
        try:
            use = Use(DOI.parse(field), _location(env, docname, key), entry=key)
        except DOISyntaxError:
            continue
        uses.setdefault(docname, []).append(use)


def _entries(env: BuildEnvironment) -> Iterator[tuple[str, str, str]]:
    """Yield the document, the key and the field "doi" of each listed entry that has one."""
    for citation in env.domaindata.get("cite", {}).get("citations", ()):
        field = citation.entry.fields.get("doi", "").strip()
        if field:
            yield citation.bibliography_key.docname, citation.entry.key, field


def _location(env: BuildEnvironment, docname: str, key: str) -> str:
    """Return the file and line of an entry; the document that lists it if the line is not found."""
    for path in env.domaindata["cite"]["bibdata"].bibfiles:
        place = location_in_file(Path(path), f"{{{key},")
        if not place.endswith(":"):
            return place
    return docname


class CorrectBibtexLinks(SphinxPostTransform):
    """Encode the names in links that sphinxcontrib-bibtex writes raw."""

    default_priority = 58  # after BibliographyTransform (5)

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the links of a document before it is written."""
        raw = {f"{_RAW}{field}": field for _, _, field in _entries(self.env)}
        for link in self.document.findall(nodes.reference) if raw else ():
            field = raw.get(link.get("refuri", ""))
            if field is not None and "doi" not in link:
                try:
                    link["doi"] = DOI.parse(field)
                except DOISyntaxError:
                    continue
                link["refuri"], link["doi_card"] = link["doi"].url, False
