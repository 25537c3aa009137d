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
    from collections.abc import Iterable, Iterator, Mapping

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


class _Documents:
    """What the documents of a build contain, in reading order."""

    def __init__(self, app: Sphinx, env: BuildEnvironment, contents: Contents) -> None:
        self.order = _reading_order(app, env)
        self.citations = _ordered(contents.citations, self.order)
        self._places = _ordered(contents.places, self.order)
        self._contents = contents

    def places_in(self, docname: str) -> list[ListPlace]:
        """Return the places in a document that show a list, those of its own page and of the project."""
        return self._places.get(docname, [])

    def places_of(self, docname: str, scope: Scope) -> list[ListPlace]:
        """Return the places in a document that show the list of one scope."""
        return [place for place in self.places_in(docname) if place.scope == scope]

    @cached_property
    def project_places(self) -> list[ListPlace]:
        """The places of the list of the project to which citations lead, if several documents have it.

        They are in the document whose name is the first in the alphabet, wherever the toctrees have it.
        """
        docnames = [name for name in self.order if self.places_of(name, "project")]
        return self.places_of(min(docnames, default=""), "project")

    def works_of(self, docname: str, scope: Scope) -> dict[Key, list[DocumentCitation]]:
        """Return the works of a list in a document, each with the citations that lead to it.

        The cited works come first, then those that are linked or listed only.
        """
        docnames = [docname] if scope == "page" else self.order
        works: dict[Key, list[DocumentCitation]] = {}
        for name in docnames:
            for citation in self.citations.get(name, ()):
                for key in dict.fromkeys(cite.key for cite in citation.cites):
                    works.setdefault(key, []).append(citation)

        places = self.places_of(docname, scope)
        if any(place.links for place in places):
            for name in docnames:
                for link in self._contents.links_in(name):
                    works.setdefault(link.doi, [])
        for place in places:
            for cite in place.cites:
                works.setdefault(cite.key, [])
        return works


class Lists:
    """What the citations and lists of a build show.

    1. A citation leads to a list: that of its page, or else that of the project; see ``of_citations_in``.
    2. Of a list, the citations, the links and ``nocite`` say which works it has: see ``_Documents.works_of``.
    3. The works and the style say what its entries and its citations show: ``entries`` and ``spans``.
    4. What a document shows of all this has a digest. If that is another one than after the last build, Sphinx
       writes the document again.
    """

    def __init__(self, app: Sphinx, env: BuildEnvironment, contents: Contents) -> None:
        settings = options(env.config)
        self.builder = app.builder
        self.base = settings.link
        self.words = _words()
        self._display = settings.display
        self._citing = citing(env.config)

        data = doi_data(env)
        self.works = data.shown_works
        self._answered = data.answered_works()
        self.documents = _Documents(app, env, contents)
        self._all_citations = domain_of(env).citations
        self.titles = Titles(self, domain_of(env).titles)

        # What was computed already; lists by document, scope and style
        self._lists: dict[tuple[str, Scope, str], ScopedList] = {}
        self._unlisted: dict[tuple[Key, ...], Bibliography] = {}
        self._cites: dict[str, dict[str, tuple[CitationItem, ...]]] = {}
        self.entry_cache = EntryCache(data.entries)

    @property
    def are_numbered(self) -> bool:
        """Whether any citation is a number."""
        citations = self.documents.citations
        names = [name for name, of_document in citations.items() if of_document]
        return any(self.of_citations_in(name).references.is_numbered for name in names)

    def of_citations_in(self, docname: str) -> ScopedList:
        """Return the list to which the citations in a document lead."""
        of_page = self.documents.places_of(docname, "page")
        places = of_page or self.documents.project_places
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
        entries = references.entries(listed, self.entry_cache, self.words)
        # Their types are not known either: places with a filter leave them out, but not the first one
        first_place = self.documents.places_of(place.docname, place.scope)[0]
        if not place.types or place == first_place:
            entries += references.waiting()
        return entries

    def is_listed(self, work: Work, scoped_list: ScopedList) -> bool:
        """Return whether a place that shows the list has an entry of a work."""
        places = self.documents.places_of(scoped_list.docname, scoped_list.scope)
        has_entries = scoped_list.references.has_entries
        return has_entries and any(place.lists(work) for place in places)

    def cites_in(self, docname: str) -> dict[str, tuple[CitationItem, ...]]:
        """Return the cites of each citation in a document, by its id.

        They know which cites come before them, for styles with "ibid.".
        """
        if docname not in self._cites:
            # Those that are kept for another document have no place, and no id
            citations = self.documents.citations.get(docname, ())
            placed = [citation for citation in citations if citation.id]
            cites = self._cites_of(docname, placed)
            self._cites[docname] = {
                citation.id: of_citation
                for citation, of_citation in zip(placed, cites, strict=True)
            }
        return self._cites[docname]

    def _cites_of(
        self, docname: str, citations: list[DocumentCitation]
    ) -> Iterator[tuple[CitationItem, ...]]:
        """Yield the cites of each citation in a document, with their places after the ones before."""
        notes = None
        if self._citing.makes_notes:
            notes = [citation.note for citation in citations]
        forms = ((citation.form, citation.cites) for citation in citations)
        placed = self.of_citations_in(docname).references.placed(forms, notes)
        for index, citation in enumerate(citations):
            # A name in the text is placed as its note is, which is the next citation
            if citation.part == "name":
                yield as_in_note(placed[index], placed[index + 1])
            else:
                yield placed[index]

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

    @property
    def problems(self) -> list[str]:
        """What could not be read of the works that lists show."""
        problems: dict[str, None] = {}
        for scoped_list in self._lists.values():
            problems |= dict.fromkeys(scoped_list.references.problems)
        return list(problems)

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
            works = self.documents.works_of(docname, scope)
            references = self._citing.bibliography(works, self._answered, style)
            self._lists[key] = ScopedList(docname, scope, works, references)
        return self._lists[key]


