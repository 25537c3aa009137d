"""The citations of a project, and the lists of references that they lead to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from weakref import WeakKeyDictionary

from doiuri.records import Bibliography, CitationWords, plain_reference, with_year_label

from sphinx_doiuri._config import options
from sphinx_doiuri._environment import doi_data
from sphinx_doiuri._locale import _
from sphinx_doiuri._report import is_shown
from sphinx_doiuri.references._domain import DOIDomain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri import DOI, Handle
    from doiuri.records import CitationPart, Reference, Work
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from sphinx_doiuri.references._domain import Citation, Place
    from sphinx_doiuri.references._nodes import Form, Scope

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
        domain = env.get_domain("doi")
        assert isinstance(domain, DOIDomain)  # noqa: S101 (for mypy)
        self._data = doi_data(env)
        self._works: dict[DOI, Work] = {doi: work for doi, work in self._data.works.items() if work}
        self.base, self._display = shared.link, shared.display
        self._titles = env.titles
        self._style, self._locale = shared.reference_style, shared.reference_locale
        self._citation = shared.citation
        self.words = CitationWords(str(_("and")), str(_("et al.")), str(_("n.d.")))
        self.citations = {
            name: [citation for citation in citations if is_shown(app, citation)]
            for name, citations in domain.citations.items()
        }
        self.places = {
            name: [place for place in places if is_shown(app, place)]
            for name, places in domain.places.items()
        }
        self._order = [name for name in reading_order(env) if name in self.citations]
        self._pages: dict[str, Listing] = {}
        self._project: Listing | None = None
        self._project_docname = next(
            (name for name, places in sorted(self.places.items()) for p in places if p.scope == "project"), ""
        )

    def title(self, docname: str) -> str:
        """Return the title of a document; its name if it has none."""
        title = self._titles.get(docname)
        return (title.astext() if title is not None else "") or docname

    def work(self, doi: DOI) -> Work | None:
        """Return the work of a DOI if it is known."""
        return self._works.get(doi)

    def of_citations_in(self, docname: str) -> Listing:
        """Return the listing that the citations in a document belong to."""
        has_list = any(place.scope == "page" for place in self.places.get(docname, ()))
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
        return repr(
            (
                self._citation,
                [self._shown(citation) for citation in self.citations.get(docname, ())],
                [self._entries(place) for place in self.places.get(docname, ())],
            )
        )

    def _shown(self, citation: Citation) -> tuple[object, ...]:
        listing = self.of_citations_in(citation.docname)
        texts = [
            (part.text, part.doi and part.doi.name) for part in listing.parts(citation.form, citation.dois)
        ]
        return listing.docname, listing.scope, texts

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
            has_list = any(place.scope == "page" for place in self.places.get(docname, ()))
            self._pages[docname] = self._listing([docname], docname if has_list else "", "page")
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
        bibliography = Bibliography(cited, self._works, self._citation, self.words)
        return Listing(bibliography, cited, docname, scope)


def reading_order(env: BuildEnvironment) -> list[str]:
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
