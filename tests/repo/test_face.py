"""The public names of all packages: their list, and the modules that they say they are from."""

from __future__ import annotations

import importlib
import pickle
import pickletools
from typing import TYPE_CHECKING

import doiuri
import pytest
from doiuri import (
    DOI,
    BadRecord,
    DOINotFound,
    DOISyntaxError,
    Handle,
    NoValues,
    Record,
    ResolverUnavailable,
)
from doiuri.citations import parse_citation
from doiuri.plugins.options import Options
from doiuri.plugins.survey import Need
from doiuri.records import parse_locations
from doiuri.resolver import Cause, Key, Metadata, Outcome
from doiuri.works import Work
from doiuri_csl import Cite, CSLError, Run, parse_locator
from support.manual.public import listed_names, public_classes

if TYPE_CHECKING:
    from support.manual.public import PublicClass

NAMES = listed_names()
CLASSES = public_classes()


@pytest.mark.parametrize("module", NAMES)
def test_a_module_exports_the_names_that_are_listed_as_public(module: str) -> None:
    exported = importlib.import_module(module).__all__

    assert sorted(NAMES[module]) == sorted(exported), f"tests/repo/public.toml, {module}"


@pytest.mark.parametrize("public", CLASSES, ids=lambda public: f"{public.modules[0]}.{public.name}")
def test_a_public_class_says_that_it_is_from_a_public_module(public: PublicClass) -> None:
    """Tracebacks and pickles name this module."""
    assert public.value.__module__ in public.modules, (
        f"{public.name}, defined in {public.defined_in}"
    )


DOI_NAME = DOI("10.1000/182")
VALUES = [
    DOI_NAME,
    Handle.parse("10/abcd"),
    Handle.parse("10.1000"),
    doiuri.LINK,
    Record.from_json(
        {
            "responseCode": 1,
            "handle": "10.1000/182",
            "values": [
                {"index": 1, "type": "URL", "data": {"format": "string", "value": "https://a.org"}}
            ],
        },
    ),
    parse_locations('<locations><location href="https://a.org" weight="1"/></locations>'),
    *doiuri.advise("10.1000/182."),
    next(doiuri.find("doi:10.1000/182")),
    Work(DOI_NAME, {"type": "book", "author": [{"family": "Doe"}]}),
    Outcome(
        DOI_NAME,
        "found",
        work=Work(DOI_NAME, {"title": "Bees"}),
        cause=Cause("timeout", "doi.org", None, "timed out"),
    ),
    Metadata(b"x", "text/plain"),
    Key("records", "https://doi.org", "10.1000/182"),
    Need.WORK,
    parse_citation("see 10.1000/182, p. 3"),
    parse_locator("p. 3"),
    Cite("doe", "3"),
    Run("Doe"),
    Options.read({}, environ={}),
    DOISyntaxError("10.1000", 7, "no suffix"),
    DOINotFound(DOI_NAME),
    NoValues(DOI_NAME),
    BadRecord(DOI_NAME, "not JSON"),
    ResolverUnavailable(DOI_NAME, status=503),
    CSLError("no layout"),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_pickle_is_read_whatever_happens_to_private_modules(value: object) -> None:
    """It names public modules only."""
    pickled = pickle.dumps(value)

    texts = [text for _, text, _ in pickletools.genops(pickled) if isinstance(text, str)]
    private = [text for text in texts if text.startswith("doiuri") and "._" in text]
    assert private == [], f"{value!r}"
    assert repr(pickle.loads(pickled)) == repr(value)