class Titles:
    """The titles, and the like, that have citations, with the texts that the build shows for them.

    :param titles: by document and id; the citations in them are shown when a text is asked for.
    """

    def __init__(self, lists: Lists, titles: Mapping[str, Mapping[str, nodes.Element]]) -> None:
        self._lists = lists
        self._titles = titles
        self._texts: dict[str, dict[str, str]] = {}

    def texts_in(self, docname: str) -> Mapping[str, str]:
        """Return the texts of those in a document, by id."""
        if docname not in self._texts:
            titles = self._titles.get(docname, {})
            for title in titles.values():
                for citation in citations_in(title):
                    show_text(citation, self._lists)
            self._texts[docname] = {id_: clean_astext(title) for id_, title in titles.items()}
        return self._texts[docname]

    @cached_property
    def copied(self) -> dict[str, list[CopiedTitle]]:
        """All of them by their ids; documents may have the same ids."""
        titles: dict[str, list[CopiedTitle]] = {}
        for docname, by_id in self._titles.items():
            for id_, title in by_id.items():
                copied = CopiedTitle(docname, title["doi_written"], self.texts_in(docname)[id_])
                titles.setdefault(id_, []).append(copied)
        return titles

    def index_entry(self, entry: IndexEntry, docname: str) -> IndexEntry:
        """Return an entry of the index that leads to a document; if it is a term's, with the term's text."""
        kind, copied_text, id_, *rest = entry
        title = self._titles.get(docname, {}).get(id_)
        # A section has the ids of the directives ``index`` before it, too
        is_of_term = isinstance(title, nodes.term) and id_ in title["ids"]
        text = self.texts_in(docname)[id_] if is_of_term else copied_text
        return (kind, text, id_, *rest)


class _Digests:
    """Digests of what documents show, to tell which of them look different than in the last build."""

    def __init__(self, env: BuildEnvironment, lists: Lists) -> None:
        self._env = env
        self._data = doi_data(env)
        self._lists = lists

    def digest(self, docname: str, titles: list[tuple[str, str]]) -> str:
        """Return a digest of what a document shows: citations, lists and links.

        :param titles: labels and documents to which it refers, with the titles that it shows for them.
        """
        documents = self._lists.documents
        citations = documents.citations.get(docname, ())
        citation_contents = [self._citation_content(citation) for citation in citations]
        lists = [self._list_content(place) for place in documents.places_in(docname)]
        answers = {}
        for use in self._data.uses_in(docname):
            work = self._lists.works.get(use.doi)
            csl = None if work is None else work.to_json()
            answers[str(use.doi)] = (self._data.statuses.get(use.doi), csl)
        has_insertions = docname in domain_of(self._env).insertions
        inserted = self._all_content if has_insertions else ""
        return _digest((citation_contents, lists, answers, titles, inserted))

    @cached_property
    def _all_content(self) -> str:
        """A digest of what all citations show: other extensions may insert any of them elsewhere."""
        contents = []
        for citations in self._lists.documents.citations.values():
            contents += [self._citation_content(citation) for citation in citations]
        return _digest(contents)

    def _citation_content(self, citation: DocumentCitation) -> tuple[object, ...]:
        """Return what a citation shows, and what its links depend on."""
        lists = self._lists
        docname = citation.docname
        scoped_list = lists.of_citations_in(docname)
        cites = lists.cites_in(docname).get(citation.id, citation.cites)
        spans = lists.spans(docname, citation.form, cites, citation.around, citation.part)
        works = [lists.works[cite.key] for cite in citation.cites if cite.key in lists.works]
        links = [(lists.is_listed(work, scoped_list), work.csl.get("URL")) for work in works]
        return scoped_list.docname, scoped_list.scope, links, _plain(spans)

    def _list_content(self, place: ListPlace) -> tuple[object, ...]:
        """Return what the list at a place shows."""
        scoped_list = self._lists.at(place)
        entries = []
        for entry in self._lists.entries(place):
            # An entry leads back to its citations, and names their pages
            citations = scoped_list.works[entry.key]
            back = [
                (cite.docname, cite.id, title_of(self._env, cite.docname)) for cite in citations
            ]
            entries.append((entry.number, _plain(entry.spans), back))
        return scoped_list.references.is_numbered, entries


