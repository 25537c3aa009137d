"""What citations, lists of references and titles show, from the works of the whole project."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from docutils import nodes
from doiuri.citations import EntryCache, as_in_note, text_of
from doiuri.plugins.display import Words
from sphinx.util import logging
from sphinx.util.nodes import clean_astext

from sphinx_doiuri._citations import citations_in, domain_of, term_target
from sphinx_doiuri._config import citing, options
from sphinx_doiuri._environment import doi_data
from sphinx_doiuri._locale import _, __

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from doiuri import DOI
    from doiuri.citations import Around, Bibliography, CitationItem, Form, ListEntry, Span
    from doiuri.works import Work
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from sphinx_doiuri._citations import DocumentCitation, Key, ListPlace, Part, Scope
    from sphinx_doiuri._contents import Contents

    IndexEntry = tuple[Any, ...]  # its type, text and id, and what else Sphinx knows of it

logger = logging.getLogger(__name__)

_Content = TypeVar("_Content", "DocumentCitation", "ListPlace")

# For the transforms, which see no application
_lists_by_env: WeakKeyDictionary[BuildEnvironment, Lists] = WeakKeyDictionary()


class ScopedList(NamedTuple):
    """The list of references of a page or of the project, which one or more places show."""

    docname: str
    scope: Scope
    works: dict[Key, list[DocumentCitation]]
    """Its works, each with the citations that lead to it."""
    references: Bibliography


class CopiedTitle(NamedTuple):
    """A title of which Sphinx or MyST has copied the text, before its citations were known."""

    docname: str
    copied_text: str
    text: str
    """What the title shows."""


class Lists:
    """What the citations and lists of a build show.

    1. A citation leads to a list: that of its page, or else that of the project; see ``of_citations_in``.
    2. Of a list, the citations, the links and ``nocite`` say which works it has: see ``_works_of``.
    3. The works and the style say what its entries and its citations show: ``entries`` and ``spans``.
    4. What a document shows of all this has a digest. If that is another one than after the last build, Sphinx
       writes the document again.
    """

    def __init__(self, app: Sphinx, env: BuildEnvironment, contents: Contents) -> None:
        settings = options(env.config)
        self.builder = app.builder
        self.base = settings.link
        words = (_("and"), _("et al."), _("n.d."))
        states = (_("retracted"), _("removed"), _("withdrawn"), _("partially retracted"))
        self.words = Words(*map(str, (*words, *states)))
        self._display = settings.display
        self._citing = citing(env.config)

        self._data = doi_data(env)
        self.works = self._data.shown_works
        self._answered = self._data.answered_works()

        # What this build shows of its documents
        self._order = _reading_order(app, env)
        self.citations = _ordered(contents.citations, self._order)
        self.places = _ordered(contents.places, self._order)
        self._links = {name: contents.links_in(name) for name in self._order}
        # Of several lists of the project, citations lead to the one in the document whose name is the first in the
        # alphabet, wherever the toctrees have it.
        with_list_of_project = [name for name in self._order if self._places(name, "project")]
        self._project_docname = min(with_list_of_project, default="")

        # What all documents have
        domain = domain_of(env)
        self._titles = env.titles
        self._titles_with_citations = domain.titles
        self._all_citations = domain.citations
        self._insertions = domain.insertions

        # What was computed already: lists by document, scope and style; works that no list has, by their keys; the
        # cites of each citation, and the texts of titles, by document and id
        self._lists: dict[tuple[str, Scope, str], ScopedList] = {}
        self._unlisted: dict[tuple[Key, ...], Bibliography] = {}
        self._cites: dict[str, dict[str, tuple[CitationItem, ...]]] = {}
        self._title_texts: dict[str, dict[str, str]] = {}
        self._entries = EntryCache(self._data.entries)

    def title(self, docname: str) -> str:
        """Return the title of a document; its name if it has none."""
        title = self._titles.get(docname)
        text = "" if title is None else title.astext()
        return text or docname

    @property
    def are_numbered(self) -> bool:
        """Whether any citation is a number."""
        names = [name for name, citations in self.citations.items() if citations]
        return any(self.of_citations_in(name).references.is_numbered for name in names)

    def of_citations_in(self, docname: str) -> ScopedList:
        """Return the list to which the citations in a document lead."""
        places = self._places(docname, "page") or self._places(self._project_docname, "project")
        if not places:
            return self._list(docname, "page", "")
        return self.at(places[0])

    def at(self, place: ListPlace) -> ScopedList:
        """Return the list that a place shows."""
        return self._list(place.docname, place.scope, place.style)

    def entries(self, place: ListPlace) -> list[ListEntry]:
        """Return the entries at a place; after them links to the DOIs whose works are not known yet."""
        references = self.at(place).references
        listed = [reference for reference in references.references if place.lists(reference.work)]
        entries = references.entries(listed, self._entries, self.words)
        # Their types are not known either: places with a filter leave them out, but not the first one
        first_place = self._places(place.docname, place.scope)[0]
        if not place.types or place == first_place:
            entries += references.waiting()
        return entries

    def is_listed(self, work: Work, scoped_list: ScopedList) -> bool:
        """Return whether a place that shows the list has an entry of a work."""
        places = self._places(scoped_list.docname, scoped_list.scope)
        has_entries = scoped_list.references.has_entries
        return has_entries and any(place.lists(work) for place in places)

    def cites_in(self, docname: str) -> dict[str, tuple[CitationItem, ...]]:
        """Return the cites of each citation in a document, by its id.

        They know which cites come before them, for styles with "ibid.".
        """
        if docname in self._cites:
            return self._cites[docname]

        # Those that are kept for another document have no place, and no id
        citations = [citation for citation in self.citations.get(docname, ()) if citation.id]
        notes = None
        if self._citing.makes_notes:
            notes = [citation.note for citation in citations]
        forms = ((citation.form, citation.cites) for citation in citations)
        cites = self.of_citations_in(docname).references.placed(forms, notes)
        for index, citation in enumerate(citations):
            # Its note is the next citation
            if citation.part == "name":
                cites[index] = as_in_note(cites[index], cites[index + 1])

        ids = [citation.id for citation in citations]
        self._cites[docname] = dict(zip(ids, cites, strict=True))
        return self._cites[docname]

    def spans(
        self,
        docname: str,
        form: Form,
        cites: tuple[CitationItem, ...],
        around: Around | None = None,
        part: Part = "",
    ) -> tuple[Span, ...]:
        """Return what a citation in a document shows, such as "(Kahn 2001)", each span with its target.

        :param around: the text around it; by default it stands alone.
        :param part: "note" if it is the text of a footnote.
        """
        references = self.of_citations_in(docname).references
        # Other extensions may show citations whose works the list lacks
        known = {cite.key for cite in cites} & self.works.keys()
        if any(references.get(key) is None for key in known):
            references = self._with_unlisted(docname, cites)
        if part == "note":
            return references.note(cites, self._display)
        return references.citation(cites, form, self._display, around)

    def titles_in(self, docname: str) -> Mapping[str, str]:
        """Return the texts of the titles and the like in a document that have citations, by id."""
        if docname not in self._title_texts:
            titles = self._titles_with_citations.get(docname, {})
            for title in titles.values():
                for citation in citations_in(title):
                    show_text(citation, self)
            texts = {id_: clean_astext(title) for id_, title in titles.items()}
            self._title_texts[docname] = texts
        return self._title_texts[docname]

    @cached_property
    def copied(self) -> dict[str, list[CopiedTitle]]:
        """The titles and the like that have citations, by their ids; documents may have the same ids."""
        titles: dict[str, list[CopiedTitle]] = {}
        for docname, by_id in self._titles_with_citations.items():
            for id_, title in by_id.items():
                copied = CopiedTitle(docname, title["doi_written"], self.titles_in(docname)[id_])
                titles.setdefault(id_, []).append(copied)
        return titles

    def with_term(self, entry: IndexEntry, docname: str) -> IndexEntry:
        """Return an entry of the index in a document; if it is that of a term, with what the term shows."""
        kind, text, id_, *rest = entry
        title = self._titles_with_citations.get(docname, {}).get(id_)
        # A section has the ids of the directives ``index`` before it, too
        if isinstance(title, nodes.term) and id_ in title["ids"]:
            text = self.titles_in(docname)[id_]
        return (kind, text, id_, *rest)

    def digest(self, docname: str, titles: list[tuple[str, str]]) -> str:
        """Return a digest of what a document shows: citations, lists and links.

        :param titles: labels and documents to which it refers, with the titles that it shows for them.
        """
        citations = [
            self._citation_content(citation) for citation in self.citations.get(docname, ())
        ]
        lists = [self._list_content(place) for place in self.places.get(docname, ())]
        dois = dict.fromkeys(use.doi for use in self._data.uses_in(docname))
        answers = [self._answer(doi) for doi in dois]
        inserted = self._all_content if docname in self._insertions else ""
        return _digest((citations, lists, answers, titles, inserted))

    @cached_property
    def _all_content(self) -> str:
        """A digest of what all citations show: other extensions may insert any of them elsewhere."""
        contents = []
        for citations in self.citations.values():
            contents += [self._citation_content(citation) for citation in citations]
        return _digest(contents)

    def keep_entries(self) -> None:
        """Keep the entries that this build shows, for the next one."""
        self._data.entries = self._entries

    @property
    def problems(self) -> list[str]:
        """What could not be read of the works that lists show."""
        problems: dict[str, None] = {}
        for scoped_list in self._lists.values():
            problems |= dict.fromkeys(scoped_list.references.problems)
        return list(problems)

    def _citation_content(self, citation: DocumentCitation) -> tuple[object, ...]:
        """Return what a citation shows, and what its links depend on, for a digest."""
        scoped_list = self.of_citations_in(citation.docname)
        cites = self.cites_in(citation.docname).get(citation.id, citation.cites)
        spans = self.spans(citation.docname, citation.form, cites, citation.around, citation.part)
        works = [self.works[cite.key] for cite in citation.cites if cite.key in self.works]
        links = [(self.is_listed(work, scoped_list), work.csl.get("URL")) for work in works]
        return scoped_list.docname, scoped_list.scope, links, _plain(spans)

    def _list_content(self, place: ListPlace) -> tuple[object, ...]:
        """Return what the list at a place shows, for a digest."""
        scoped_list = self.at(place)
        entries = []
        for entry in self.entries(place):
            # An entry leads back to its citations, and names their pages
            citations = scoped_list.works[entry.key]
            back = [(cite.docname, cite.id, self.title(cite.docname)) for cite in citations]
            entries.append((entry.number, _plain(entry.spans), back))
        return scoped_list.references.is_numbered, entries

    def _answer(self, doi: DOI) -> tuple[object, ...]:
        """Return what is known about a DOI, for a digest."""
        status = self._data.statuses.get(doi)
        work = self.works.get(doi)
        csl = None if work is None else work.to_json()
        return str(doi), status, csl

    def _places(self, docname: str, scope: Scope) -> list[ListPlace]:
        return [place for place in self.places.get(docname, ()) if place.scope == scope]

    def _with_unlisted(self, docname: str, cites: tuple[CitationItem, ...]) -> Bibliography:
        """Return all works that a document cites, and those of a citation, also if no list has them.

        Other extensions keep citations of a document that this build leaves out, and insert them elsewhere.
        """
        all_cites: list[CitationItem] = []
        for citation in self._all_citations.get(docname, ()):
            all_cites += citation.cites
        keys = tuple(dict.fromkeys(cite.key for cite in (*all_cites, *cites)))
        if keys not in self._unlisted:
            self._unlisted[keys] = self._citing.bibliography(keys, self._answered)
        return self._unlisted[keys]

    def _list(self, docname: str, scope: Scope, style: str) -> ScopedList:
        """Return a list; each is computed once."""
        key = (docname, scope, style)
        if key not in self._lists:
            works = self._works_of(docname, scope)
            references = self._citing.bibliography(works, self._answered, style)
            self._lists[key] = ScopedList(docname, scope, works, references)
        return self._lists[key]

    def _works_of(self, docname: str, scope: Scope) -> dict[Key, list[DocumentCitation]]:
        """Return the works of a list, each with the citations that lead to it.

        The cited works come first, then those that are linked or listed only.
        """
        docnames = [docname] if scope == "page" else self._order
        works: dict[Key, list[DocumentCitation]] = {}
        for name in docnames:
            for citation in self.citations.get(name, ()):
                for key in dict.fromkeys(cite.key for cite in citation.cites):
                    works.setdefault(key, []).append(citation)

        places = self._places(docname, scope)
        if any(place.links for place in places):
            for name in docnames:
                for link in self._links.get(name, ()):
                    works.setdefault(link.doi, [])
        for place in places:
            for cite in place.cites:
                works.setdefault(cite.key, [])
        return works


def _digest(content: object) -> str:
    return hashlib.blake2s(repr(content).encode(errors="backslashreplace")).hexdigest()


def _plain(spans: tuple[Span, ...]) -> list[tuple[object, ...]]:
    """Return text in a form that is the same in every process, unlike the order of a set."""
    plain: list[tuple[object, ...]] = []
    for span in spans:
        runs = [(run.text, sorted(run.formats)) for run in span.runs]
        plain.append((runs, span.target))
    return plain


_DOCUMENTS = {"latex": "latex_documents", "man": "man_pages", "texinfo": "texinfo_documents"}


def _reading_order(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the names of the documents that a builder writes, in the order of the toctrees.

    Those in no toctree come last, or, if the builder puts documents together, not at all.
    """
    # A stack: what is read first is at the end
    waiting = [*sorted(env.found_docs, reverse=True), env.config.root_doc]
    option = _DOCUMENTS.get(app.builder.format)
    if option is not None:
        appendices = getattr(app.config, f"{app.builder.format}_appendices", ())
        documents = [document for document, *_ in app.config[option]]
        waiting = [*reversed(appendices), *reversed(documents)]
    elif app.builder.name == "singlehtml":
        waiting = [env.config.root_doc]

    order: dict[str, None] = {}
    while waiting:
        name = waiting.pop()
        if name not in order:
            order[name] = None
            waiting += reversed(env.toctree_includes.get(name, []))
    return list(order)


