"""Work with other extensions and builders: extlinks, doi_role.py, MyST, nbsphinx, linkcheck, BibTeX."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from docutils import nodes
from docutils.parsers.rst import roles
from docutils_doiuri.nodes import ARXIV, parse_arxiv_target
from doiuri import DOI, DOISyntaxError, find
from doiuri.plugins import with_suggestion
from doiuri.plugins.sentences import remarks
from sphinx.builders.linkcheck import CheckExternalLinksBuilder
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import is_role_registered

from sphinx_doiuri._citations import domain_of
from sphinx_doiuri._config import options, switch
from sphinx_doiuri._environment import Use, doi_data, location_in_file
from sphinx_doiuri._listings import listings_of
from sphinx_doiuri._locale import __
from sphinx_doiuri._read import ArXivRole, DOIRole, is_doi_uri

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Set as AbstractSet

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
        __(
            "extlinks[%r] is ignored because sphinx_doiuri provides the role; remove it from extlinks"
        ),
        ours[0],
        type="doi",
        subtype="extlinks",
        location=location_in_file(Path(app.confdir, "conf.py"), "extlinks ="),
    )


def replace_role(app: Sphinx) -> None:
    """Register our role again if another extension, such as a copied doi_role.py, has replaced it.

    The role ``arxiv`` is added only if there is none.
    """
    if not is_role_registered("arxiv"):
        app.add_role("arxiv", ArXivRole())
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


class HideURIs(SphinxTransform):
    """Hide ``doi:`` URIs from nbsphinx, which takes them for names of files, as they have no ``//``."""

    default_priority = 490  # after AnonymousHyperlinks (440), before RewriteLocalLinks (500)

    def apply(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the references and targets of a document."""
        for node in self.document.findall(nodes.Element):
            if is_doi_uri(node.get("refuri", "")):
                node["doi_hidden"] = node.attributes.pop("refuri")


class ShowURIs(SphinxTransform):
    """Put back what ``HideURIs`` hid."""

    default_priority = 610  # after CopyLinkedFiles of nbsphinx (600), before ExternalTargets (640)

    def apply(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the references and targets of a document."""
        for node in self.document.findall(nodes.Element):
            if "doi_hidden" in node:
                node["refuri"] = node.attributes.pop("doi_hidden")


class LinkChecker(CheckExternalLinksBuilder):
    """Sphinx's builder ``linkcheck``, with the answers about DOIs that other builds have, too."""

    answers: Mapping[DOI, str] = {}
    """The statuses of DOIs."""
    accepted: AbstractSet[str] = frozenset()
    """The keys of the DOIs that the lock file accepts though they do not exist."""

    def init(self) -> None:
        """Begin a build."""
        super().init()
        self._links: dict[str, tuple[str, DOI]] = {}

    def leave_out(self, uri: str, doi: DOI) -> str:
        """Return what stands for the first link to a DOI in ``hyperlinks``: it is not requested."""
        stands_in = f"doi://{doi.key}"
        self._links.setdefault(stands_in, (uri, doi))
        return stands_in

    def process_result(self, result: CheckResult) -> None:
        """Report a link; one to a DOI by what is known about it, whatever became of what stands for it."""
        if result.uri in self._links:
            uri, doi = self._links[result.uri]
            status, message = self._answer(doi)
            result = result._replace(uri=uri, status=type(result.status)(status), message=message)
        super().process_result(result)

    def _answer(self, doi: DOI) -> tuple[str, str]:
        status = self.answers.get(doi, "unchecked")
        if status != "not-found":
            return status if status == "unchecked" else "working", ""
        return "ignored" if doi.key in self.accepted else "broken", __("DOI not found")


def leave_out_dois(app: Sphinx, uri: str) -> str | None:
    """Keep linkcheck from requesting links to DOIs. Handles ``linkcheck-process-uri``."""
    config, document = app.config, app.env.docname
    ignored = any(re.match(pattern, uri) for pattern in config.linkcheck_ignore)
    excluded = any(re.match(pattern, document) for pattern in config.linkcheck_exclude_documents)
    if (
        ignored
        or excluded
        or not isinstance(app.builder, LinkChecker)
        or not switch(config, "doi_linkcheck")
    ):
        return None
    if uri.startswith(ARXIV):
        with suppress(DOISyntaxError):
            doi = parse_arxiv_target(uri.removeprefix(ARXIV)).doi
            if doi in doi_data(app.env).dois():  # a link of the role arxiv
                return app.builder.leave_out(uri, doi)
    for hosts in (), (urlsplit(options(config).link).netloc,):
        with suppress(DOISyntaxError):
            doi = DOI.from_url(uri, hosts=hosts) if hosts else DOI.from_url(uri)
            return app.builder.leave_out(uri, doi)
    return None


def collect_bibtex_uses(env: BuildEnvironment) -> None:
    """Add the DOIs of the entries that documents list to the uses in them; report fields without a DOI."""
    uses, warned = doi_data(env).uses, domain_of(env).warned
    for docname in uses:
        uses[docname] = [use for use in uses[docname] if not use.entry]
    for docname, key, field in _entries(env, "doi"):
        location = _location(env, docname, key)
        try:
            doi = _doi_in(field)
        except DOISyntaxError as error:
            if ("syntax", field) not in warned.setdefault(docname, set()):
                warned[docname].add(("syntax", field))
                message = __("%s (entry %s)") % (with_suggestion(error), key)
                logger.warning(message, type="doi", subtype="syntax", location=location)
        else:
            uses.setdefault(docname, []).append(_use(doi, location, key))
    for docname, key, url in _entries(env, "url"):
        with suppress(DOISyntaxError):
            use = _use(DOI.from_url(url), _location(env, docname, key), key)
            uses.setdefault(docname, []).append(use)


def _use(doi: DOI, location: str, key: str) -> Use:
    typed = doi.name if remarks(doi.name, doi) else None
    return Use(doi, location, typed, entry=key)


def _doi_in(field: str) -> DOI:
    """Return the DOI in a field of BibTeX, in which characters may be escaped.

    :raises DOISyntaxError: if the field is not one DOI.
    """
    found = list(islice(find(f"doi = {{{field}}}", "bibtex"), 2))
    return found[0].doi if len(found) == 1 else DOI.parse(field)


def report_two_numberings(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn if sphinxcontrib-bibtex shows numbers from [1], too."""
    listings = listings_of(env)
    theirs = {
        citation.formatted_entry.label
        for citation in env.domaindata.get("cite", {}).get("citations", ())
    }
    if (
        "1" in theirs
        and app.config.bibtex_reference_style == "label"
        and listings
        and listings.are_numbered
    ):
        message = __(
            "sphinx_doiuri and sphinxcontrib-bibtex both number from [1]; set doi_citation or"
            " bibtex_reference_style to authors and years"
        )
        logger.warning(message, type="doi", subtype="numbers")


def _entries(env: BuildEnvironment, name: str) -> Iterator[tuple[str, str, str]]:
    """Yield the document, the key and the field of each listed entry that is identified by it.

    :param name: "doi", or "url" for entries without a DOI.
    """
    for citation in env.domaindata.get("cite", {}).get("citations", ()):
        fields = {one: citation.entry.fields.get(one, "").strip() for one in ("doi", "url")}
        if next((one for one in fields if fields[one]), None) == name:
            yield citation.bibliography_key.docname, citation.entry.key, fields[name]


def _location(env: BuildEnvironment, docname: str, key: str) -> str:
    """Return the file and line of an entry; the document that lists it if the line is not found."""
    for path in env.domaindata["cite"]["bibdata"].bibfiles:
        place = location_in_file(Path(path), f"{{{key},")
        if not place.endswith(":"):
            return place
    return docname


class CorrectBibtexLinks(SphinxPostTransform):
    """Encode the names in links that sphinxcontrib-bibtex writes raw, and undo the escapes of TeX."""

    default_priority = 58  # after BibliographyTransform (5)

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the links of a document before it is written."""
        raw = {f"{_RAW}{field}": field for _, _, field in _entries(self.env, "doi")}
        for link in self.document.findall(nodes.reference) if raw else ():
            field = raw.get(link.get("refuri", ""))
            if field is None or "doi" in link:
                continue
            try:
                doi = _doi_in(field)
            except DOISyntaxError:
                if "://" in field:
                    link["refuri"] = field
                continue
            link["doi"], link["refuri"], link["doi_card"] = doi, doi.url, False
            if (text := link.astext()).endswith(field):
                link[:] = [nodes.Text(f"{text.removesuffix(field)}{doi.name}")]
