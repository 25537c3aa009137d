"""One file: the DOIs in it, and the findings about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli._mentions import mentions_in
from doiuri_cli.readers import ReadError, reader_for
from doiuri_cli.readers._text import read as read_text
from doiuri_cli.rules import Finding, finding_at
from doiuri_cli.rules._written import file_findings, part_findings, written_findings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from doiuri_cli._config import Config
    from doiuri_cli._mentions import Mention
    from doiuri_cli.files import Source

    Status = str


class FileReport(NamedTuple):
    """What a file mentions, and what is wrong in it.

    :ivar path: the file.
    :ivar names: the names of its DOIs, each once.
    :ivar findings: the findings, in order.
    :ivar mentions: the number of mentions.
    :ivar problem: why it cannot be read; None if it can.
    :ivar skipped: why it was passed over; None if it was read.
    """

    path: str
    names: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    mentions: int = 0
    problem: str | None = None
    skipped: str | None = None


def examine(
    source: Source,
    config: Config,
    statuses: Mapping[str, Status] | None = None,
) -> FileReport:
    """Return the report on a file.

    :param source: the file.
    :param config: the configuration.
    :param statuses: the status of each DOI by its key; None if they are not known yet.
    """
    names: dict[str, None] = {}
    findings: list[Finding] = []
    fields: list[Mention] = []
    count = 0
    try:
        for part in (reader_for(source.path) or read_text)(source):
            mentions = list(mentions_in(part))
            fields += [mention for mention in mentions if part.field]
            for mention in mentions:
                count += 1
                findings += written_findings(source, mention)
                if mention.doi is not None:
                    names[mention.doi.name] = None
                findings += _registered(source, mention, statuses or {})
            findings += part_findings(source, part, mentions)
        findings += file_findings(source, fields)
    except ReadError as error:
        return FileReport(source.path, problem=str(error))
    return FileReport(source.path, tuple(names), tuple(findings), count)


def _registered(source: Source, mention: Mention, statuses: Mapping[str, Status]) -> Iterator[Finding]:
    doi = mention.doi
    if doi is not None and statuses.get(doi.key) == "not-found":
        span = mention.start, mention.end
        yield finding_at(
            source, mention.part, span, "not-found", f"{doi.name} is not registered", doi=doi.name
        )
