"""For authors of plugins: shared options, the resolver that they ask for, and helpers.

What a document needs from the registry is in ``doiuri.plugins.survey``, the text of links in
``doiuri.plugins.display``, and what HTTP clients need in ``doiuri.plugins.clients``.
"""

from doiuri._advice import unescape_html
from doiuri._files import replacing
from doiuri._settings import (
    OPTIONS,
    Option,
    Settings,
    choice,
    hint,
    number,
    option,
    path,
    text,
    texts,
    user_agent,
    with_defaults,
)
from doiuri._urls import DOI_ORG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from doiuri.plugins._options import Options, open_resolver
    from doiuri.plugins.display import with_suggestion

__all__ = [
    "DOI_ORG",
    "OPTIONS",
    "Option",
    "Options",
    "Settings",
    "choice",
    "hint",
    "number",
    "open_resolver",
    "option",
    "path",
    "replacing",
    "text",
    "texts",
    "unescape_html",
    "user_agent",
    "with_defaults",
    "with_suggestion",
]


def __getattr__(name: str) -> object:  # what a command that shows no links does not need is slow to import
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from doiuri.plugins import _options, display

    value = getattr(display if name == "with_suggestion" else _options, name)
    globals()[name] = value
    return value
