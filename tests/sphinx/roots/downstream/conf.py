"""Pages in the style of scientific Python projects, with the DOIs as their authors write them."""

project = "Downstream"
extensions = ["sphinx.ext.extlinks", "sphinx_doiuri"]
extlinks = {
    "doi": ("https://doi.org/%s", "DOI: %s"),
    "issue": ("https://example.org/issues/%s", "#%s"),
}
suppress_warnings = ["doi.extlinks", "ref.footnote"]