def title_of(env: BuildEnvironment, docname: str) -> str:
    """Return the title of a document; its name if it has none."""
    title = env.titles.get(docname)
    text = "" if title is None else title.astext()
    return text or docname


def _words() -> Words:
    """Return the words of cards and entries in the language of the project."""
    words = (_("and"), _("et al."), _("n.d."))
    states = (_("retracted"), _("removed"), _("withdrawn"), _("partially retracted"))
    return Words(*map(str, (*words, *states)))


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
    if lists.documents.citations and why_english:
        message = __("citations are in English: %s")
        logger.warning(message, why_english, type="doi", subtype="locale")
    return lists


def documents_to_write(env: BuildEnvironment, lists: Lists) -> list[str]:
    """Show citations in titles, and return the documents that look different than after the last build."""
    titles_and_contents = (*env.titles.values(), *env.tocs.values())
    for element in titles_and_contents:
        for citation in citations_in(element):
            show_text(citation, lists)
    titles = _update_copies(env, lists.titles)
    changed = _changed_documents(env, lists, titles)
    for problem in (*citing(env.config).library.problems, *lists.problems):
        logger.warning("%s", problem, type="doi", subtype="works")
    # For the next build
    doi_data(env).entries = lists.entry_cache
    return changed


def _changed_documents(env: BuildEnvironment, lists: Lists, titles: Mapping[str, str]) -> list[str]:
    """Return the documents that look different than in the last build with this builder.

    :param titles: the texts of the titles with citations, as ``_update_copies`` returns them.
    """
    domain = domain_of(env)
    digests = _Digests(env, lists)
    builder = lists.builder.name
    uses = doi_data(env).uses
    changed = []
    contents = (domain.citations, domain.places, uses, domain.targets, domain.insertions)
    for docname in sorted({name for content in contents for name in content}):
        targets = domain.targets.get(docname, set()) & titles.keys()
        titles_of_targets = [(target, titles[target]) for target in sorted(targets)]
        digest = digests.digest(docname, titles_of_targets)
        digest_by_builder = domain.rendered.setdefault(docname, {})
        if digest_by_builder.get(builder) != digest:
            digest_by_builder[builder] = digest
            changed.append(docname)
    return changed


def _update_copies(env: BuildEnvironment, titles: Titles) -> dict[str, str]:
    """Show citations in what Sphinx and MyST have copied of titles: for cross-references, and for the index.

    The ids of the titles stay: they contain the DOIs, so they do not depend on metadata.

    :returns: the texts of the titles with citations, by what cross-references call them: a label, a document,
        a document and a heading ("page#heading"), or a term.
    """
    texts = {}
    for docname, page_title in env.titles.items():
        if any(citations_in(page_title)):
            texts[docname] = clean_astext(page_title)
    texts |= _update_labels(env, titles)

    index = env.domaindata["index"]["entries"]
    for docname in domain_of(env).titles:
        index[docname] = [titles.index_entry(entry, docname) for entry in index.get(docname, ())]
        texts |= _update_slugs(env.metadata[docname].get("myst_slugs", {}), docname, titles)
        for id_, text in titles.texts_in(docname).items():
            texts[f"{docname}#{id_}"] = text

    for (kind, name), (docname, id_) in env.domaindata["std"]["objects"].items():
        in_document = titles.texts_in(docname)
        if kind == "term" and id_ in in_document:
            texts[term_target(name)] = in_document[id_]
    return texts


def _update_labels(env: BuildEnvironment, titles: Titles) -> dict[str, str]:
    """Show citations in the titles of labels, to which the role "ref" refers; return these by label."""
    texts = {}
    labels = env.domaindata["std"]["labels"]
    for name, (docname, id_, _copied_text) in labels.items():
        text = titles.texts_in(docname).get(id_)
        if text is not None:
            texts[name] = text
            labels[name] = (docname, id_, text)
    return texts


def _update_slugs(
    slugs: dict[str, tuple[int, str, str]], docname: str, titles: Titles
) -> dict[str, str]:
    """Show citations in the titles by which MyST knows the headings of a document; return these by target."""
    texts = {}
    for slug, (line, id_, _copied_text) in slugs.items():
        text = titles.texts_in(docname).get(id_)
        if text is not None:
            texts[f"{docname}#{slug}"] = text
            slugs[slug] = (line, id_, text)
    return texts


def show_text(citation: nodes.inline, lists: Lists) -> None:
    """Show a citation without links, as the first of its works: it stands outside of the page's text."""
    spans = lists.spans(citation["doi_docname"], citation["doi_form"], citation["doi_cites"])
    citation[:] = [nodes.Text(text_of(spans))]
