"""The example site: each kind of DOI, written as an author would, and what became of it."""

project = "Correct DOI links"
author = "The doiuri developers"
copyright = "2026, The doiuri developers"
extensions = ["myst_parser", "sphinx_doiuri"]
exclude_patterns = ["_build"]
doi_details = True  # a card with title, authors, journal and year beside each link
html_theme = "furo"
html_title = "Correct DOI links"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False

# Not set here: which proxy is asked (DOIURI_RESOLVER) and where answers are kept (DOIURI_CACHE).