def _ordered(
    contents: Mapping[str, list[_Content]], docnames: Iterable[str]
) -> dict[str, list[_Content]]:
    """Return what these documents contain, in this order."""
    return {name: contents[name] for name in docnames if name in contents}


def lists_of(env: BuildEnvironment) -> Lists | None:
    """Return the lists of this build; None outside of a build."""
    return _lists_by_env.get(env)


def compute_lists(app: Sphinx, env: BuildEnvironment, contents: Contents) -> Lists:
    """Correct the works by the files of works, and compute the lists of this build, also for ``lists_of``."""
    data = doi_data(env)
    of_project = citing(env.config)
    known = {doi: work for doi, work in data.works.items() if work}
    data.shown_works = of_project.library.merge(known)
    lists = Lists(app, env, contents)
    _lists_by_env[env] = lists

    why_english = of_project.no_language
    if lists.citations and why_english:
        message = __("citations are in English: %s")
        logger.warning(message, why_english, type="doi", subtype="locale")
    return lists


def documents_to_write(env: BuildEnvironment, lists: Lists) -> list[str]:
    """Show citations in titles, and return the documents that look different than after the last build."""
    titles_and_contents = (*env.titles.values(), *env.tocs.values())
    for element in titles_and_contents:
        for citation in citations_in(element):
            show_text(citation, lists)
    titles = _update_copies(env, lists)
    changed = _changed_documents(env, lists, titles)
    for problem in (*citing(env.config).library.problems, *lists.problems):
        logger.warning("%s", problem, type="doi", subtype="works")
    lists.keep_entries()
    return changed


