"""What is remembered from build to build: where each DOI is used, and what became of it."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from docutils_doiuri import doi_references
from doiuri import DOI
from sphinx.environment.collectors import EnvironmentCollector
from sphinx.util.logging import get_node_location

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from sphinx_doiuri._details import Details

VERSION = 1


class Use(NamedTuple):
    """One mention of a DOI, and where it is (``file:line``)."""

    doi: DOI
    location: str


@dataclass(slots=True)
class State:
    """The extension's data in the build environment.

    ``uses`` by document name; ``outcomes`` ("found", "not-found", "no-values") and ``details`` by DOI, as
    far as they are known; ``asked`` says of whom and how; ``reported`` what was warned about, by document.
    """

    uses: dict[str, list[Use]] = field(default_factory=dict)
    outcomes: dict[DOI, str] = field(default_factory=dict)
    details: "dict[DOI, Details | None]" = field(default_factory=dict)
    asked: tuple[object, ...] = ()
    reported: dict[str, set[DOI]] = field(default_factory=dict)

    def dois(self) -> list[DOI]:
        """Return each DOI once, in the order of document names and uses."""
        return list(dict.fromkeys(use.doi for use in self.all_uses()))

    def all_uses(self) -> list[Use]:
        """Return every use, in the order of document names."""
        return [use for name in sorted(self.uses) for use in self.uses[name]]

    def answers(self) -> "dict[DOI, tuple[str, Details | None]]":
        """Return what is known now, to compare with later."""
        return {doi: (status, self.details.get(doi)) for doi, status in self.outcomes.items()}

    def begin(self, asked: tuple[object, ...]) -> None:
        """Forget what is not used any more; and everything, where now another is asked, or otherwise."""
        if asked != self.asked:
            self.outcomes, self.details, self.reported, self.asked = {}, {}, {}, asked
        used = {use.doi for use in self.all_uses()}
        self.outcomes = {doi: status for doi, status in self.outcomes.items() if doi in used}
        self.details = {doi: details for doi, details in self.details.items() if doi in used}

    def documents(self, dois: "set[DOI]") -> list[str]:
        """Return the names of the documents that use any of these."""
        return [name for name, uses in sorted(self.uses.items()) if any(use.doi in dois for use in uses)]


def state(env: "BuildEnvironment") -> State:
    """Return the extension's data, new if there is none yet."""
    found: State = vars(env).setdefault("doiuri", State())
    return found


class DOICollector(EnvironmentCollector):
    """Keeps the list of uses right while documents are read, removed, and merged from other processes."""

    def clear_doc(self, app: "Sphinx", env: "BuildEnvironment", docname: str) -> None:  # noqa: ARG002
        """Forget a document."""
        state(env).uses.pop(docname, None)
        state(env).reported.pop(docname, None)

    def merge_other(
        self,
        app: "Sphinx",  # noqa: ARG002
        env: "BuildEnvironment",
        docnames: "AbstractSet[str]",
        other: "BuildEnvironment",
    ) -> None:
        """Take over what another process has read."""
        theirs = state(other).uses
        state(env).uses.update((name, theirs[name]) for name in sorted(docnames) if name in theirs)

    def process_doc(self, app: "Sphinx", doctree: "nodes.document") -> None:
        """Note the DOIs of a document."""
        uses = [Use(DOI(link["doi"]), get_node_location(link) or "") for link in doi_references(doctree)]
        if uses:
            state(app.env).uses[app.env.docname] = uses
