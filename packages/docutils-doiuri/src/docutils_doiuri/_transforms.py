"""The transforms for plain docutils: link ``doi:`` URIs, and look up all DOIs of a document."""

from __future__ import annotations

from docutils import nodes
from docutils.transforms import Transform
from doiuri import DOI, DOISyntaxError
from doiuri.plugins import Survey, open_resolver

from docutils_doiuri._advice import report_links
from docutils_doiuri._looks import finish_links
from docutils_doiuri._report import report, report_error
from docutils_doiuri._settings import read_options
from docutils_doiuri.nodes import doi_references, link_uri, restore_contents, source_text


class LinkDOIs(Transform):
    """Turn references to ``doi:`` URIs into https links."""

    default_priority = 700  # after references.ExternalTargets (640), which resolves named references

    def apply(self) -> None:
        """Rewrite the references; one whose URI is not a DOI becomes *problematic* text, with an error."""
        options = read_options(self.document)
        for link in list(self.document.findall(nodes.reference)):
            try:
                link_uri(link, options)
            except DOISyntaxError as error:
                message = report_error(self.document.reporter, str(error), base_node=link)
                text = source_text(link)
                link.replace_self(nodes.problematic(text, text, refid=self.document.set_id(message)))


class VerifyDOIs(Transform):
    """Look up the DOIs of a document in one batch, and mark those that do not exist."""

    default_priority = 870  # after SmartQuotes (855) and all transforms that add or move references

    @classmethod
    def add_to(cls, document: nodes.document) -> None:
        """Apply this transform to a document, once."""
        transformer = document.transformer
        if not any(entry[1] is cls for entry in transformer.transforms):
            transformer.add_transform(cls)

    def apply(self) -> None:
        """Report the DOIs that were not found, and advice; a DOI without an answer is left as it is."""
        links = list(doi_references(self.document))
        for link in links:
            self._restore_name(link)
        restore_contents(self.document)
        try:
            missing = self._not_found(links)
        except ValueError as error:  # an invalid lock file, or a cache that cannot be opened
            report(self.document.reporter, self.document.reporter.ERROR_LEVEL, str(error))
            missing = set()
        report_links(self.document, links, missing)
        finish_links(self.document, links)

    def _restore_name(self, link: nodes.reference) -> None:
        """Undo typographic quotes and dashes; docutils, unlike Sphinx, ignores ``support_smartquotes``."""
        if link.get("support_smartquotes") is False:
            link[:] = [nodes.Text(read_options(self.document).display(link["doi"]))]

    def _not_found(self, links: list[nodes.reference]) -> set[DOI]:
        """Return the DOIs that do not exist, and report how many could not be checked."""
        options = read_options(self.document)
        if not (links and options.resolve):
            return set()
        dois: list[DOI] = list(dict.fromkeys(link["doi"] for link in links))
        with open_resolver(options, "docutils-doiuri") as resolver:
            survey = Survey(resolver, options.budget)
            survey.check(dois, options.resolve)
        if text := survey.sentence(dois):
            reporter = self.document.reporter
            report(reporter, reporter.INFO_LEVEL, text, source=reporter.source)  # about no line
        return {doi for doi, status in survey.statuses.items() if status == "not-found"}
