"""Publish reStructuredText with docutils in this process."""

from docutils.core import publish_parts
from docutils.writers.html5_polyglot import Writer

OFF = {"doi_resolve": False, "report_level": 5}


def body(text: str, **settings: object) -> str:
    """The body of the page; nothing is looked up or reported unless the settings say so."""
    parts = publish_parts(text, writer=Writer(), settings_overrides={**OFF, **settings})
    return str(parts["body"])