def _changed_documents(env: BuildEnvironment, lists: Lists, titles: Mapping[str, str]) -> list[str]:
    """Return the documents that look different than in the last build with this builder.

    :param titles: the texts of the titles with citations, as ``_update_copies`` returns them.
    """
    domain = domain_of(env)
    uses = doi_data(env).uses
    changed = []
    contents = (domain.citations, domain.places, uses, domain.targets, domain.insertions)
    for docname in sorted({name for content in contents for name in content}):
        targets = domain.targets.get(docname, set()) & titles.keys()
        titles_of_targets = [(target, titles[target]) for target in sorted(targets)]
        digest = lists.digest(docname, titles_of_targets)
        digest_by_builder = domain.rendered.setdefault(docname, {})
        if digest_by_builder.get(lists.builder.name) != digest:
            digest_by_builder[lists.builder.name] = digest
            changed.append(docname)
    return changed


def _update_copies(env: BuildEnvironment, lists: Lists) -> dict[str, str]:
    """Show citations in what Sphinx and MyST have copied of titles: for cross-references, and for the index.

    The ids of the titles stay: they contain the DOIs, so they do not depend on metadata.

    :returns: the texts of the titles with citations, by what cross-references call them: a label, a document,
        a document and a heading ("page#heading"), or a term.
    """
    texts = {}
    for docname, page_title in env.titles.items():
        if any(citations_in(page_title)):
            texts[docname] = clean_astext(page_title)
    labels = env.domaindata["std"]["labels"]
    for name, (docname, id_, _title) in labels.items():
        titles = lists.titles_in(docname)
        if id_ in titles:
            texts[name] = titles[id_]
            labels[name] = (docname, id_, texts[name])

    entries = env.domaindata["index"]["entries"]
    for docname in domain_of(env).titles:
        titles = lists.titles_in(docname)
        entries[docname] = [lists.with_term(entry, docname) for entry in entries.get(docname, ())]
        slugs = env.metadata[docname].get("myst_slugs", {})
        for slug, (line, id_, _title) in slugs.items():
            if id_ in titles:
                slugs[slug] = (line, id_, titles[id_])
                texts[f"{docname}#{slug}"] = titles[id_]
        texts |= {f"{docname}#{id_}": text for id_, text in titles.items()}
    for (kind, name), (docname, id_) in env.domaindata["std"]["objects"].items():
        titles = lists.titles_in(docname)
        if kind == "term" and id_ in titles:
            texts[term_target(name)] = titles[id_]
    return texts


def show_text(citation: nodes.inline, lists: Lists) -> None:
    """Show a citation without links, as the first of its works: it stands outside of the page's text."""
    spans = lists.spans(citation["doi_docname"], citation["doi_form"], citation["doi_cites"])
    citation[:] = [nodes.Text(text_of(spans))]
