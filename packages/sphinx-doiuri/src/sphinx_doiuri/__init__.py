"""DOIs in Sphinx: correct links, verified once per build.

Add ``"sphinx_doiuri"`` to ``extensions`` in conf.py. The names of all options start with ``doi_``.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes

from sphinx_doiuri._citations import DOIDomain, outdated_documents
from sphinx_doiuri._compat import (
    CorrectBibtexLinks,
    HideURIs,
    LinkChecker,
    ShowURIs,
    allow_doi_urls_in_myst,
    collect_bibtex_uses,
    leave_out_dois,
    replace_extlinks,
    replace_role,
    report_two_numberings,
)
from sphinx_doiuri._config import PRODUCT, add_options, check_options
from sphinx_doiuri._contents import contents_of
from sphinx_doiuri._environment import VERSION, DOICollector, doi_data, shows_pages
from sphinx_doiuri._lists import compute_lists, documents_to_write
from sphinx_doiuri._locale import CATALOG
from sphinx_doiuri._lock import LockBuilder, check_lock
from sphinx_doiuri._notes import HideURLs, MakeNotes, NumberCitations, RestoreURLs
from sphinx_doiuri._pages import (
    BreakNamesInLaTeX,
    EscapeLinks,
    FinishForHTML,
    FollowLongerNames,
    MarkMissing,
    add_nodes,
    copy_style,
    link_style,
)
from sphinx_doiuri._read import DOIRole, FindKept, LinkMentions, ReadDOIs, RestoreContents
from sphinx_doiuri._references import NameWorks, ResolveCitations
from sphinx_doiuri._report import report_works
from sphinx_doiuri._verify import verify

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.util.typing import ExtensionMetadata

__all__ = ["setup"]

_HERE = Path(__file__).parent
_LAST = sys.maxsize
_POST_TRANSFORMS = (
    FollowLongerNames,
    CorrectBibtexLinks,
    NameWorks,
    ResolveCitations,
    HideURLs,
    RestoreURLs,
    MarkMissing,
    FinishForHTML,
    EscapeLinks,
    BreakNamesInLaTeX,
)


def _finish_reading(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Look up the DOIs of all documents, and report what is wrong; return the documents to write again."""
    collect_bibtex_uses(env)
    data = doi_data(env)
    last_answers = (data.source, data.day)
    contents = verify(app, env, contents_of(app))
    lists = compute_lists(app, env, contents)
    changed = []
    if shows_pages(app):
        changed = documents_to_write(env, lists)
        report_works(env, contents)
        report_two_numberings(env, lists)
    copy_style(app, env)
    if (data.source, data.day) != last_answers:
        # Sphinx keeps the environment, with the answers, only if a page is written
        changed.append(env.config.root_doc)
    return changed


def _finish_late_nodes(app: Sphinx, document: nodes.Element, docname: str) -> None:  # noqa: ARG001
    """Show what other extensions have inserted since our transforms. Handles ``doctree-resolved``."""
    if not isinstance(document, nodes.document):  # an extension has resolved a part of one
        return
    for post_transform in _POST_TRANSFORMS:
        post_transform(document).apply(docname=docname)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Add the role, the options, the builder and the event handlers. Sphinx calls this."""
    app.add_message_catalog(CATALOG, str(_HERE / "locale"))
    add_options(app)
    app.add_role("doi", DOIRole(), override=True)
    app.add_domain(DOIDomain)
    for transform in (
        HideURIs,
        ShowURIs,
        FindKept,
        MakeNotes,
        NumberCitations,
        LinkMentions,
        ReadDOIs,
        RestoreContents,
    ):
        app.add_transform(transform)
    for post_transform in _POST_TRANSFORMS:
        app.add_post_transform(post_transform)
    app.add_env_collector(DOICollector)
    add_nodes(app)
    app.add_builder(LockBuilder)
    app.add_builder(LinkChecker, override=True)
    # After extensions that change options
    app.connect("config-inited", check_options, priority=900)
    app.connect("config-inited", replace_extlinks)
    app.connect("config-inited", allow_doi_urls_in_myst)
    app.connect("builder-inited", replace_role, priority=900)
    app.connect("builder-inited", check_lock)
    app.connect("env-get-outdated", outdated_documents)
    # After sphinxcontrib-bibtex chose entries
    app.connect("env-updated", _finish_reading, priority=600)
    app.connect("doctree-resolved", _finish_late_nodes, priority=_LAST)
    app.connect("html-page-context", link_style)
    app.connect("linkcheck-process-uri", leave_out_dois)
    return {
        "version": version(PRODUCT),
        "env_version": VERSION,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
