"""All codes, with what ``doiuri rule`` and the manual say about them."""

from __future__ import annotations

from doiuri_cli.rules._advice_rules import ADVICE_RULES
from doiuri_cli.rules._rule import Rule, Severity

_LINK_RULES = (
    Rule(
        "syntax",
        Severity.ERROR,
        "Text in the place of a DOI is not a DOI.",
        "A field for a DOI, or a `doi:` link, holds text that is not a valid DOI. It cannot be resolved.",
        "doi = {1000/182}",
        "doi = {10.1000/182}",
        "unsafe",
    ),
    Rule(
        "not-found",
        Severity.ERROR,
        "The DOI is not registered.",
        "The registry answered that the DOI does not exist. The name is misspelt, or it was never "
        "registered. A DOI is not reported if the registry cannot be reached.",
        "https://doi.org/10.5555/no-such-name",
    ),
    Rule(
        "not-https",
        Severity.WARNING,
        "A link uses http or an old host.",
        "The DOI Foundation recommends `https://doi.org/`. The hosts `dx.doi.org` and `www.doi.org` only "
        "redirect, and http can be altered on the way.",
        "http://dx.doi.org/10.1000/182",
        "https://doi.org/10.1000/182",
        "safe",
    ),
    Rule(
        "field-form",
        Severity.WARNING,
        "A field for a DOI holds a link or a label.",
        "Programs that read the field put `https://doi.org/` in front of it, and the link is then broken. "
        "The field should hold only the name.",
        "doi = {https://doi.org/10.1000/182}",
        "doi = {10.1000/182}",
        "safe",
    ),
    Rule(
        "doubled",
        Severity.WARNING,
        "The label or the address of the resolver occurs twice.",
        "A program put it in front of text that already had it. The link is broken.",
        "https://doi.org/https://doi.org/10.1000/182",
        "https://doi.org/10.1000/182",
        "safe",
    ),
    Rule(
        "raw-link",
        Severity.WARNING,
        "A link holds a character that must be escaped.",
        "In a link, `#` and `?` end the name, and `<`, `>` or a space end the link itself in most "
        "formats. Escaped, they belong to the name. Only the registry knows whether a `#` or `?` belongs "
        "to the name: `--unsafe-fixes` escapes it if the longer name exists.",
        '<a href="https://doi.org/10.1002/(SICI)1522-2594(199911)42:5<952::AID-MRM16>3.0.CO;2-S">',
        '<a href="https://doi.org/10.1002/(SICI)1522-2594(199911)42:5%3C952::AID-MRM16%3E3.0.CO;2-S">',
        "safe",
    ),
    Rule(
        "text-differs",
        Severity.WARNING,
        "The text and the target of a link are different DOIs.",
        "The reader sees one DOI and gets another. Probably one of them was changed and the other was not.",
        "[10.1000/182](https://doi.org/10.1000/183)",
        "[10.1000/182](https://doi.org/10.1000/182)",
    ),
    Rule(
        "duplicate",
        Severity.WARNING,
        "Two entries of a bibliography have the same DOI.",
        "One work is listed twice, or an entry was copied and its DOI was not replaced.",
        "@article{kahn, doi = {10.1000/182}}\n@article{kahn2006, doi = {10.1000/182}}",
    ),
)

_COMMENT_RULES = (
    Rule(
        "unused-ignore",
        Severity.WARNING,
        "A comment ignores a code that is not reported there.",
        "The finding is gone, so the comment can go. Left in place, it would hide the next finding.",
        "<!-- doiuri: ignore[not-found] --> https://doi.org/10.1000/182",
        "https://doi.org/10.1000/182",
    ),
)

_WITH_LOCK = "Reported only with `--locked`, or with `--offline` if there is a lock file."
_LOCK_RULES = (
    Rule(
        "lock-missing",
        Severity.WARNING,
        "The lock file has no entry for the DOI.",
        "`doiuri lock` adds the entry. " + _WITH_LOCK,
        "https://doi.org/10.1000/182",
    ),
    Rule(
        "lock-unused",
        Severity.WARNING,
        "An entry of the lock file is not used.",
        "No file mentions the DOI any more. `doiuri lock --prune` removes the entry. " + _WITH_LOCK,
        '"10.1000/182": {}',
    ),
)

_RECORD_RULES = (
    Rule(
        "title-differs",
        Severity.WARNING,
        "The title of the entry differs from that of the registered work.",
        "The DOI probably belongs to another work. Case, markup, accents, punctuation and subtitles are not "
        "compared, and a title may be cut after 15 letters. Other titles count as the same if four fifths of "
        "the letters, in order, and all numbers, such as those of parts, are the same. Titles in different "
        "scripts are not compared. Reported with `--records` only.",
        "title = {Kant und die Epigonen}, doi = {10.1000/182}",
    ),
    Rule(
        "year-differs",
        Severity.WARNING,
        "The year of the entry differs from that of the registered work.",
        "The year is wrong, or the DOI belongs to another edition. A difference of one year is not reported: "
        "the registry often has the year of online publication, and the entry the year of the printed issue. "
        "Reported with `--records` only.",
        "year = {1806}, doi = {10.1000/182}",
    ),
    Rule(
        "author-differs",
        Severity.WARNING,
        "The first author of the entry differs from that of the registered work.",
        "The DOI probably belongs to another work. The family names are compared, without accents, particles "
        "and suffixes. One of two family names may be missing, and family and given names may be swapped. An "
        "editor counts as an author. A person and an institution are not compared. Reported with `--records` "
        "only.",
        "author = {Smith, Jane}, doi = {10.1000/182}",
    ),
    Rule(
        "retracted",
        Severity.WARNING,
        "The work is retracted.",
        "The registered metadata says so: in Crossref's `updated-by`, or by a word such as RETRACTED before "
        "the title. Cite the retraction notice, or leave the work out. Reported with `--records` only.",
        "doi = {10.5555/retracted}",
    ),
)

RULES = {
    rule.code: rule for rule in (*_LINK_RULES, *ADVICE_RULES, *_COMMENT_RULES, *_LOCK_RULES, *_RECORD_RULES)
}
"""The rules by code, in the order of the manual."""

LOCK_CODES = frozenset(rule.code for rule in _LOCK_RULES)
"""The codes that are checked only if there is a lock file and nobody else is asked."""

RECORD_CODES = frozenset(rule.code for rule in _RECORD_RULES)
"""The codes that are checked only against the registry's metadata."""
