"""For authors of plugins: shared options, the text and the resolver that they ask for, and helpers."""

from doiuri._entities import unescape_html
from doiuri._files._replacing import replacing
from doiuri._settings import Settings, user_agent
from doiuri._urls import DOI_ORG, origin
from doiuri.plugins._clients import ClientOptions, Follow
from doiuri.plugins._display import breakable, check_display, display, needs_work
from doiuri.plugins._options import Options, open_resolver
from doiuri.plugins._params import Params, encode_params
from doiuri.plugins._suggestion import with_suggestion
from doiuri.plugins._survey import Survey, common_cause, tally, unchecked
from doiuri.plugins._targets import TargetCheck, TargetError
from doiuri.records._accept import wants_record

__all__ = [
    "DOI_ORG",
    "ClientOptions",
    "Follow",
    "Options",
    "Params",
    "Settings",
    "Survey",
    "TargetCheck",
    "TargetError",
    "breakable",
    "check_display",
    "common_cause",
    "display",
    "encode_params",
    "needs_work",
    "open_resolver",
    "origin",
    "replacing",
    "tally",
    "unchecked",
    "unescape_html",
    "user_agent",
    "wants_record",
    "with_suggestion",
]
