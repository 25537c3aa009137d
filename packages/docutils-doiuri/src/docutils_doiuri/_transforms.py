"""What happens to the DOIs of a document once it is parsed."""

from typing import TYPE_CHECKING
from urllib.parse import unquote

from docutils import nodes
from docutils.transforms import Transform
from doiuri import DOI, DOISyntaxError, advise
from doiuri.plugins import Options, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

_READ = "_doiuri_options"


def read_options(document: nodes.document) -> Options:
    """Return the options in docutils' settings, where None means not given.

    Where one is wrong, that is an error, once a document, and links are made as without options.
    """
    known = vars(document)
    if _READ not in known:
        given = {name: value for name, value in vars(document.settings).items() if value is not None}
        try:
            known[_READ] = Options.read(given, prefix="doi_")
        except ValueError as error:
            document.reporter.error(str(error))
            known[_READ] = Options(Settings(), resolve=False)
    found: Options = known[_READ]
    return found


def doi_references(document: nodes.document) -> "Iterator[nodes.reference]":
    """Yield the links to DOIs in a document; those in substitution definitions count where they are used."""
    for link in document.findall(nodes.reference):
        if "doi" in link and not isinstance(link.parent, nodes.substitution_definition):
            yield link


def suggestion(doi: DOI) -> str | None:
    """Return what a DOI that was not found was perhaps meant to be."""
    return next((advice.suggestion for advice in advise(doi) if advice.suggestion), None)


def link_uri(link: nodes.Element, options: Options) -> DOI | None:
    """Turn a reference to a ``doi:`` URI into a link; one without text shows the DOI.

    Returns None for any other reference. Raises DOISyntaxError where it is no DOI.
    """
    uri = link.get("refuri", "")
    if uri[:4].lower() != "doi:":
        return None
    doi = DOI.parse(uri)
    link["refuri"] = doi.link(base=options.link)
    link["internal"] = False
    link["doi"] = doi.name
    link["classes"].append("doi")
    if isinstance(link, nodes.reference) and not link.children:
        link += nodes.Text(options.shown(doi))
        link["support_smartquotes"] = False
    return doi


def as_written(link: nodes.Element) -> str:
    """Return what to show in place of a link to what is no DOI: all that its author wrote."""
    if link.rawsource.endswith("_"):  # reStructuredText
        return link.rawsource
    text, uri = link.astext(), link["refuri"]  # MyST keeps no more of the source, and escapes the URI
    if not text or unquote(text) == unquote(uri):
        return text or uri
    return f"{text} <{uri}>"


class LinkDOIs(Transform):
    """Turn every reference to a ``doi:`` URI into an https link."""

    default_priority = 700  # after references.ExternalTargets (640), which resolves the named ones

    def apply(self) -> None:
        """Rewrite the document's references; what is no DOI becomes problematic text and an error."""
        options = read_options(self.document)
        for link in list(self.document.findall(nodes.reference)):
            try:
                link_uri(link, options)
            except DOISyntaxError as error:
                message = self.document.reporter.error(str(error), base_node=link)
                text = as_written(link)
                link.replace_self(nodes.problematic(text, text, refid=self.document.set_id(message)))


class VerifyDOIs(Transform):
    """Look up the document's DOIs, all at once, and mark those that do not exist."""

    default_priority = 870  # after all that adds or moves references, and after SmartQuotes (855)

    @classmethod
    def add_to(cls, document: nodes.document) -> None:
        """Have this transform run on a document, once."""
        transformer = document.transformer
        if not any(entry[1] is cls for entry in transformer.transforms):
            transformer.add_transform(cls)

    def apply(self) -> None:
        """Ask within the budget; an unknown answer changes nothing."""
        links = list(doi_references(self.document))
        options = read_options(self.document)
        for link in links:
            if link.get("support_smartquotes") is False:  # Sphinx heeds this, docutils does not
                link[:] = [nodes.Text(options.shown(DOI(link["doi"])))]
        if not (links and options.resolve):
            return
        try:
            missing = _not_found(options, list(dict.fromkeys(DOI(link["doi"]) for link in links)))
        except ValueError as error:  # of the lock file, or the cache's address
            self.document.reporter.error(str(error))
            return
        for link in links:
            if (doi := DOI(link["doi"])) in missing:
                link["classes"].append("doi-not-found")
                better = suggestion(doi)
                meant = f"; did you mean {better}?" if better else ""
                self.document.reporter.warning(f"DOI not found: {doi.name}{meant}", base_node=link)


def _not_found(options: Options, dois: list[DOI]) -> set[DOI]:
    """Return those that definitely do not exist."""
    from doiuri.resolver import open_resolver

    with open_resolver(options, "docutils-doiuri") as resolver:
        answers = resolver.check(dois, how=options.resolve)
        return {doi for doi, outcome in zip(dois, answers, strict=True) if outcome.status == "not-found"}
