"""Fingerprints: what tells a finding from others and stays the same if lines move."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING

from doiuri_cli.output._text import relative

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doiuri_cli.rules import Finding


def fingerprints(findings: Iterable[Finding]) -> Iterator[str]:
    """Return a fingerprint for each finding: a digest without the line number, and a count of equal ones."""
    seen: Counter[str] = Counter()
    for finding in findings:
        parts = relative(finding.path), finding.code, finding.doi or "", finding.excerpt.strip()
        digest = sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        seen[digest] += 1
        yield f"{digest}:{seen[digest]}"
