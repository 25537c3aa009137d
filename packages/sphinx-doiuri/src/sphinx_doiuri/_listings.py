"""What citations, lists of references and titles show, from the works of the whole project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from weakref import WeakKeyDictionary

from docutils import nodes
from doiuri.records import Bibliography, CitationWords, plain_reference, with_year_label
from sphinx.util.nodes import clean_astext

from sphinx_doiuri._citations import citations_in, domain_of
from sphinx_doiuri._config import options
from sphinx_doiuri._environment import doi_data, is_shown
from sphinx_doiuri._locale import _

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri import DOI, Handle
    from doiuri.records import CitationPart, Reference, Work
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from sphinx_doiuri._citations import Citation, DOIDomain, Form, Place, Scope

# For the transforms, which see no application
_listings: WeakKeyDictionary[BuildEnvironment, Listings] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Listing:
    """The works that a page or the whole project cites."""

    bibliography: Bibliography
    cited: dict[Handle, list[Citation]]
    """The citations of each DOI, in their order."""
    docname: str = ""
    """The document with the list; "" if there is no list."""
    scope: Scope = "page"

    def parts(self, form: Form, dois: tuple[DOI, ...]) -> tuple[CitationPart, ...]:
        """Return a citation in parts."""
        return self.bibliography.parenthetical(dois) if form == "p" else self.bibliography.textual(dois)


class Listings:
    """What the citations and lists of a build show.

    :param app: the application, whose builder decides which citations are shown.
    :param env: the environment with the citations and the works.
    """

    def __init__(self, app: Sphinx, env: BuildEnvironment) -> None:
        self.builder = app.builder
        shared = options(app.config)
        domain = domain_of(env)
        self._data = doi_data(env)
        self.works: dict[DOI, Work] = {doi: work for doi, work in self._data.works.items() if work}
        self.base, self._display = shared.link, shared.display
        self._titles = env.titles
        self._style, self._locale = shared.reference_style, shared.reference_locale
        self._citation = shared.citation
        self.words = CitationWords(str(_("and")), str(_("et al.")), str(_("n.d.")))
        self.citations = {
            name: [citation for citation in citations if is_shown(app, citation.conditions)]
            for name, citations in domain.citations.items()
        }
        self.places = {
            name: [place for place in places if is_shown(app, place.conditions)]
            for name, places in domain.places.items()
        }
        self._order = [name for name in _reading_order(env) if name in self.citations]
        self._pages: dict[str, Listing] = {}
        self._project: Listing | None = None
        scopes = {(place.docname, place.scope) for places in self.places.values() for place in places}
        self._with_list = {name for name, scope in scopes if scope == "page"}
        self._project_docname = min((name for name, scope in scopes if scope == "project"), default="")

    def title(self, docname: str) -> str:
        """Return the title of a document; its name if it has none."""
        title = self._titles.get(docname)
        return (title.astext() if title is not None else "") or docname

    def of_citations_in(self, docname: str) -> Listing:
        """Return the listing that the citations in a document belong to."""
        has_list = docname in self._with_list
        return self._of_project() if self._project_docname and not has_list else self._of_page(docname)

    def of_list(self, docname: str, scope: Scope) -> Listing:
        """Return the listing that a list in a document shows."""
        return self._of_page(docname) if scope == "page" else self._of_project()

    def entry_text(self, reference: Reference, style: str) -> str:
        """Return the text of an entry: the agency's, or else one of a simple form."""
        key = (style or self._style, self._locale, reference.doi)
        text = self._data.references.get(key) or plain_reference(reference.work, self.words)
        return with_year_label(reference, text)

    def text_of(self, docname: str, form: Form, dois: tuple[DOI, ...]) -> str:
        """Return the text of a citation in a document, for places without links."""
        listing = self.of_citations_in(docname)
        return "".join(
            part.text
            if part.doi is None or listing.bibliography.get(part.doi) is not None
            else self._display(cast("DOI", part.doi))
            for part in listing.parts(form, dois)
        )

    def listed(self) -> Iterator[tuple[str, DOI]]:
        """Yield the style and the DOI of each entry of the lists, repeatedly if it is in several lists."""
        for docname, places in self.places.items():
            for place in places:
                names = [docname] if place.scope == "page" else self._order
                for name in names:
                    for citation in self.citations.get(name, ()):
                        for doi in citation.dois:
                            yield place.style or self._style, doi

    def digest(self, docname: str) -> str:
        """Return what the citations and the lists of a document show, to find out whether it changed."""
        shown = [self._shown(citation) for citation in self.citations.get(docname, ())]
        return repr((self._citation, shown, [self._entries(place) for place in self.places.get(docname, ())]))

    def _shown(self, citation: Citation) -> tuple[object, ...]:
        listing = self.of_citations_in(citation.docname)
        parts = listing.parts(citation.form, citation.dois)
        return listing.docname, listing.scope, [(part.text, part.doi and part.doi.name) for part in parts]

    def _entries(self, place: Place) -> list[object]:
        listing = self.of_list(place.docname, place.scope)
        return [
            (
                reference.label,
                self.entry_text(reference, place.style),
                [(c.docname, c.id, self.title(c.docname)) for c in listing.cited[reference.doi]],
            )
            for reference in listing.bibliography.references
        ]

    def _of_page(self, docname: str) -> Listing:
        if docname not in self._pages:
            list_docname = docname if docname in self._with_list else ""
            self._pages[docname] = self._listing([docname], list_docname, "page")
        return self._pages[docname]

    def _of_project(self) -> Listing:
        if self._project is None:
            self._project = self._listing(self._order, self._project_docname, "project")
        return self._project

    def _listing(self, docnames: list[str], docname: str, scope: Scope) -> Listing:
        cited: dict[Handle, list[Citation]] = {}
        for name in docnames:
            for citation in self.citations.get(name, ()):
                for doi in dict.fromkeys(citation.dois):
                    cited.setdefault(doi, []).append(citation)
        bibliography = Bibliography(cited, self.works, self._citation, self.words)
        return Listing(bibliography, cited, docname, scope)


