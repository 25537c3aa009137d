"""DOIs in Sphinx: right links, verified once per build.

``extensions = ["sphinx_doiuri"]`` in conf.py is all; the options begin with ``doi_``.
"""

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_doiuri._compat import open_myst, replace_extlinks, replace_roles
from sphinx_doiuri._config import add_options, check_options
from sphinx_doiuri._environment import VERSION, DOICollector
from sphinx_doiuri._linkcheck import ask_rest_api
from sphinx_doiuri._locale import CATALOG
from sphinx_doiuri._lock import LockBuilder, check_lock
from sphinx_doiuri._pages import (
    AddCards,
    BreakNames,
    EncodeMore,
    MarkMissing,
    depart_link_with_card,
    link_style,
    link_with_card,
    offer_style,
    visit_link_with_card,
)
from sphinx_doiuri._read import ReadDOIs
from sphinx_doiuri._role import DOIRole
from sphinx_doiuri._verify import verify

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

__all__ = ["setup"]

_HERE = Path(__file__).parent


def setup(app: "Sphinx") -> "ExtensionMetadata":
    """Add the role, the options and what goes with them to a build; Sphinx calls this."""
    app.add_message_catalog(CATALOG, str(_HERE / "locale"))
    add_options(app)
    app.add_role("doi", DOIRole(), override=True)
    app.add_transform(ReadDOIs)
    app.add_env_collector(DOICollector)
    app.add_post_transform(MarkMissing)
    app.add_post_transform(EncodeMore)
    app.add_post_transform(BreakNames)
    app.add_post_transform(AddCards)
    app.add_node(link_with_card, html=(visit_link_with_card, depart_link_with_card))
    app.add_builder(LockBuilder)
    app.connect("config-inited", check_options, priority=900)  # after those who may yet change them
    app.connect("config-inited", replace_extlinks)
    app.connect("config-inited", open_myst)
    app.connect("builder-inited", replace_roles, priority=900)
    app.connect("builder-inited", check_lock)
    app.connect("builder-inited", offer_style)
    app.connect("env-updated", verify)
    app.connect("html-page-context", link_style)
    app.connect("linkcheck-process-uri", ask_rest_api)
    return {
        "version": version("sphinx-doiuri"),
        "env_version": VERSION,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
