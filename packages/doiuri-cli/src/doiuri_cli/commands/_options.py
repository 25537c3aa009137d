"""Options that several commands share, and the configuration and files that they mean."""

from __future__ import annotations

import os
import sys
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click

from doiuri_cli._config import CHECKS, FAIL_ON, Config, check_columns, read_config
from doiuri_cli.commands._outcome import write_message
from doiuri_cli.files._git import GitError, changed_files
from doiuri_cli.files._select import STDIN, Filter, Selection, select, select_changed
from doiuri_cli.readers import configure, is_read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

F = TypeVar("F", bound="Callable[..., object]")

_LAST_COMMIT = "\0"  # --changed without a value


def _decorate(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def _checked(_ctx: click.Context, param: click.Parameter, value: object) -> object:
    """Return a value, checked as in the configuration file."""
    if value in (None, ()):
        return value
    try:
        name = str(param.name).replace("_", "-")
        return CHECKS[name](list(value) if isinstance(value, tuple) else value, os.getcwd())  # noqa: PTH109
    except (TypeError, ValueError) as error:
        raise click.BadParameter(str(error)) from None


def _codes(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> object:
    return _checked(
        ctx, param, [word.strip() for value in values for word in value.split(",") if word.strip()]
    )


columns_option = click.option(
    "--columns", multiple=True, callback=lambda _ctx, _param, values: check_columns(values),
    metavar="NAME[:KIND],…",
    help="Read only these columns of CSV and TSV, and keys of JSON and YAML.",
)  # fmt: skip
"""The option that limits reading to columns."""

_file_options = _decorate(
    click.argument("paths", nargs=-1, type=click.Path(path_type=str)),
    click.option("--include", multiple=True, callback=_checked, metavar="PATTERN",
                 help="In folders, read only files that match; patterns as in .gitignore."),
    click.option("--exclude", multiple=True, callback=_checked, metavar="PATTERN",
                 help="In folders, leave out files and folders that match; patterns as in .gitignore."),
    click.option("--force-exclude", is_flag=True, default=None,
                 help="Also leave out named files and folders that match --exclude; for hooks."),
    click.option("--files-from", metavar="FILE",
                 help="Read more paths from a file or standard input (-), separated by line ends or NUL."),
    click.option("--changed", is_flag=False, flag_value=_LAST_COMMIT, metavar="[REF]",
                 help="Read only files that differ from a commit (HEAD by default) or are new to git."),
    click.option("--stdin-filename", metavar="NAME",
                 help="File name of standard input (-); its extension decides how it is read."),
    click.option("-j", "--jobs", type=click.IntRange(1), metavar="N",
                 help="The number of processes (one, or one for each processor if there is much to read)."),
)  # fmt: skip


def file_options(function: Callable[..., object]) -> Callable[..., object]:
    """Add the options that choose files; the command gets them as a ``FileOptions``, its first argument."""

    @wraps(function)
    def command(
        paths: Sequence[str],
        files_from: str | None,
        changed: str | None,
        stdin_filename: str | None,
        jobs: int | None,
        **others: object,
    ) -> object:
        return function(FileOptions(paths, files_from, changed, stdin_filename, jobs), **others)

    return _file_options(command)


config_options = _decorate(
    click.option("--config", "config_file", metavar="FILE", help="The configuration file to read."),
    click.option("--isolated", is_flag=True, help="Read no configuration file."),
)
"""The options that choose the configuration."""

code_options = _decorate(
    click.option("--select", multiple=True, callback=_codes, metavar="CODE",
                 help="Report only these codes, separated by commas."),
    click.option("--ignore", multiple=True, callback=_codes, metavar="CODE",
                 help="Do not report these codes, separated by commas."),
    click.option("--fail-on", type=click.Choice(FAIL_ON),
                 help="The lowest severity for which the exit code is 1 (error)."),
)  # fmt: skip
"""The options that choose findings."""


registry_options = _decorate(
    click.option("--resolver", metavar="URL", help="Base URL of the DOI proxy to query."),
    click.option("--offline/--online", default=None, help="Send no requests."),
    click.option("--cache", metavar="PATH", help="Path or URL of the cache."),
)  # fmt: skip
"""The options that say whom to ask, and how."""

lock_options = _decorate(
    click.option("--lock", metavar="FILE", help="The lock file (doi.lock.json, if it exists)."),
    click.option("--no-lock", is_flag=True, help="Use no lock file."),
    click.option("--locked", is_flag=True, default=None,
                 help="Send no requests: all answers have to come from the lock file."),
)  # fmt: skip
"""The options about the lock file."""


_VARIABLES = ("resolver", "offline", "mailto", "cache")  # as in doiuri.plugins, which is slow to import


def make_config(
    config_file: str | None, *, isolated: bool = False, no_lock: bool = False, **options: object
) -> Config:
    """Return the configuration: the options, and for those left out the environment, else the file.

    :param config_file: the file to read; None: the nearest one.
    :param isolated: read no file.
    :param no_lock: use no lock file.
    :param options: arguments of ``Config``; None or empty: not given.
    :raises ValueError: if the configuration is wrong.
    """
    values = read_config(config_file, isolated=isolated)
    values |= _settings(options, values)
    for name, value in options.items():
        if name in _VARIABLES or value is None or value in {(), frozenset()}:
            continue
        configured = values.get(name)
        if name == "exclude" and isinstance(configured, tuple) and isinstance(value, tuple):
            values[name] = configured + value
        elif name == "ignore" and isinstance(configured, frozenset) and isinstance(value, frozenset):
            values[name] = configured | value
        else:
            values[name] = value
    if no_lock:
        values["lock"] = None
    config = Config(**values)  # type: ignore[arg-type]
    configure(config.extensions, config.columns)
    if config.locked and config.lock is None:
        raise ValueError("--locked needs a lock file; write one with doiuri lock, or name it with --lock")
    return config


def _settings(options: Mapping[str, object], of_file: Mapping[str, object]) -> dict[str, object]:
    """Return the settings: the option, else the variable, else what a stranger may have put into the file.

    :raises ValueError: if one is wrong; the message begins with its name.
    """
    given: dict[str, Any] = {}
    for name in _VARIABLES:
        value, variable = options.get(name), os.environ.get(f"DOIURI_{name.upper()}")
        if value is None and not variable:
            value = of_file.get(name)
        if value is not None or variable:
            given[name] = value
    if not given:
        return {}
    from doiuri.plugins import Settings  # slow to import

    found = Settings.from_environ(**given)
    values = found.base, found.offline, found.mailto, found.cache
    return {name: value for name, value in zip(_VARIABLES, values, strict=True) if name in given}


class FileOptions(NamedTuple):
    """The values of ``file_options``, except those that ``Config`` holds."""

    paths: Sequence[str]
    files_from: str | None = None
    changed: str | None = None
    stdin_filename: str | None = None
    jobs: int | None = None

    def select(self, config: Config) -> Selection:
        """Return the files to read.

        :raises click.ClickException: if they cannot be determined.
        """
        paths = [*self.paths, *(_listed(self.files_from) if self.files_from is not None else ())]
        if self.files_from is None and not paths:
            paths = [os.curdir]
        if paths.count(STDIN) > 0 and self.files_from == STDIN:
            raise click.UsageError("standard input cannot be both a file and a list of files")
        wanted = Filter(is_read, config.include, config.exclude, config.max_size, config.force_exclude)
        try:
            selection = (
                select(paths, wanted)
                if self.changed is None
                else select_changed(
                    changed_files(None if self.changed == _LAST_COMMIT else self.changed), paths, wanted
                )
            )
        except GitError as error:
            raise click.ClickException(str(error)) from None
        for path, reason in selection.left_out:
            write_message(path, f"left out: {reason}")
        return selection


def _listed(file: str) -> list[str]:
    try:
        content = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
    except OSError as error:
        raise click.ClickException(f"{file}: {error.strerror or error}") from None
    names = content.split(b"\0") if b"\0" in content else content.splitlines()
    return [os.fsdecode(name) for name in names if name]
