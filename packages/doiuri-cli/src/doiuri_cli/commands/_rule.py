"""``doiuri rule``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from doiuri.plugins.options import hint

from doiuri_cli.commands import Command
from doiuri_cli.rules import RULES, SEARCH_CODES

if TYPE_CHECKING:
    from doiuri_cli.rules import Rule

_FIXES = {
    "safe": "doiuri fix, which keeps the DOI",
    "unsafe": "doiuri fix --unsafe-fixes, if the DOI is not found and the corrected one is",
    "": "none",
}
_FIX_OF_SEARCH = "doiuri fix --search --unsafe-fixes, if the DOI is registered"


def _complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    return [code for code in RULES if code.startswith(incomplete)]


@click.command(cls=Command)
@click.argument("code", required=False, shell_complete=_complete)
def rule(code: str | None) -> None:
    """Explain a code: what it reports and why, with an example. Without a code, list them."""
    if code is None:
        width = max(map(len, RULES))
        for listed in RULES.values():
            click.echo(f"{listed.code:{width}}  {listed.severity.label:7}  {listed.summary}")
        return
    if code not in RULES:
        as_codes_are_written = code.lower().replace("_", "-")
        raise click.UsageError(f"{code!r} is not a code{hint(as_codes_are_written, RULES)}")
    click.echo(_text(RULES[code]))


def _text(rule: Rule) -> str:
    """Return the explanation of a rule: its heading, summary and reason, an example, and how to fix it."""
    from textwrap import wrap

    words = wrap(
        f"{rule.summary} {rule.reason}", 80, break_long_words=False, break_on_hyphens=False
    )
    lines = [f"{rule.code} ({rule.severity.label})", "", *words]
    lines += ["", "Example:", *_indented(rule.example)]
    if rule.instead:
        lines += ["Write:", *_indented(rule.instead)]
    is_added = rule.code in SEARCH_CODES and rule.fix != ""
    fix = _FIX_OF_SEARCH if is_added else _FIXES[rule.fix]
    return "\n".join([*lines, "", f"Fix: {fix}"])


def _indented(text: str) -> list[str]:
    return [f"    {line}" for line in text.splitlines()]
