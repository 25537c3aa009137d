"""The data kept in the build environment: where DOIs are used, and the answers about them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from docutils import nodes
from docutils_doiuri.nodes import doi_references
from doiuri import DOI, DOISyntaxError
from doiuri.citations import EntryCache
from doiuri.plugins import whole_name
from doiuri.plugins.sentences import remarks
from sphinx import addnodes
from sphinx.environment.collectors import EnvironmentCollector
from sphinx.ext.ifconfig import ifconfig
from sphinx.ext.todo import todo_node
from sphinx.util.logging import get_node_location

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from doiuri import Handle
    from doiuri.works import Work
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    Conditions = tuple[tuple[str, str], ...]  # names of directives, and their expressions

VERSION = 17  # of DOIData, and of the nodes in doctrees
LOCK_BUILDER = "doi-lock"

_Value = TypeVar("_Value")


class Use(NamedTuple):
    """One use of a DOI."""

    doi: DOI
    location: str
    """The source file and line, as ``file:line``."""
    typed: str | None = None
    """The DOI as the author typed it if there is advice on that."""
    conditions: Conditions = ()
    """What decides whether the link is shown."""
    entry: str = ""
    """The key of the entry of sphinxcontrib-bibtex that has it; "" if it is in the document."""
    longer: tuple[DOI, ...] = ()
    """The names that it may mean if the DOI does not exist; see ``doiuri.plugins.untrimmed``."""

    def with_whole_name(self, statuses: Mapping[DOI, str]) -> Use:
        """Return the use of the name that it means, as far as that is known."""
        doi = whole_name(self.doi, self.longer, statuses)
        return self if doi == self.doi else self._replace(doi=doi, typed=None)


@dataclass(slots=True)
class DOIData:
    """The extension's data in the build environment."""

    uses: dict[str, list[Use]] = field(default_factory=dict)
    """The uses of DOIs by document name, as they are written; see ``uses_in``."""
    statuses: dict[DOI, str] = field(default_factory=dict)
    """The definite answers: "found" or "not-found"."""
    source: tuple[object, ...] = ()
    """The server and the options that the answers depend on."""
    meant: dict[DOI, DOI] = field(default_factory=dict)
    """The registered DOIs that were probably meant by those that do not exist."""
    day: str = ""
    """The day on which the answers were last renewed."""
    works: dict[DOI, Work | None] = field(default_factory=dict)
    """The metadata of DOIs that are cited or have a card; None if the agency has none."""
    shown_works: dict[Handle | str, Work] = field(default_factory=dict)
    """The works as they are shown: corrected by the files of works, and the works in these without a DOI."""
    entries: EntryCache = field(default_factory=EntryCache)
    """The texts of the entries in the lists of the last build, so that only new ones are formatted."""
    reported: dict[str, set[DOI]] = field(default_factory=dict)
    """The DOIs that were reported as not found, by document name."""
    seen: dict[str, set[int]] = field(default_factory=dict)
    """The positions of the uses that a build has shown and reported on, by document name."""

    def all_uses(self) -> list[Use]:
        """Return all uses, sorted by document name."""
        return [use.with_whole_name(self.statuses) for use in in_documents(self.uses)]

    def uses_in(self, docname: str) -> list[Use]:
        """Return the uses in a document, each of the DOI that is meant, as far as it is known."""
        return [use.with_whole_name(self.statuses) for use in self.uses.get(docname, ())]

    def dois(self) -> list[DOI]:
        """Return each DOI once, in the order of ``all_uses``."""
        return list(dict.fromkeys(use.doi for use in self.all_uses()))

    def unanswered(self) -> list[DOI]:
        """Return the DOIs without a definite answer."""
        return [doi for doi in self.dois() if doi not in self.statuses]

    def answered_works(self) -> dict[DOI, Work | None]:
        """Return the metadata; None for a DOI that does not exist, or whose agency has none."""
        missing = [doi for doi, status in self.statuses.items() if status == "not-found"]
        return dict.fromkeys(missing) | self.works

    def copy(self) -> DOIData:
        """Return a copy in which answers can be changed."""
        return replace(self, statuses={**self.statuses}, works={**self.works})

    def discard_stale(self, source: tuple[object, ...], *, anew: bool) -> None:
        """Discard the answers about DOIs that are no longer used.

        :param source: the server and the options that new answers will depend on; all answers of another
            source are discarded.
        :param anew: whether to discard all of them anyway.
        """
        if anew or source != self.source:
            self.source = source
            self.statuses = {}
            self.works = {}
            self.meant = {}
            self.reported = {}
        used = {doi for use in in_documents(self.uses) for doi in (use.doi, *use.longer)}
        self.statuses = {doi: status for doi, status in self.statuses.items() if doi in used}
        self.works = {doi: work for doi, work in self.works.items() if doi in used}

    def begin_day(self, today: str) -> None:
        """Discard the answers of another day; ``keep`` restores those that are not renewed."""
        if self.day != today:
            self.day = today
            self.statuses = {}
            self.works = {}

    def keep(self, last: DOIData) -> None:
        """Keep those of the last answers that were not renewed."""
        self.statuses = last.statuses | self.statuses
        works = last.works | self.works
        self.works = {
            doi: work for doi, work in works.items() if self.statuses.get(doi) != "not-found"
        }


def in_documents(values: Mapping[str, Iterable[_Value]]) -> Iterator[_Value]:
    """Yield what documents contain, in the order of their names."""
    for docname in sorted(values):
        yield from values[docname]


