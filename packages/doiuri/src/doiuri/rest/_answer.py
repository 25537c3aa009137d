"""Answers of the REST API: their response codes, and the checks that every answer has to pass."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from doiuri._json import Malformed, brief, integer, load, printable, read_object
from doiuri.records._record import read_handle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from doiuri._doi import Handle

MAX_MESSAGE = 1000
"""Characters of a server's message that an error repeats."""


class ResponseCode(IntEnum):
    """The ``responseCode`` of an answer (section 5); the names are those of RFC 3652 section 2.2.2.2."""

    SUCCESS = 1
    """The answer is a record."""

    ERROR = 2
    """The server failed."""

    PROTOCOL_ERROR = 4
    """The request is malformed."""

    HANDLE_NOT_FOUND = 100
    """The handle is not registered."""

    INVALID_HANDLE = 102
    """The handle is empty or malformed."""

    VALUE_NOT_FOUND = 200
    """The handle has no values, or none of those asked for."""


_OF_HTTP_STATUS = {
    200: {
        ResponseCode.SUCCESS,
        ResponseCode.ERROR,
        ResponseCode.HANDLE_NOT_FOUND,
        ResponseCode.VALUE_NOT_FOUND,
    },
    404: {ResponseCode.ERROR, ResponseCode.HANDLE_NOT_FOUND},
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A valid answer: its response code goes with the HTTP status, and it is about the DOI asked for."""

    code: ResponseCode
    members: Mapping[str, Any]

    @classmethod
    def parse(cls, doi: Handle, status: int, body: bytes) -> Answer:
        """Parse an answer with HTTP status 200 or 404; raises Malformed."""
        members = read_object(load(body))
        code = integer(members.get("responseCode"))
        if code not in _OF_HTTP_STATUS[status]:
            raise Malformed(f"responseCode is {brief(members.get('responseCode'))} with HTTP status {status}")
        if code == ResponseCode.SUCCESS or "handle" in members:
            read_handle(members.get("handle"), doi)
        return cls(ResponseCode(code), members)

    @property
    def message(self) -> str:
        """The server's explanation, if any."""
        return message_of(self.members)


def message_of(members: Mapping[str, Any]) -> str:
    """Return the ``message`` of an error, which is optional (section 5, response format), escaped."""
    message = members.get("message")
    return printable(message[:MAX_MESSAGE]) if isinstance(message, str) else ""
