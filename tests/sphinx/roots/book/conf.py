"""One project for every builder: names that are hard in HTML, LaTeX, Texinfo or roff."""

project = "Book"
author = "The doiuri developers"
project_copyright = "2026, The doiuri developers"
version = "1"
extensions = ["myst_parser", "sphinx_doiuri"]
suppress_warnings = ["doi.space"]  # a name with a space is legal, and hard
html_copy_source = False
man_show_urls = True
epub_show_urls = "footnote"
texinfo_documents = [("index", "book", project, author, "book", "A book.", "Miscellaneous")]
language = "en"
