"""Compatibility with extlinks, with copies of doi_role.py, and with MyST."""

from __future__ import annotations

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

_SCHEMES = {"doi": None, "DOI": None}  # MyST compares case-sensitively

logger = logging.getLogger(__name__)


def replace_extlinks(app: Sphinx, config: Config) -> None:
    """Remove ``doi`` from ``extlinks``, which would override the role, and warn."""
    links = getattr(config, "extlinks", None)
    ours = [name for name in links if name.lower() == "doi"] if isinstance(links, dict) else []
    if not ours or not isinstance(links, dict):
        return
    config.extlinks = {name: link for name, link in links.items() if name not in ours}
    logger.warning(
        __("extlinks[%r] is ignored because sphinx_doiuri provides the role; remove it from extlinks"),
        ours[0],
        type="doi",
        subtype="extlinks",
        location=place_in_file(Path(app.confdir, "conf.py"), "extlinks ="),
    )


def replace_role(app: Sphinx) -> None:
    """Register our role again if another extension, such as a copied doi_role.py, has replaced it."""
    if isinstance(vars(roles)["_roles"].get("doi"), DOIRole):
        return
    app.add_role("doi", DOIRole(), override=True)
    logger.warning(
        __("sphinx_doiuri overrides the role doi of another extension; remove that extension"),
        type="doi",
        subtype="role",
        location=place_in_file(Path(app.confdir, "conf.py"), "extensions"),
    )


def allow_doi_urls_in_myst(app: Sphinx, config: Config) -> None:  # noqa: ARG001
    """Make MyST leave ``doi:`` URLs as they are: its templates drop the query and the fragment."""
    if "myst_url_schemes" not in config:
        return
    schemes = config.myst_url_schemes
    if isinstance(schemes, dict):
        config.myst_url_schemes = {**schemes, **_SCHEMES}
    elif isinstance(schemes, list | tuple | set | frozenset):
        config.myst_url_schemes = {**dict.fromkeys(schemes), **_SCHEMES}