def _reading_order(env: BuildEnvironment) -> list[str]:
    """Return the names of all documents in the order of the toctrees; those in none come last."""
    found: dict[str, None] = {}
    waiting = [*sorted(env.found_docs, reverse=True), env.config.root_doc]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = None
            waiting += reversed(env.toctree_includes.get(name, []))
    return list(found)


def update_listings(app: Sphinx, env: BuildEnvironment) -> Listings:
    """Return the listings of this build, computed anew: the works have changed."""
    listings = _listings[env] = Listings(app, env)
    return listings


def listings_of(env: BuildEnvironment) -> Listings | None:
    """Return the listings of this build; None outside of a build."""
    return _listings.get(env)


def documents_shown_anew(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the documents that show other citations, lists or titles than after the last build."""
    listings, domain = update_listings(app, env), domain_of(env)
    for collected in (env.titles, env.longtitles, env.tocs):  # which contain copies of citations
        for element in collected.values():
            for citation in citations_in(element):
                show_text(citation, listings)
    changed = []
    for name in sorted(domain.citations.keys() | domain.places.keys()):
        digest = listings.digest(name)
        if domain.rendered.get(name) != digest:
            domain.rendered[name] = digest
            changed.append(name)
    return [*changed, *_update_labels(env, domain, listings)]


def _update_labels(env: BuildEnvironment, domain: DOIDomain, listings: Listings) -> list[str]:
    """Show the labels of citations in cross-references to titles; return the documents with changed ones.

    The ids of these titles contain the names, whatever the metadata is.
    """
    labels = env.domaindata["std"]["labels"]
    shown = {}
    for name, (docname, address, _title) in labels.items():
        title = domain.titles.get(docname, {}).get(address)
        if title is not None:
            for citation in citations_in(title):
                show_text(citation, listings)
            shown[name] = clean_astext(title)
            labels[name] = docname, address, shown[name]
    changed = {name for name, text in shown.items() if domain.labels.get(name) != text}
    domain.labels.clear()
    domain.labels.update(shown)
    return [docname for docname, targets in sorted(domain.targets.items()) if targets & changed]


def show_text(citation: nodes.inline, listings: Listings) -> None:
    """Show a citation without links."""
    text = listings.text_of(citation["doi_docname"], citation["doi_form"], citation["doi_cited"])
    citation[:] = [nodes.Text(text)]
