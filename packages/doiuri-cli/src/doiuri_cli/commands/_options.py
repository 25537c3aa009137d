"""Options that several commands share, and the configuration and files that they mean."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click

from doiuri_cli._config import COLUMNS, FAIL_ON, OPTIONS, SEARCH, Config, read_config, with_folder
from doiuri_cli.commands import write_message
from doiuri_cli.files._select import (
    STDIN,
    Filter,
    GitError,
    Selection,
    changed_files,
    select,
    select_changed,
)
from doiuri_cli.readers import configure, is_read

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

F = TypeVar("F", bound="Callable[..., object]")

_TABLE = {**OPTIONS, "columns": COLUMNS, "search": SEARCH}
_LAST_COMMIT = "\0"  # --changed without a value


def _decorate(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds several options, which the help lists in this order."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def option(name: str, metavar: str | None = None, *words: str) -> Callable[[F], F]:
    """Return the option of the command line for one of the table; ``make_config`` checks its value.

    :param words: how it is written, if not like its name in the table.
    """
    declared = _TABLE[name]
    is_flag = isinstance(declared.default, bool)
    described = replace(declared, default=None) if is_flag else declared  # "(False)" says nothing
    takes_several = declared.default == () or name == "select"  # whose default, all codes, is None
    return click.option(
        *(words or [f"--{name}"]),
        metavar=metavar,
        is_flag=is_flag,
        multiple=takes_several,
        default=None,
        help=f"{described.describe()}.",
    )


columns_option = option("columns", "NAME,…")  # the option that limits reading to columns

_file_options = _decorate(
    click.argument("paths", nargs=-1, type=click.Path(path_type=str)),
    option("exclude", "PATTERN"),
    option("force-exclude"),
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
        """Call the function with what click has read, the options that choose files as one argument."""
        return function(FileOptions(paths, files_from, changed, stdin_filename, jobs), **others)

    return _file_options(command)


config_options = _decorate(
    click.option("--config", "config_file", metavar="FILE", help="The configuration file to read."),
    click.option("--isolated", is_flag=True, help="Read no configuration file."),
)
"""The options that choose the configuration."""

code_options = _decorate(
    option("select", "CODE"), option("ignore", "CODE"), option("fail-on", f"[{'|'.join(FAIL_ON)}]")
)
"""The options that choose findings."""

registry_options = _decorate(
    option("resolver", "URL"),
    option("offline", None, "--offline/--online"),
    option("cache", "PATH"),
)
"""The options for the registry: which resolver, whether to send requests, and the cache."""

lock_options = _decorate(option("lock", "FILE"), option("locked"))
"""The options for the lock file."""


def make_config(config_file: str | None, *, isolated: bool = False, **options: object) -> Config:
    """Return the configuration: the options, and for those left out the environment, else the file.

    :param options: values by the names of the fields of ``Config``, as written; None or empty: not given.
    :raises ValueError: if an option, a variable or the file is wrong; the message begins with its name.
    """
    values = read_config(config_file, isolated=isolated)
    for declared in _TABLE.values():
        is_set = declared.variable is not None and bool(os.environ.get(declared.variable))
        # A variable takes precedence over the file, which a stranger may have written
        if is_set and options.get(declared.name) is None:
            values[declared.name] = declared.read({})

    for name, value in options.items():
        if value is None or value == ():
            continue
        key = name.replace("_", "-")
        checked = _TABLE[key].read({f"--{key}": value}, "--")
        new = with_folder(key, checked, os.getcwd())  # noqa: PTH109
        values[name] = _merged(name, values.get(name), new)

    config = Config(**values)  # type: ignore[arg-type]
    config = config._replace(lock=config.lock or None)  # "" means none
    configure(config.extensions, config.columns)
    if config.locked and config.lock is None:
        raise ValueError(
            "--locked needs a lock file; write one with doiuri lock, or name it with --lock"
        )
    if config.locked and config.search:
        raise ValueError(
            "--locked sends no requests, so that --search cannot search; leave one out"
        )
    return config


def _merged(name: str, old: object, new: object) -> object:
    """Return a new value in place of the file's, or added to it if it is patterns or codes to leave out."""
    match name, old, new:
        case "exclude", tuple(), tuple():
            return old + new
        case "ignore", frozenset(), frozenset():
            return old | new
    return new


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
        paths = list(self.paths)
        if self.files_from is not None:
            paths += _listed(self.files_from)
        elif not paths:  # a list without paths means no files, and not the current folder
            paths.append(os.curdir)
        if STDIN in paths and self.files_from == STDIN:
            raise click.UsageError("standard input cannot be both a file and a list of files")
        wanted = Filter(
            is_read, config.include, config.exclude, config.max_size, config.force_exclude
        )
        if self.changed is None:
            selection = select(paths, wanted)
        else:
            reference = None if self.changed == _LAST_COMMIT else self.changed
            try:
                selection = select_changed(changed_files(reference), paths, wanted)
            except GitError as error:
                raise click.ClickException(str(error)) from None
        for path, reason in selection.left_out:
            write_message(path, f"left out: {reason}")
        return selection

    def located(self, config: Config, selection: Selection) -> Config:
        """Return the configuration with what is searched: the current folder, and what the command line names.

        With ``--force-exclude``, which is for hooks, the named files do not count: a hook names whatever has
        changed, and test data among it stays test data.
        """
        here = os.getcwd()  # noqa: PTH109 - as the others, a str
        searched = {here}
        for folder in selection.folders:  # a list of paths may name some, too
            if not Path(folder).is_relative_to(here):
                searched.add(folder)
        if not config.force_exclude:
            named = [path for path in self.paths if path != STDIN]
            if self.stdin_filename is not None:
                named.append(self.stdin_filename)
            searched.update(map(os.path.abspath, named))
        return config._replace(searched=frozenset(searched))


def _listed(file: str) -> list[str]:
    """Return the paths that a file or standard input lists, separated by NUL if it contains any, else by lines.

    :raises click.ClickException: if it cannot be read.
    """
    try:
        content = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
    except OSError as error:
        raise click.ClickException(f"{file}: {error.strerror or error}") from None
    names = content.split(b"\0") if b"\0" in content else content.splitlines()
    return [os.fsdecode(name) for name in names if name]
