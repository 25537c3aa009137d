"""The configuration: what the command line, the configuration file and the environment say."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.rules import LOCK_CODES, RECORD_CODES, RULES

if TYPE_CHECKING:
    from doiuri_cli.files import Patterns
    from doiuri_cli.rules import Finding

    Codes = frozenset[str]

LOCK_NAME = "doi.lock.json"
"""The lock file that is used if it exists and no other is named."""

FAIL_ON = ("error", "warning", "never")
TEX_ESCAPE = ("any", "raw", "escape")


class ConfigError(ValueError):
    """The configuration is wrong; the message says where."""


class Config(NamedTuple):
    """What to check, and how.

    :ivar include: if there are any, a file in a folder must match one of them.
    :ivar exclude: files and folders to leave out.
    :ivar force_exclude: whether ``exclude`` is for named files, too.
    :ivar select: the codes to report; None: all.
    :ivar ignore: the codes not to report.
    :ivar ignored_dois: the codes not to report of DOIs that match a pattern; ``*`` in it is any text.
    :ivar per_file_ignores: the codes not to report in files that match a pattern.
    :ivar fail_on: findings of this severity or worse make the exit code 1: "error", "warning" or "never".
    :ivar max_size: files in folders are read up to this size, in bytes.
    :ivar tex_escape: how DOI fields of BibTeX have to write ``_``: "raw", "escape" or "any".
    :ivar records: whether to compare entries with the registry's metadata.
    :ivar lock: the path of the lock file; None: none.
    :ivar locked: whether all answers have to come from the lock file.
    :ivar resolver: URL of the resolver; None: ``DOIURI_RESOLVER`` or https://doi.org.
    :ivar offline: send no requests; None: what ``DOIURI_OFFLINE`` says.
    :ivar mailto: mail address for the User-Agent header; None: ``DOIURI_MAILTO``.
    :ivar cache: path or URL of the store; None: ``DOIURI_CACHE`` or the user's cache folder.
    :ivar timeout: seconds for one request.
    :ivar budget: seconds for all requests; None: no limit.
    :ivar rate: requests per second; None: the resolver's default.
    """

    include: tuple[Patterns, ...] = ()
    exclude: tuple[Patterns, ...] = ()
    force_exclude: bool = False
    select: Codes | None = None
    ignore: Codes = frozenset()
    ignored_dois: tuple[tuple[str, Codes], ...] = ()
    per_file_ignores: tuple[tuple[Patterns, Codes], ...] = ()
    fail_on: str = "error"
    max_size: int = 50_000_000
    tex_escape: str = "any"
    records: bool = False
    lock: str | None = None
    locked: bool = False
    resolver: str | None = None
    offline: bool | None = None
    mailto: str | None = None
    cache: str | None = None
    timeout: float = 10.0
    budget: float | None = None
    rate: float | None = None

    @property
    def needs_lock(self) -> bool:
        """Whether the lock file has to have all DOIs: nobody else is asked."""
        return self.lock is not None and bool(self.locked or self.offline)

    @property
    def codes(self) -> Codes:
        """The codes that are checked."""
        codes = frozenset(RULES) if self.select is None else self.select
        if not self.needs_lock:
            codes -= LOCK_CODES
        if not self.records:
            codes -= RECORD_CODES
        return codes - self.ignore

    def codes_for(self, path: str) -> Codes:
        """Return the codes that are checked in a file."""
        codes = self.codes
        if self.per_file_ignores:
            absolute = os.path.abspath(path)  # noqa: PTH100 - links are not followed
            for patterns, ignored in self.per_file_ignores:
                if patterns.match(absolute):
                    codes -= ignored
        return codes

    def ignores(self, finding: Finding) -> bool:
        """Return whether a finding is ignored because of its DOI."""
        return finding.doi is not None and any(
            finding.code in codes and _pattern(pattern).fullmatch(finding.doi)
            for pattern, codes in self.ignored_dois
        )


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    """Return the expression for a pattern of names: ASCII letters match in upper and lower case."""
    text = ".*".join(map(re.escape, pattern.split("*")))
    return re.compile(text, re.DOTALL | re.IGNORECASE)
