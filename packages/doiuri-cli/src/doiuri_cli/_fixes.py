"""Fix files round after round, until nothing is left to fix; each fix is proved before a file is replaced."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from doiuri import DOI, DOISyntaxError

from doiuri_cli._examine import examine
from doiuri_cli._mentions import mentions_in
from doiuri_cli.files import Source, replace_file
from doiuri_cli.readers import parts_of, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from doiuri_cli._config import Config
    from doiuri_cli._examine import FileReport
    from doiuri_cli._run import Content
    from doiuri_cli.rules import Finding, Fix

_MOST_ROUNDS = 10  # a fix makes way for another one a few times at most


class ProofError(ValueError):
    """The fixes change more than they should."""


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


class FixPolicy:
    """Decides which fixes to apply: unsafe ones by what the registry says about the old and the new name.

    :param ask: returns the status of each name, by its DOI's key; None if unsafe fixes are not wanted.
    """

    def __init__(self, ask: Callable[[Sequence[str]], Mapping[str, str]] | None = None) -> None:
        self._ask = ask
        self._statuses: dict[str, str] = {}

    def look_up(self, findings: Iterable[Finding]) -> None:
        """Ask about the names of all unsafe fixes, together."""
        if self._ask is None:
            return
        names = [name for finding in findings for name in _names(finding)]
        new = [name for name in dict.fromkeys(names) if DOI(name).key not in self._statuses]
        if new:
            self._statuses.update(dict.fromkeys((DOI(name).key for name in new), "unknown"))
            self._statuses.update(self._ask(new))

    def allows(self, finding: Finding) -> bool:
        """Return whether to apply a finding's fix.

        A safe one always; one that changes a name only if the old name is definitely not registered and the
        new one is.
        """
        fix = finding.fix
        if fix is None or fix.safe:
            return fix is not None
        if self._ask is None or fix.name is None:
            return self._ask is not None
        old = _key(finding.doi)
        missing = old is None or self._statuses.get(old) == "not-found"
        return missing and self._statuses.get(DOI(fix.name).key) == "found"


def _names(finding: Finding) -> list[str]:
    fix = finding.fix
    if fix is None or fix.safe or fix.name is None:
        return []
    return [fix.name] if finding.doi is None or _key(finding.doi) is None else [finding.doi, fix.name]


def _key(name: str | None) -> str | None:
    try:
        return None if name is None else DOI(name).key
    except DOISyntaxError:
        return None


def fix_files(
    contents: Sequence[Content],
    reports: Sequence[FileReport],
    statuses: Mapping[str, str] | None,
    config: Config,
    *,
    unsafe: bool = False,
    dry: bool = False,
) -> Iterator[Fixed]:
    """Yield what became of each file, in order.

    :param contents: the files.
    :param reports: what was found in them.
    :param statuses: what is known about their DOIs, by key.
    :param config: the configuration.
    :param unsafe: apply unsafe fixes, too: the registry is asked about their names.
    :param dry: leave all files as they are.
    """
    policy = FixPolicy(partial(_ask, config) if unsafe else None)
    # all names in one request, before the first file is fixed
    policy.look_up(finding for report in reports for finding in report.findings)
    for content, report in zip(contents, reports, strict=True):
        if not any(map(policy.allows, report.findings)):
            yield Fixed(report)
            continue
        try:
            source = content.read()
            fixed = mend(source, config, statuses, policy)
            if fixed.after is not None and not dry and fixed.applied and content.content is None:
                replace_file(
                    content.path, fixed.after.to_bytes(fixed.after.text), source.to_bytes(source.text)
                )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            fixed = Fixed(report._replace(problem=f"not fixed: {reason}"))
        yield fixed


def _ask(config: Config, names: Sequence[str]) -> Mapping[str, str]:
    from doiuri_cli.registry._check import check_names  # imports the network part

    return check_names(names, config).statuses


def mend(source: Source, config: Config, statuses: Mapping[str, str] | None, policy: FixPolicy) -> Fixed:
    """Return a file with its fixes, as far as they can be proved.

    :param source: the file.
    :param config: the configuration.
    :param statuses: the status of each DOI by its key, for the report.
    :param policy: decides about unsafe fixes.
    """
    before, count = source, 0
    report = examine(source, config, statuses)
    for _ in range(_MOST_ROUNDS):
        policy.look_up(report.findings)
        allowed = [one.fix for one in report.findings if one.fix is not None and policy.allows(one)]
        refused: dict[Fix, str] = {}
        fixes = _proved(source, compatible(allowed), refused)
        if not fixes:
            left = (one._replace(fix=None) if one.fix in refused else one for one in report.findings)
            reason = next(reversed(refused.values()), None)
            return Fixed(report._replace(findings=tuple(left)), before, source, count, reason)
        source = prove(source, fixes)
        count += len(fixes)
        report = examine(source, config, statuses)
    return Fixed(report, before, source, count)


def _proved(
    source: Source, fixes: Sequence[Fix], refused: dict[Fix, str], kept: Sequence[Fix] = ()
) -> Sequence[Fix]:
    """Return ``kept`` and each fix that can be proved with those before it; add the others to ``refused``."""
    try:
        if fixes:
            prove(source, [*kept, *fixes])
    except ProofError as error:
        if len(fixes) == 1:
            refused[fixes[0]] = str(error)
            return kept
        middle = len(fixes) // 2  # one by one would take quadratic time
        kept = _proved(source, fixes[:middle], refused, kept)
        return _proved(source, fixes[middle:], refused, kept)
    return [*kept, *fixes]


def compatible(fixes: Iterable[Fix]) -> list[Fix]:
    """Return the fixes that do not overlap or touch, in order: of two that do, the first."""
    chosen: list[Fix] = []
    for fix in sorted(fixes, key=lambda fix: (fix.start, fix.end)):
        if not chosen or fix.start > chosen[-1].end:
            chosen.append(fix)
    return chosen


def apply(text: str, fixes: Sequence[Fix]) -> str:
    """Return the text with all fixes applied.

    :param text: the text of the file.
    :param fixes: the fixes, in order and without overlaps.
    """
    parts: list[str] = []
    position = 0
    for fix in fixes:
        parts += text[position : fix.start], fix.replacement
        position = fix.end
    return "".join([*parts, text[position:]])


def prove(source: Source, fixes: Sequence[Fix]) -> Source:
    """Return the file with the fixes, read again: the same DOIs are in it in the same order.

    :param source: the file.
    :param fixes: the fixes, in order and without overlaps.
    :raises ProofError: if the encoding cannot represent the text, or if the reader reads other parts or other
        DOIs, or in another order.
    """
    text = apply(source.text, fixes)
    try:
        again = Source.from_bytes(source.path, source.to_bytes(text))
    except UnicodeError:
        raise ProofError(f"the encoding {source.encoding} cannot represent the fixed text") from None
    if again.text != text or (again.encoding, again.mark) != (source.encoding, source.mark):
        raise ProofError("the fixed text would be read in another encoding")
    try:
        (kinds, before), (kinds_after, after) = _reading(source), _reading(again)
    except Exception as error:  # noqa: BLE001 - readers may be others'
        raise ProofError(f"the fixed text could not be read: {type(error).__name__}: {error}") from None
    if kinds != kinds_after:
        raise ProofError("the fixed text has other parts")
    expected, names = _expected(before, fixes), [name for name, _, _ in after]
    if expected != names:
        differing = ((one, other) for one, other in zip(expected, names, strict=False) if one != other)
        what = next((f": {other or 'none'} instead of {one or 'none'}" for one, other in differing), "")
        raise ProofError(f"the fixed text would mention other DOIs{what}")
    return again


def _reading(source: Source) -> tuple[list[tuple[object, ...]], list[tuple[str | None, int, int]]]:
    """Return the kinds of a file's parts, and the mentions: the name, or None, and where each stands."""
    kinds: list[tuple[object, ...]] = []
    mentions: list[tuple[str | None, int, int]] = []
    for part in parts_of(source):
        kinds.append((part.syntax, part.cell, part.entry, part.field, part.ignored))
        for doi, span in ((one.doi, one.span) for one in mentions_in(part)):
            mentions += [(doi.name if doi else None, *part.span(*span))]
    if type_of(source.path) == "yaml":
        from doiuri_cli.readers._yaml import outline

        kinds += outline(source.text)
    return kinds, mentions


def _expected(mentions: Sequence[tuple[str | None, int, int]], fixes: Sequence[Fix]) -> list[str | None]:
    """Return the names after the fixes: those before, but for those that a fix changes on purpose."""
    names = [name for name, _, _ in mentions]
    for fix in fixes:
        touched = (n for n, (_, start, end) in enumerate(mentions) if start <= fix.end and fix.start <= end)
        if fix.name is not None and (first := next(touched, None)) is not None:
            names[first] = fix.name
    return names
