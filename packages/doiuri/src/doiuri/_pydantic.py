"""``DOI`` as a type of pydantic models: how models read, write and describe it.

Only pydantic calls this, so importing it here needs no extra.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, cast

from doiuri._errors import DOISyntaxError
from doiuri._names import NOT_GRAPHIC, exact
from doiuri._urls import DOI_ORG

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic_core import CoreSchema, PydanticCustomError

    from doiuri._doi import DOI

# Patterns of JSON schemas are JavaScript's, in its mode u, and Python's: \U0001bca0 is unknown to the one,
# \u{1bca0} to the other, so that such characters stand for themselves. Python's "$" allows a line break.
_NOT_GRAPHIC = re.sub(r"\\U([0-9a-f]{8})", lambda match: chr(int(match[1], 16)), NOT_GRAPHIC)
_END = r"$(?![\s\S])"
_NAME = rf"^10\.[0-9]+(?:\.[0-9]+)*/[^{_NOT_GRAPHIC}]+{_END}"
_URL = rf"^{re.escape(DOI_ORG)}/10\.[!-~]+{_END}"
_SCHEMAS = {
    "name": {"type": "string", "format": "doi", "pattern": _NAME},
    "uri": {"type": "string", "format": "uri", "pattern": rf"^doi:10\.[!-~]+{_END}"},
    "url": {"type": "string", "format": "uri", "pattern": _URL},
}


@dataclass(frozen=True, slots=True)
class DOIForm:
    """The form in which a pydantic model writes a DOI: ``Annotated[DOI, DOIForm("url")]``.

    "uri" is ``DOI.uri``, "url" is ``DOI.url``; models read them, and anything else, with ``DOI.parse``.
    "name" is ``DOI.name``, which models read with ``DOI.from_name``: no label, no link, no escapes.

    :raises ValueError: if it is another form.
    """

    form: Literal["name", "uri", "url"]
    """The form."""

    def __post_init__(self) -> None:
        if self.form not in _SCHEMAS:
            raise ValueError(f'{self.form!r} is not "name", "uri" or "url"')

    def __get_pydantic_core_schema__(
        self, source: Any, handler: Callable[[Any], CoreSchema]
    ) -> CoreSchema:
        """Return how pydantic reads and writes the annotated DOI; with any other type, raise TypeError."""
        schema = handler(source)
        if getattr(source, "_kind", None) != "DOI" or schema["type"] != "lax-or-strict":
            raise TypeError(
                f"DOIForm follows DOI, as in Annotated[DOI, DOIForm({self.form!r})], not {source}"
            )
        # with the members of the schema that core_schema does not set, such as "strict"
        return cast("CoreSchema", {**schema, **core_schema(source, self.form)})

    def __get_pydantic_json_schema__(self, schema: object, handler: object) -> dict[str, Any]:
        return json_schema(self.form)


def core_schema(doi: type[DOI], form: str | None = None) -> CoreSchema:
    """Return how pydantic reads and writes DOIs.

    :param doi: the class, DOI or a subclass.
    :param form: that of ``DOIForm``; None: the name or, if ``DOI.parse`` reads another one, the URI.
    """
    from pydantic_core import core_schema as schema

    read = doi.from_name if form == "name" else doi.parse
    lax = schema.no_info_plain_validator_function(_validator(doi, read))
    # As with UUID: strict JSON takes text, there is nothing else in JSON
    strict = schema.json_or_python_schema(lax, schema.is_instance_schema(doi))
    write = _readable if form is None else attrgetter(form)
    serialization = schema.plain_serializer_function_ser_schema(write, when_used="json")
    return schema.lax_or_strict_schema(lax, strict, serialization=serialization)


def json_schema(form: str = "name") -> dict[str, Any]:
    """Return the JSON schema of a form."""
    return dict(_SCHEMAS[form])


def _readable(doi: DOI) -> str:
    """Return the name or, if ``DOI.parse`` would not read this name, the URI.

    "10.1000/50%25" is a name that it reads as another one.
    """
    try:
        parsed = doi.parse(doi.name)
    except DOISyntaxError:  # such as a suffix of blanks
        return doi.uri
    return doi.name if parsed.name == doi.name else doi.uri


def _validator(doi: type[DOI], read: Callable[[str], DOI]) -> Callable[[object], DOI]:
    """Return the function that pydantic calls with a value: it lets DOIs pass, and reads text with ``read``."""

    def validate(value: object) -> DOI:
        """Return the DOI; raise only the error that pydantic reports."""
        if isinstance(value, doi):
            return value
        try:
            return read(exact(value))  # type: ignore[arg-type]
        except DOISyntaxError as error:
            raise _error(error.position, error.reason, error.suggestion) from None
        except TypeError as error:
            raise _error(0, str(error), None) from None

    return validate


def _error(position: int, reason: str, suggestion: str | None) -> PydanticCustomError:
    """Return the error that pydantic reports, with position, reason and suggestion as data, too."""
    from pydantic_core import PydanticCustomError

    advice = "" if suggestion is None else "; write {suggestion}"
    context = {"position": position, "reason": reason, "suggestion": suggestion}
    return PydanticCustomError(
        "doi_syntax", "not a DOI: {reason} (position {position})" + advice, context
    )


DOIForm.__module__ = "doiuri"  # for tracebacks and pickles
