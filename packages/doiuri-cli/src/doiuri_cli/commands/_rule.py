"""``doiuri rule``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from doiuri_cli._config import hint
from doiuri_cli.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doiuri_cli.rules import Rule

_FIXES = {
    "safe": "doiuri fix, which keeps the DOI",
    "unsafe": "doiuri fix --unsafe-fixes, if the DOI is not found and the corrected one is",
    "": "none",
}


def _complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    return [code for code in RULES if code.startswith(incomplete)]


@click.command()
@click.argument("code", required=False, shell_complete=_complete)
@click.option("--all", "everything", is_flag=True, help="Explain every code.")
@click.option(
    "-o",
    "--output-format",
    "output",
    type=click.Choice(["text", "json"]),
    default="text",
    help="Format of the explanation: text by default.",
)
def rule(code: str | None, everything: bool, output: str) -> None:
    """Explain a code: what it reports and why, with an example."""
    if everything == (code is not None):
        raise click.UsageError("expected a code, or --all; doiuri rule --all lists every code")
    rules = list(RULES.values()) if code is None else [_named(code)]
    if output == "json":
        click.echo(_json(rules, one=code is not None))
    else:
        click.echo("\n\n".join(map(_text, rules)))


def _named(code: str) -> Rule:
    """Return the rule of a code.

    :raises click.UsageError: if there is none; it names the code that is most like it, or all.
    """
    if code in RULES:
        return RULES[code]
    raise click.UsageError(f"{code!r} is not a code{hint(code.lower().replace('_', '-'), RULES)}")


def _text(rule: Rule) -> str:
    lines = [f"{rule.code} ({rule.severity.label})", "", *_wrapped(f"{rule.summary} {rule.reason}")]
    lines += ["", "Example:", *_indented(rule.example)]
    if rule.instead:
        lines += ["Write:", *_indented(rule.instead)]
    return "\n".join([*lines, "", f"Fix: {_FIXES[rule.fix]}"])


def _wrapped(text: str) -> list[str]:
    from textwrap import wrap

    return wrap(text, 80, break_long_words=False, break_on_hyphens=False)


def _indented(text: str) -> list[str]:
    return [f"    {line}" for line in text.splitlines()]


def _json(rules: Iterable[Rule], *, one: bool) -> str:
    from json import dumps

    values = [rule._asdict() | {"severity": rule.severity.label, "fix": rule.fix or None} for rule in rules]
    return dumps(values[0] if one else values, indent=2)
