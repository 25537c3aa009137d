"""The manual. It is built with our own role, and without a network: the lock file has the answers."""

import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1] / "tests")]
from support.manual.public import public_classes

project = "doiuri"
author = "The doiuri developers"
copyright = "2026, The doiuri developers"
release = version = "0.1.0"
extensions = [
    "sphinx.ext.autodoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_doiuri",
    "install_directive",
    "tables_directive",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "doiuri"
html_static_path = ["_static"]
html_css_files = ["manual.css"]
html_copy_source = False
smartquotes = False
# Copy what a reader types, without prompts and output
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

doi_offline = True
doi_lock = "../doi.lock.json"  # of the whole repository

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
# Members that a class gets from these bases are not listed.
_BASES = (
    "object,int,IntEnum,tuple,str,bytes,dict,Exception,BaseException,ValueError,LookupError,UserWarning,Protocol,"
    "Extension,Parser,Component,SettingsSpec,TransformSpec,BaseClient,Client,AsyncClient,AbstractFileSystem"
)
autodoc_default_options = {"members": True, "inherited-members": _BASES}
# Several packages have a class of one name, such as Request; a type in a signature does not say which.
suppress_warnings = [
    "ref.python",
    "doi.lock-unused",
]  # the READMEs cite DOIs that the manual does not
nitpicky = True
# Names of the standard library and of other packages: without a network, no inventory to link them to
nitpick_ignore_regex = [("py:.*", r"(?!(?:docutils_|markdown_|urllib_|requests_)?doiuri).*")]
# As a default value, or as the type of a property, they show where they live
nitpick_ignore = [
    ("py:class", "doiuri._options.Default"),  # private: the type of an argument that was left out
    ("py:class", "doiuri.citations._citing._Styles"),
    ("py:class", "doiuri.resolver._lock_file.Differences"),
    ("py:class", "doiuri.resolver.stores._store.Usage"),
    ("py:class", "doiuri_cli.files.Lines"),
    ("py:class", "doiuri_csl._sheet.Sheet"),
    ("py:class", "doiuri_csl._xml.Node"),
    ("py:class", "doiuri_proxy.http._app.App"),
    ("py:class", "doiuri_proxy.records._metadata.MetadataAnswer"),
    ("py:class", "doiuri_proxy.records._source.PublicValues"),
]


def setup(app: Sphinx) -> None:
    _add_definitions()
    app.connect("autodoc-process-signature", _tidy_signature)
    app.connect("doctree-read", _link_pages)


def _add_definitions() -> None:
    """Let autodoc find the attributes of a public class, and their order, where the class is defined.

    It looks in the module that the class says it is from, which only imports the class.
    """
    for public in public_classes():
        if public.defined_in == public.value.__module__:
            continue
        shown = ModuleAnalyzer.for_module(public.value.__module__)
        definition = ModuleAnalyzer.for_module(public.defined_in)
        shown.analyze()
        definition.analyze()
        for (owner, attribute), text in definition.attr_docs.items():
            if owner == public.name:
                shown.attr_docs[owner, attribute] = text
        for (owner, attribute), annotation in definition.annotations.items():
            if owner == public.name:
                shown.annotations[owner, attribute] = annotation
        for name, position in definition.tagorder.items():
            if name.partition(".")[0] == public.name:
                shown.tagorder[name] = position


def _link_pages(_app: Sphinx, doctree: nodes.document) -> None:
    """Let links to source files of the manual, which work on GitHub, lead to their pages."""
    for link in doctree.findall(nodes.reference):
        target = link.get("refuri", "")
        if target.startswith("../") and target.endswith(".rst"):
            link["refuri"] = target.removesuffix("rst") + "html"


def _tidy_signature(*event: Any) -> tuple[str | None, str | None]:
    """Show a default that is a private object as an ellipsis; the text says what it means."""
    signature, returns = event[-2:]
    if signature == "(*args, **kwargs)":  # a Protocol
        return "", returns
    if not signature:
        return signature, returns
    signature = signature.replace(" | Default", "")
    for private in ("Default.DEFAULT", "<object object>", "<function unchanged>"):
        signature = signature.replace(private, "...")
    return signature, returns
