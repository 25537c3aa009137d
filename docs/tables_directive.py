"""What the packages declare, as tables: ``doiuri-codes``, ``doiuri-options`` and ``doiuri-commands``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click
from doiuri.plugins.options import OPTIONS
from doiuri_cli._main import COMMANDS, doiuri
from doiuri_cli.rules import RULES
from markdown_doiuri._mkdocs._plugin import BUDGET as MKDOCS_BUDGET
from markdown_doiuri._options import BUDGET as MARKDOWN_BUDGET
from markdown_doiuri._options import OWN
from sphinx.util.docutils import SphinxDirective
from sphinx.util.rst import escape
from sphinx_doiuri._config import BUDGET, LOCK_NAME, SWITCHES

if TYPE_CHECKING:
    from docutils import nodes
    from doiuri.plugins.options import Option
    from doiuri_cli.rules import Rule
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

FIXES = {
    "safe": "``doiuri fix`` corrects it; the DOI stays the same.",
    "unsafe": "``doiuri fix --unsafe-fixes`` corrects it if only the corrected DOI is registered.",
    "": "",
}
TABLE = [".. list-table::", "   :class: stacked", "   :header-rows: 1", ""]
TABLES = {"all": OPTIONS, "Sphinx": SWITCHES, "Markdown": OWN}
# Defaults that differ between hosts, or need words
DEFAULTS = {
    "budget": f"2; Markdown {MARKDOWN_BUDGET}, Sphinx {BUDGET:g}, MkDocs {MKDOCS_BUDGET:g}",
    "cache": "``DOIURI_CACHE``, else the user's cache folder",
    "citation": "as in the style",
    "reference_style": '``"author-date"``',
    "reference_locale": '``"en-US"``; Sphinx the language of the project',
    "lock": f'none; Sphinx ``"{LOCK_NAME}"``',
    "warn": "the logger ``doiuri`` warns",
}


class Codes(SphinxDirective):
    """A table of all codes, then a section for each."""

    def run(self) -> list[nodes.Node]:
        """Return the table and the sections."""
        lines = [*TABLE, *row("code", "severity", "fix", "meaning")]
        for rule in RULES.values():
            code = f":ref:`{rule.code} <code-{rule.code}>`"
            fix = f"{rule.fix or 'no'} fix"
            lines += row(code, rule.severity.label, fix, rst(rule.summary))
        for rule in RULES.values():
            lines += section(rule)
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


class Options(SphinxDirective):
    """The options of all plugins, or those that only one has."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        (table,) = self.arguments
        prefix = "doi_" if table == "Sphinx" else ""
        lines = [*TABLE, *row("option", "default", "meaning")]
        for option in TABLES[table]:
            value = DEFAULTS.get(option.name) or default(option)
            lines += row(f"``{prefix}{option.name}``", value, rst(option.help))
        return self.parse_text_to_nodes("\n".join(lines))


class Commands(SphinxDirective):
    """A table of the subcommands of ``doiuri``, and one of their options, as ``--help`` describes them."""

    def run(self) -> list[nodes.Node]:
        """Return the tables."""
        commands = [*TABLE, *row("command", "what it does")]
        uses: dict[tuple[str, str], list[str]] = {}  # of an option with the same help: its commands
        for name in COMMANDS:
            context = click.Context(doiuri)
            command = doiuri.get_command(context, name) or doiuri
            summary = (command.help or "").partition("\n\n")[0].replace("\n", " ")
            commands += row(f"``doiuri {name}``", escape(summary))
            for parameter in command.params:
                record = parameter.get_help_record(context)
                if isinstance(parameter, click.Option) and record is not None:
                    uses.setdefault(record, []).append(name)

        options = ["", *TABLE, *row("option", "of", "meaning")]
        for (option, text), names in sorted(uses.items(), key=_by_letters):
            options += row(f"``{option}``", ", ".join(names), _with_literals(text))
        return self.parse_text_to_nodes("\n".join(commands + options))


def _by_letters(use: tuple[tuple[str, str], list[str]]) -> str:
    """Return the option without its hyphens, to sort by."""
    (option, _text), _names = use
    return option.lstrip("-").lower()


def _with_literals(text: str) -> str:
    """Return a text of ``--help`` in reStructuredText, its options as literals."""
    parts = re.split(r"((?<![\w-])--?[a-z][\w-]*)", text)
    parts[::2] = map(escape, parts[::2])
    parts[1::2] = [f"``{option}``" for option in parts[1::2]]
    return "\\ ".join(parts).replace("\\  ", " ").replace(" \\ ", " ")


def default(option: Option) -> str:
    """Return the default of an option, and its environment variable, in reStructuredText."""
    if option.default is None:
        value = "none"
    elif isinstance(option.default, bool):
        value = "on" if option.default else "off"
    else:
        value = f"``{option.default!r}``".replace("'", '"')
    if option.variable is None:
        return value
    return f"``{option.variable}``, else {value}"


def row(*cells: str) -> list[str]:
    """Return the lines of a row."""
    first, *others = cells
    return [f"   * - {first}", *(f"     - {cell}" for cell in others)]


def section(rule: Rule) -> list[str]:
    """Return the lines of the section about a rule."""
    severity = rule.severity.label.capitalize()
    lines = ["", f".. _code-{rule.code}:", "", rule.code, "-" * len(rule.code), ""]
    lines += [f"*{severity}.* {rst(rule.summary)} {rst(rule.reason)}", ""]
    lines += ["Example:", "", *literal(rule.example)]
    if rule.instead:
        lines += ["Write:", "", *literal(rule.instead)]
    return [*lines, FIXES[rule.fix]]


def literal(text: str) -> list[str]:
    """Return the lines of a literal block."""
    return [".. code-block:: text", "", *(f"   {line}" for line in text.splitlines()), ""]


def rst(text: str) -> str:
    """Return a text with its literals in reStructuredText."""
    return text.replace("`", "``")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directives."""
    app.add_directive("doiuri-codes", Codes)
    app.add_directive("doiuri-commands", Commands)
    app.add_directive("doiuri-options", Options)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
