"""Docstrings in the styles that napoleon reads."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
project = "API"
suppress_warnings = ["ref.footnote"]
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_doiuri"]
