"""The manual, built with our own role, and without a network: links need none."""

project = "doiuri"
author = "The doiuri developers"
copyright = "2026, The doiuri developers"
release = version = "0.1.0"
extensions = ["sphinx.ext.autodoc", "myst_parser", "sphinx_doiuri"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "doiuri"
html_copy_source = False
smartquotes = False

doi_resolve = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
# Members that a class gets from these bases are not listed.
_BASES = "object,tuple,str,bytes,dict,Exception,BaseException,ValueError,LookupError,UserWarning,Protocol"
autodoc_default_options = {"members": True, "inherited-members": _BASES}
# Several packages have a class of one name, such as Request; a type in a signature does not say which.
suppress_warnings = ["ref.python"]
nitpicky = True
# The standard library's names, and others': there is no inventory to link them to without a network.
nitpick_ignore_regex = [("py:.*", r"(?!(?:docutils_|markdown_|urllib_|requests_)?doiuri).*")]
nitpick_ignore = [("py:class", "doiuri._encoding.Profile")]  # as a default value, it shows where it lives
