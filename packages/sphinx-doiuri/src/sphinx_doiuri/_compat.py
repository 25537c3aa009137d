"""Getting along with extlinks, copies of doi_role.py, and MyST."""

from pathlib import Path
from typing import TYPE_CHECKING

from docutils.parsers.rst import roles
from sphinx.util import logging

from sphinx_doiuri._lines import place_in_file
from sphinx_doiuri._locale import __
from sphinx_doiuri._role import DOIRole

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

_SCHEMES = {"doi": None, "DOI": None}  # MyST compares letter by letter

logger = logging.getLogger(__name__)


def replace_extlinks(app: "Sphinx", config: "Config") -> None:
    """Take ``doi`` out of ``extlinks``, which would override the role, and say so."""
    links = getattr(config, "extlinks", None)
    ours = [name for name in links if name.lower() == "doi"] if isinstance(links, dict) else []
    if not ours or not isinstance(links, dict):
        return
    config.extlinks = {name: link for name, link in links.items() if name not in ours}
    logger.warning(
        __("extlinks[%r] is not used: sphinx_doiuri makes these links; take it out of extlinks"),
        ours[0],
        type="doi",
        subtype="extlinks",
        location=place_in_file(Path(app.confdir, "conf.py"), "extlinks ="),
    )


def replace_roles(app: "Sphinx") -> None:
    """Put our role back where another extension, such as a copied doi_role.py, has registered its own."""
    if isinstance(vars(roles)["_roles"].get("doi"), DOIRole):
        return
    app.add_role("doi", DOIRole(), override=True)
    logger.warning(
        __("another extension defines the role doi; sphinx_doiuri replaces it, take the other out"),
        type="doi",
        subtype="role",
        location=place_in_file(Path(app.confdir, "conf.py"), "extensions"),
    )


def open_myst(app: "Sphinx", config: "Config") -> None:  # noqa: ARG001
    """Have MyST hand ``doi:`` URLs through untouched: its templates drop what follows ``#`` and ``?``."""
    if "myst_url_schemes" not in config:
        return
    schemes = config.myst_url_schemes
    if isinstance(schemes, dict):
        config.myst_url_schemes = {**schemes, **_SCHEMES}
    elif isinstance(schemes, list | tuple | set | frozenset):
        config.myst_url_schemes = {**dict.fromkeys(schemes), **_SCHEMES}