def doi_data(env: BuildEnvironment) -> DOIData:
    """Return the extension's data; empty data in a new environment."""
    data: DOIData = vars(env).setdefault("doiuri", DOIData())
    return data


class DOICollector(EnvironmentCollector):
    """Keeps the uses up to date when documents are read, removed, or merged from other processes."""

    def clear_doc(self, app: Sphinx, env: BuildEnvironment, docname: str) -> None:  # noqa: ARG002
        """Remove the uses in a document."""
        doi_data(env).uses.pop(docname, None)
        doi_data(env).seen.pop(docname, None)

    def merge_other(
        self,
        app: Sphinx,  # noqa: ARG002
        env: BuildEnvironment,
        docnames: AbstractSet[str],
        other: BuildEnvironment,
    ) -> None:
        """Add the uses in documents that another process has read."""
        theirs = doi_data(other).uses
        for name in sorted(docnames):
            if name in theirs:
                doi_data(env).uses[name] = theirs[name]

    def process_doc(self, app: Sphinx, doctree: nodes.document) -> None:
        """Record the uses in a document, and in what other extensions keep of it those of other DOIs."""
        uses = [_use(link, link["doi"]) for link in doi_references(doctree)]
        linked = {use.doi for use in uses}
        for node in kept_elsewhere(doctree):
            links = [link for link in doi_references(node) if link["doi"] not in linked]
            uses += [_use(link, link["doi"]) for link in links]
        uses += [_use(link, doi) for link, doi in hardcoded_links(doctree)]
        # A substitution that is used twice has the location of its definition twice
        unique = list(dict.fromkeys(uses))
        forget_kept(doctree)
        if unique:
            doi_data(app.env).uses[app.env.docname] = unique


def note_written(document: nodes.document, node: nodes.Element) -> None:
    """Note what a role has written while a document is parsed."""
    vars(document).setdefault("doi_written", []).append(node)


def sort_out_kept(document: nodes.document) -> None:
    """Find what other extensions have kept of a document that has just been parsed, for another place."""
    written = vars(document).pop("doi_written", ())
    vars(document)["doi_kept"] = [node for node in written if _root(node) is not document]


def kept_elsewhere(document: nodes.document) -> list[nodes.Element]:
    """Return the citations and links that were written in a document, and that it does not contain."""
    kept: list[nodes.Element] = vars(document).get("doi_kept", [])
    return kept


def forget_kept(document: nodes.document) -> None:
    """Forget what was kept, before Sphinx pickles the document."""
    vars(document).pop("doi_kept", None)


def _root(node: nodes.Node) -> nodes.Node:
    while node.parent is not None:
        node = node.parent
    return node


def _use(link: nodes.reference, doi: DOI) -> Use:
    """Return the use of a DOI in a link; what the author typed is recorded, and kept if there is advice on it."""
    typed = link.attributes.pop("doi_typed", None)
    if typed and not remarks(typed, doi):
        typed = None
    location = get_node_location(link) or ""
    return Use(doi, location, typed, conditions_of(link), longer=link.get("doi_longer", ()))


def conditions_of(node: nodes.Element) -> Conditions:
    """Return the directives ``only``, ``ifconfig`` and ``todo`` around a node, with their expressions."""
    conditions = []
    parent: nodes.Node | None = node.parent
    while parent is not None:
        if isinstance(parent, addnodes.only | ifconfig | todo_node):
            conditions.append((type(parent).__name__, parent.get("expr", "todo_include_todos")))
        elif isinstance(parent, nodes.footnote):
            # One that was made of a citation has the conditions of where that stood
            conditions += parent.get("doi_conditions", ())
        parent = parent.parent
    return tuple(conditions)


def is_shown(app: Sphinx, conditions: Conditions) -> bool:
    """Whether the pages of this build contain what has these conditions: false if one of them is off."""
    return all(_holds(app, directive, expression) for directive, expression in conditions)


def shows_pages(app: Sphinx) -> bool:
    """Whether this build writes pages with links: not if it checks links or extracts messages."""
    return app.builder.name not in {"linkcheck", "gettext"}


def _holds(app: Sphinx, directive: str, expression: str) -> bool:
    """Whether this build shows what is in a directive with an expression."""
    if directive == "only" and app.builder.name == LOCK_BUILDER:
        return True  # the lock file serves the builders of all formats
    try:
        if directive == "only":
            return app.tags.eval_condition(expression)
        values = {value.name: value.value for value in app.config}
        values |= vars(app.config)
        values["builder"] = app.builder.name
        return bool(eval(expression, values))  # noqa: S307 (as ifconfig)
    except Exception:  # noqa: BLE001 (any error of the expression, which Sphinx reports)
        return True


def hardcoded_doi(link: nodes.Element) -> DOI | None:
    """Return the DOI of a link to doi.org; None for any other link, and for those of the role."""
    uri = link.get("refuri", "")
    if "doi.org" not in uri.lower() or "doi" in link:
        return None
    try:
        return DOI.from_url(uri)
    except DOISyntaxError:
        return None


def hardcoded_links(document: nodes.document) -> Iterator[tuple[nodes.reference, DOI]]:
    """Yield the links to doi.org in a document with their DOIs."""
    for link in document.findall(nodes.reference):
        doi = hardcoded_doi(link)
        if doi is not None and not isinstance(link.parent, nodes.substitution_definition):
            yield link, doi
