"""Work with other extensions and builders: extlinks, doi_role.py, MyST, nbsphinx, linkcheck, BibTeX."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
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
from sphinx_doiuri._environment import Use, doi_data
from sphinx_doiuri._lists import lists_of
from sphinx_doiuri._locale import __
from sphinx_doiuri._read import ArXivRole, DOIRole, is_doi_uri
from sphinx_doiuri._report import location_in_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from sphinx.application import Sphinx
    from sphinx.builders.linkcheck import CheckResult
    from sphinx.config import Config
    from sphinx.environment import BuildEnvironment

    from sphinx_doiuri._lists import Lists

_SCHEMES = {"doi": None, "DOI": None}  # MyST compares case-sensitively
_RAW = "https://doi.org/"  # what pybtex puts before the field "doi"

logger = logging.getLogger(__name__)


def replace_extlinks(app: Sphinx, config: Config) -> None:
    """Remove ``doi`` from ``extlinks``, which would override the role, and warn. Handles ``config-inited``."""
    links = getattr(config, "extlinks", None)
    if not isinstance(links, dict):
        return
    replaced = [name for name in links if name.lower() == "doi"]
    if not replaced:
        return

    config.extlinks = {name: link for name, link in links.items() if name not in replaced}
    logger.warning(
        __(
            "extlinks[%r] is ignored because sphinx_doiuri provides the role; remove it from extlinks"
        ),
        replaced[0],
        type="doi",
        subtype="extlinks",
        location=location_in_file(Path(app.confdir, "conf.py"), "extlinks ="),
    )


def replace_role(app: Sphinx) -> None:
    """Register our role again if another extension, such as a copied doi_role.py, has replaced it.

    The role ``arxiv`` is added only if there is none. Handles ``builder-inited``.
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
        """Return the URI that stands for the links to a DOI in ``hyperlinks``, and is not requested.

        Their results are reported with the URI of the first of them.
        """
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
        """Return linkcheck's status of a DOI, and a message."""
        match self.answers.get(doi):
            case None:
                return "unchecked", ""
            case "not-found":
                status = "ignored" if doi.key in self.accepted else "broken"
                return status, __("DOI not found")
            case _:
                return "working", ""


def statuses_of(env: BuildEnvironment) -> Mapping[DOI, str]:
    """Return what this build knows about DOIs."""
    lists = lists_of(env)
    if lists is not None and isinstance(lists.builder, LinkChecker):
        return lists.builder.answers
    return doi_data(env).statuses


def leave_out_dois(app: Sphinx, uri: str) -> str | None:
    """Keep linkcheck from requesting links to DOIs. Handles ``linkcheck-process-uri``."""
    if not isinstance(app.builder, LinkChecker) or not switch(app.config, "doi_linkcheck"):
        return None
    if _matches(app.config.linkcheck_ignore, uri):
        return None
    if _matches(app.config.linkcheck_exclude_documents, app.env.docname):
        return None

    doi = _linked_doi(app, uri)
    return None if doi is None else app.builder.leave_out(uri, doi)


def _matches(patterns: Iterable[str], text: str) -> bool:
    return any(re.match(pattern, text) for pattern in patterns)


def _linked_doi(app: Sphinx, uri: str) -> DOI | None:
    """Return the DOI to which a link leads, or None if it is a link to something else.

    The link may be one of the role ``arxiv`` that a document has, of doi.org, or of the mirror in ``doi_link``.
    """
    if uri.startswith(ARXIV):
        with suppress(DOISyntaxError):
            doi = parse_arxiv_target(uri.removeprefix(ARXIV)).doi
            if doi in doi_data(app.env).dois():  # other links to arXiv are requested
                return doi
    with suppress(DOISyntaxError):
        return DOI.from_url(uri)
    host_of_links = urlsplit(options(app.config).link).netloc
    with suppress(DOISyntaxError):
        return DOI.from_url(uri, hosts=(host_of_links,))
    return None


def collect_bibtex_uses(env: BuildEnvironment) -> None:
    """Add the DOIs of the entries that documents list to the uses in them; report fields without a DOI."""
    uses = doi_data(env).uses
    for docname in uses:
        uses[docname] = [use for use in uses[docname] if not use.entry]

    for entry in _entries(env, "doi"):
        location = _location(env, entry)
        try:
            doi = _doi_in(entry.field)
        except DOISyntaxError as error:
            warned_of = domain_of(env).warned.setdefault(entry.docname, set())
            if ("syntax", entry.field) not in warned_of:
                warned_of.add(("syntax", entry.field))
                message = __("%s (entry %s)") % (with_suggestion(error), entry.key)
                logger.warning(message, type="doi", subtype="syntax", location=location)
        else:
            uses.setdefault(entry.docname, []).append(_use(doi, location, entry.key))

    for entry in _entries(env, "url"):
        with suppress(DOISyntaxError):
            use = _use(DOI.from_url(entry.field), _location(env, entry), entry.key)
            uses.setdefault(entry.docname, []).append(use)


