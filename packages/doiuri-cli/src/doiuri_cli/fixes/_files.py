"""Fix files: read, mend, write."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.files import replace_file
from doiuri_cli.fixes._mend import FixPolicy, mend

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from doiuri_cli._config import Config
    from doiuri_cli._examine import FileReport
    from doiuri_cli._run import Content
    from doiuri_cli.files import Source


class Fixed(NamedTuple):
    """A file that was fixed, or could be.

    :ivar report: what is left; its ``problem`` says why the file was not read or not written.
    :ivar before: the file as it was; None if nothing was to fix.
    :ivar after: the file with its fixes; None if nothing was to fix.
    :ivar applied: the number of fixes.
    :ivar refused: why a fix was left out; None if none was.
    """

    report: FileReport
    before: Source | None = None
    after: Source | None = None
    applied: int = 0
    refused: str | None = None


class Files(NamedTuple):
    """How to fix files.

    :ivar config: the configuration.
    :ivar unsafe: whether to apply unsafe fixes, too: the registry is asked about their names.
    :ivar dry: whether to leave all files as they are.
    """

    config: Config
    unsafe: bool = False
    dry: bool = False

    def fix(
        self,
        contents: Sequence[Content],
        reports: Sequence[FileReport],
        statuses: Mapping[str, str] | None = None,
    ) -> Iterator[Fixed]:
        """Yield what became of each file, in order.

        :param contents: the files.
        :param reports: what was found in them.
        :param statuses: what is known about their DOIs, by key.
        """
        policy = FixPolicy(partial(_ask, self.config) if self.unsafe else None)
        # all names in one request, before the first file is fixed
        policy.look_up(finding for report in reports for finding in report.findings)
        for content, report in zip(contents, reports, strict=True):
            if any(map(policy.allows, report.findings)):
                yield self._fixed(content, report, statuses, policy)
            else:
                yield Fixed(report)

    def _fixed(
        self, content: Content, report: FileReport, statuses: Mapping[str, str] | None, policy: FixPolicy
    ) -> Fixed:
        try:
            source = content.read()
        except (OSError, ValueError) as error:
            return _failed(report, error)
        mended = mend(source, self.config, statuses, policy)
        fixed = Fixed(mended.report, source, mended.source, mended.applied, mended.refused)
        if self.dry or not mended.applied or content.content is not None:
            return fixed
        try:
            old, new = source.to_bytes(source.text), mended.source.to_bytes(mended.source.text)
            replace_file(content.path, new, old)
        except OSError as error:
            return _failed(report, error)
        return fixed


def _failed(report: FileReport, error: Exception) -> Fixed:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return Fixed(report._replace(problem=f"not fixed: {reason}"))


def _ask(config: Config, names: Sequence[str]) -> Mapping[str, str]:
    from doiuri_cli.registry._check import check_names  # imports the network part

    return check_names(names, config).statuses
