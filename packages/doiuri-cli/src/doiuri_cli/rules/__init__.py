"""The rules: what a finding is, which codes there are, and what each looks at."""

from doiuri_cli.rules._codes import LOCK_CODES, RECORD_CODES, RULES, Rule, Severity
from doiuri_cli.rules._finding import Finding, Fix, finding_at, fix_at

__all__ = [
    "LOCK_CODES",
    "RECORD_CODES",
    "RULES",
    "Finding",
    "Fix",
    "Rule",
    "Severity",
    "finding_at",
    "fix_at",
]