def _use(doi: DOI, location: str, key: str) -> Use:
    """Return the use of a DOI in an entry."""
    typed = doi.name if remarks(doi.name, doi) else None
    return Use(doi, location, typed, entry=key)


def _doi_in(field: str) -> DOI:
    r"""Return the DOI in a field of BibTeX, which may be a URL, and in which characters may be escaped.

    >>> _doi_in(r"10.1000/a\_b")
    DOI('10.1000/a_b')

    :raises DOISyntaxError: if the field is not one DOI.
    """
    matches = list(islice(find(f"doi = {{{field}}}", "bibtex"), 2))
    if len(matches) == 1:
        return matches[0].doi
    # No DOI, or what looks like several: the whole field is the name, or the error says why it is not
    return DOI.parse(field)


def report_two_numberings(env: BuildEnvironment, lists: Lists) -> None:
    """Warn if sphinxcontrib-bibtex shows numbers from [1], too."""
    labels = {citation.formatted_entry.label for citation in _bibtex_citations(env)}
    if "1" not in labels or env.config.bibtex_reference_style != "label":
        return
    if lists.are_numbered:
        message = __(
            "sphinx_doiuri and sphinxcontrib-bibtex both number from [1]; set doi_citation or"
            " bibtex_reference_style to authors and years"
        )
        logger.warning(message, type="doi", subtype="numbers")


class _BibtexEntry(NamedTuple):
    """An entry that sphinxcontrib-bibtex lists in a document, and the field that identifies its work."""

    docname: str
    key: str
    field: str


def _entries(env: BuildEnvironment, name: str) -> Iterator[_BibtexEntry]:
    """Yield the entries of BibTeX that documents list, each with a field of it.

    :param name: "doi" for the entries that have this field, "url" for those that have only a URL.
    """
    for citation in _bibtex_citations(env):
        fields = citation.entry.fields
        doi = fields.get("doi", "").strip()
        url = fields.get("url", "").strip()
        docname = citation.bibliography_key.docname
        if name == "doi" and doi:
            yield _BibtexEntry(docname, citation.entry.key, doi)
        elif name == "url" and url and not doi:
            yield _BibtexEntry(docname, citation.entry.key, url)


def _bibtex_citations(env: BuildEnvironment) -> Iterable[Any]:
    citations: Iterable[Any] = env.domaindata.get("cite", {}).get("citations", ())
    return citations


def _location(env: BuildEnvironment, entry: _BibtexEntry) -> str:
    """Return the file and line of an entry; the document that lists it if the line is not found."""
    for path in env.domaindata["cite"]["bibdata"].bibfiles:
        location = location_in_file(Path(path), f"{{{entry.key},")
        if not location.endswith(":"):
            return location
    return entry.docname


class CorrectBibtexLinks(SphinxPostTransform):
    """Encode the names in links that sphinxcontrib-bibtex writes raw, and undo the escapes of TeX."""

    default_priority = 58  # after BibliographyTransform (5)

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the links of a document before it is written."""
        fields = {f"{_RAW}{entry.field}": entry.field for entry in _entries(self.env, "doi")}
        if not fields:
            return
        for link in self.document.findall(nodes.reference):
            field = fields.get(link.get("refuri", ""))
            if field is not None and "doi" not in link:
                self._correct(link, field)

    def _correct(self, link: nodes.reference, field: str) -> None:
        r"""Make a link with the field ``doi`` of an entry lead to the DOI in it.

        If the field is not a DOI, but the URL of another page, the link leads there; else it stays.

        :param link: a link to https://doi.org/ and the field as it is written, such as ``10.1000/a\_b``.
        """
        try:
            doi = _doi_in(field)
        except DOISyntaxError:
            if "://" in field:
                link["refuri"] = field
            return

        link["doi"] = doi
        link["refuri"] = doi.url
        link["doi_card"] = False  # the entry that it stands in says it all
        text = link.astext()
        # The text is "doi:" and the field: show the name, without the escapes of TeX.
        if text.endswith(field):
            link[:] = [nodes.Text(f"{text.removesuffix(field)}{doi.name}")]
