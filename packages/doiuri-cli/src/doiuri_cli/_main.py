"""The command ``doiuri``."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from io import TextIOWrapper
from typing import TYPE_CHECKING, NoReturn

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = ("cache", "check", "find", "fix", "lock", "resolve", "rule")

WRONG_USE = 2
"""The exit code after wrong use, a wrong configuration, a file that cannot be read, or any failure."""

_GARBAGE = 1_000_000  # objects between two collections: there are hardly any cycles

_INTERRUPTED = 130  # 128 + SIGINT, as shells say it
_BROKEN_PIPE = 141  # 128 + SIGPIPE


class Commands(click.Group):
    """The subcommands; each is imported when it is used."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names of the subcommands, for the help."""
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a subcommand; None if there is none of this name."""
        match cmd_name:
            case "cache":
                from doiuri_cli.commands._cache import cache as command
            case "check":
                from doiuri_cli.commands._check import check as command
            case "find":
                from doiuri_cli.commands._find import find as command
            case "fix":
                from doiuri_cli.commands._fix import fix as command
            case "lock":
                from doiuri_cli.commands._lock import lock as command
            case "resolve":
                from doiuri_cli.commands._resolve import resolve as command
            case "rule":
                from doiuri_cli.commands._rule import rule as command
            case _:
                return None
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the subcommand that the arguments name.

        :raises click.UsageError: if there is none; it names the most similar one, or all.
        """
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            from doiuri.plugins.options import hint  # rarely needed

            raise click.UsageError(f"{args[0]!r} is not a command{hint(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run a subcommand; end without a traceback if the user or the reader of the output stops it."""
        try:
            result: object = super().invoke(ctx)
            sys.stdout.flush()
        except KeyboardInterrupt:
            ctx.exit(_INTERRUPTED)
        except BrokenPipeError:
            _discard_output()
            ctx.exit(_BROKEN_PIPE)
        except OSError as error:  # such as a full disk
            _discard_output()
            raise click.ClickException(str(error)) from None
        except ValueError as error:  # names the option, the lock file or the bibliography
            raise click.ClickException(str(error)) from None
        return result


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="doiuri-cli", prog_name="doiuri")
def doiuri() -> None:
    """Check, fix and look up the DOIs of a whole tree."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and exit."""
    gc.set_threshold(_GARBAGE)
    _prepare_streams()
    try:
        code = doiuri.main(arguments, prog_name="doiuri", standalone_mode=False)
    except click.Abort:
        code = _INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        code = WRONG_USE
    except click.ClickException as error:
        _write_message(error.format_message())
        code = WRONG_USE
    except Exception as error:  # noqa: BLE001 - no memory, a defect: 1 would mean findings
        # A MemoryError, say, has no text
        _write_message(f"{type(error).__name__}: {error}".rstrip(": "))
        code = WRONG_USE
    sys.exit(code)


def _prepare_streams() -> None:
    """Escape what the encoding of the terminal lacks, and replace streams that are closed."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = _show_warning


def _show_warning(
    message: Warning | str, category: type[Warning], *_: object, **__: object
) -> None:
    """Show a warning of ours, such as that the cache cannot be written, as a message."""
    if category.__module__.partition(".")[0] == "doiuri":
        _write_message(str(message))


def _write_message(text: str) -> None:
    from doiuri_cli.output._report import visible

    click.echo(f"doiuri: {visible(text)}", err=True)


def _discard_output() -> None:
    """Redirect standard output to the null device, so that the flush at exit succeeds."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
