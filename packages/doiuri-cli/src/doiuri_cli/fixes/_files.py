"""Fix files: read, mend, write."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli._examine import FileReport, examine
from doiuri_cli.files import Source
from doiuri_cli.fixes._mend import Answers, Mended, mend
from doiuri_cli.fixes._write import write

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from doiuri_cli._config import Config

STDIN = "-"
"""The path that stands for standard input."""


class Content(NamedTuple):
    """A file as it was read.

    :ivar source: its text; None if it cannot be read.
    :ivar content: its bytes.
    :ivar problem: why it cannot be read; None if it can.
    """

    source: Source | None
    content: bytes = b""
    problem: str | None = None


class Fixed(NamedTuple):
    """A file that was fixed, or could have been.

    :ivar before: the file as it was; None if it cannot be read.
    :ivar mended: the file with its fixes; None if it cannot be read.
    :ivar report: what is left.
    :ivar applied: the number of fixes.
    :ivar problem: why it was not read or not written; None if it was.
    """

    before: Source | None
    mended: Source | None
    report: FileReport
    applied: int = 0
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Files:
    """How to fix files.

    :ivar config: the configuration.
    :ivar unsafe: whether to apply unsafe fixes, too: the registry is asked about their names.
    :ivar dry: whether to leave all files as they are.
    :ivar stdin_filename: the name that decides how standard input is read.
    """

    config: Config
    unsafe: bool = False
    dry: bool = False
    stdin_filename: str = STDIN

    def fix(self, paths: Sequence[str], statuses: Mapping[str, str] | None = None) -> Iterator[Fixed]:
        """Yield what became of each file, in order.

        :param paths: the files.
        :param statuses: what is known about their DOIs, by key.
        """
        answers = Answers(partial(_ask, self.config) if self.unsafe else None)
        contents: Iterable[tuple[str, Content]] = ((path, self._read(path)) for path in paths)
        if self.unsafe:  # all names in one request, before the first file is fixed
            contents = list(contents)
            sources = [content.source for _, content in contents if content.source is not None]
            reports = [examine(source, self.config, statuses) for source in sources]
            answers.look_up(finding for report in reports for finding in report.findings)
        for path, content in contents:
            if content.source is None:
                yield Fixed(None, None, FileReport(path, problem=content.problem), problem=content.problem)
                continue
            mended = mend(content.source, self.config, statuses, answers)
            yield self._written(path, content, mended)

    def _read(self, path: str) -> Content:
        name = self.stdin_filename if path == STDIN else path
        try:
            content = sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
            return Content(Source.from_bytes(name, content), content)
        except OSError as error:
            return Content(None, problem=error.strerror or str(error))
        except UnicodeDecodeError as error:
            return Content(None, problem=f"not {error.encoding}, which its byte order mark says")

    def _written(self, path: str, content: Content, mended: Mended) -> Fixed:
        before = content.source
        problem = mended.problem or mended.report.problem
        fixed = Fixed(before, mended.source, mended.report, mended.applied, problem)
        if self.dry or path == STDIN or not mended.applied:
            return fixed
        try:
            write(path, content.content, mended.source.to_bytes(mended.source.text))
        except (OSError, RuntimeError) as error:  # RuntimeError: a loop of symbolic links
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            return fixed._replace(applied=0, mended=before, problem=f"not fixed: {reason}")
        return fixed


def _ask(config: Config, names: Sequence[str]) -> Mapping[str, str]:
    from doiuri_cli.registry._check import check_names  # imports the network part

    return check_names(names, config).statuses
