"""For authors of plugins: shared options, the text and the resolver that they ask for, and helpers."""

from doiuri._advice import unescape_html
from doiuri._files._replacing import replacing
from doiuri._settings import Option, Settings, user_agent
from doiuri._urls import DOI_ORG
from doiuri.plugins._clients import ClientArguments, ClientOptions
from doiuri.plugins._display import breakable, check_display, display, needs_work
from doiuri.plugins._options import OPTIONS, Options, open_resolver
from doiuri.plugins._suggestion import with_suggestion
from doiuri.plugins._survey import Survey, common_cause, tally, unchecked
from doiuri.plugins._targets import TargetCheck, TargetError

__all__ = [
    "DOI_ORG",
    "OPTIONS",
    "ClientArguments",
    "ClientOptions",
    "Option",
    "Options",
    "Settings",
    "Survey",
    "TargetCheck",
    "TargetError",
    "breakable",
    "check_display",
    "common_cause",
    "display",
    "needs_work",
    "open_resolver",
    "replacing",
    "tally",
    "unchecked",
    "unescape_html",
    "user_agent",
    "with_suggestion",
]
