"""``doiuri lock``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import click
from doiuri import DOISyntaxError
from doiuri.plugins import parse_name

from doiuri_cli._config import default_lock
from doiuri_cli._run import Run, contents_of, mentioned, only_recorded, with_entry_keys
from doiuri_cli.commands import PROBLEM, Command, show_progress, write_notes, write_problems
from doiuri_cli.commands._options import config_options, file_options, make_config, registry_options
from doiuri_cli.output._report import recorded_line, visible
from doiuri_cli.registry import handle

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from doiuri import DOI
    from doiuri.resolver import LockContent, LockFile

    from doiuri_cli._config import Config
    from doiuri_cli._run import ShowProgress
    from doiuri_cli.commands._options import FileOptions
    from doiuri_cli.registry._lock_draft import Draft, Mention, Wanted

_DUE = 1  # the exit code of ``--check`` if the file would change


@dataclass(slots=True)
class Locking:
    """One run of the command; ``dois`` has the DOIs that the mentions in files mean, by their keys."""

    config: Config
    file: LockFile
    wanted: Wanted
    mentions: Sequence[Mention]
    dois: dict[str, DOI]
    progress: ShowProgress


@click.command(cls=Command)
@file_options
@click.option("--lock", metavar="FILE", help="The lock file (doi.lock.json).")
@click.option("--check", is_flag=True, help="Only say which changes are due; change no file.")
@click.option("--prune", is_flag=True, help="Drop DOIs that no file mentions.")
@click.option(
    "--refresh", is_flag=True, help="Look up all DOIs again, even those in the lock file."
)
@click.option(
    "--existence", is_flag=True, help="Lock only that DOIs exist, not their records; few requests."
)
@click.option("--works", is_flag=True, help="Also lock the works, which citations need.")
@click.option("--bib", metavar="FILE", help="Also write a BibTeX file whose keys are the DOIs.")
@click.option("--accept", metavar="NAME", help="Accept that this DOI does not exist.")
@click.option(
    "--reason", metavar="TEXT", help="Why the DOI is accepted; the lock file keeps the reason."
)
@registry_options
@config_options
@click.option("-q", "--quiet", is_flag=True, help="Write no progress and no summary.")
def lock(
    files: FileOptions,
    *,
    check: bool,
    prune: bool,
    refresh: bool,
    existence: bool,
    works: bool,
    bib: str | None,
    accept: str | None,
    reason: str | None,
    quiet: bool,
    **options: object,
) -> int:
    """Write the lock file: the registry's answers about the DOIs in files and folders.

    Sphinx, Markdown and doiuri check read it, and then need no network. Without PATHS, the current folder is
    read. Existing entries are kept; a DOI without an answer keeps its entry. Exit codes: 0 done, 1 with
    --check, changes are due, 2 a file or the configuration cannot be read, or a file cannot be written.
    """
    if prune and files.changed is not None:
        raise click.UsageError("--prune needs all files; leave out --changed")
    accepted = _accepted(accept, reason)
    config = make_config(locked=False, **options)  # type: ignore[arg-type]
    if config.resolver and not (options.get("resolver") or os.environ.get("DOIURI_RESOLVER")):
        raise click.ClickException(
            f"only a configuration file names {config.resolver}, and the answers in a lock file count for "
            "every resolver; name the resolver with --resolver or DOIURI_RESOLVER"
        )
    path = config.lock or default_lock(options["config_file"], isolated=options["isolated"])  # type: ignore[arg-type]
    if options["lock"] is None and os.path.islink(path):  # noqa: PTH114 - a stranger may have made it
        raise click.ClickException(f"{path} is a symbolic link; name its target with --lock")
    from doiuri.resolver import LockFile  # imports requests

    from doiuri_cli.registry._lock_draft import Wanted
    from doiuri_cli.registry._locked import read_lock

    if os.path.exists(path):  # noqa: PTH110
        read_lock(path)  # if it is none, the message says what to do
    file = LockFile(path)
    if bib is not None:
        _check_bib(bib, file)
    wanted = Wanted(not existence, works, refresh)
    selection = files.select(config)
    config = files.located(config, selection)
    paths = selection.paths
    if bib is not None:  # it is written below
        paths = [path for path in paths if os.path.abspath(path) != os.path.abspath(bib)]  # noqa: PTH100
    contents = contents_of(paths, files.stdin_filename, selection.named)
    config = with_entry_keys(config, contents)
    with show_progress(hidden=quiet) as progress:
        reports = Run(config, files.jobs, progress).read(contents)
        locking = Locking(config, file, wanted, mentioned(reports), {}, progress)
        is_broken = write_problems(selection, reports)
        is_plain = write_notes(reports)
        if prune and is_plain:
            click.echo("doiuri: --prune drops nothing: a file was read as plain text", err=True)
        prune = prune and not (is_broken or is_plain)
        recorded = only_recorded(reports)
        if recorded and not quiet:
            click.echo(recorded_line(recorded), err=True)
        due = _update(locking, accepted, check=check, prune=prune, quiet=quiet)
        if bib is not None:
            due |= _update_bib(locking, bib, check=check, prune=prune)
    if is_broken:
        return PROBLEM
    return _DUE if due else 0


def _accepted(name: str | None, reason: str | None) -> tuple[DOI, str] | None:
    """Return the DOI to accept and the reason."""
    if (name is None) != (reason is None):
        raise click.UsageError("--accept and --reason go together")
    if name is None or reason is None:
        return None
    if not reason.strip():
        raise click.UsageError("--reason is empty; say why the DOI stays")
    try:
        return handle(parse_name(name).name), " ".join(reason.split())
    except DOISyntaxError as error:
        raise click.ClickException(f"--accept: {error}") from None


def _check_bib(path: str, file: LockFile) -> None:
    """Check that a BibTeX file can be written, before any look-up."""
    from doiuri_cli.registry._bib import read_bib

    if os.path.realpath(path) == os.path.realpath(file.path):
        raise click.UsageError("--bib and --lock name the same file")
    read_bib(path)


def _update(
    locking: Locking, accepted: tuple[DOI, str] | None, *, check: bool, prune: bool, quiet: bool
) -> bool:
    """Update the lock file, or say how it would change; return whether a change is due.

    :raises ValueError: if the resolver or the cache is misconfigured.
    """
    from doiuri_cli.registry._lock_draft import Draft

    draft = Draft(locking.file.read())
    if accepted is not None:
        _accept(draft, locking, *accepted)
    locking.dois = draft.meant(locking.mentions)
    missing = draft.missing(locking.dois.values(), locking.wanted)
    if not check or locking.wanted.refresh:
        progress = partial(locking.progress, "Looking up DOIs")
        draft.look_up(locking.mentions, locking.wanted, locking.config, progress)
        locking.dois = draft.meant(locking.mentions)
    if prune:
        draft.prune(locking.dois.keys())
    if check:
        lines = _due_lines(locking, draft, missing)
        for line in lines:
            click.echo(visible(line))
        return bool(lines)
    differences = locking.file.edit(draft.redo)
    if not quiet:
        click.echo(_summary(locking, draft, differences), err=True)
    return False


def _due_lines(locking: Locking, draft: Draft, missing: Iterable[DOI]) -> list[str]:
    """Return a line for each DOI whose entry in the lock file would change, sorted by DOI."""
    differences = locking.file.read().differences(draft.content)
    lines = {doi.key: f"{doi.name} is not in the lock file" for doi in missing}
    for key in differences.added | differences.changed:
        lines[key] = f"{key} changes"
    for key in differences.removed:
        lines[key] = f"{key} is in the lock file, but no file mentions it"
    return [lines[key] for key in sorted(lines)]


def _accept(draft: Draft, locking: Locking, doi: DOI, reason: str) -> None:
    """Accept that a DOI does not exist.

    :raises click.ClickException: if it does.
    """
    if draft.content.status(doi.key) is None or locking.wanted.refresh:
        draft.look_up([(doi, ())], locking.wanted, locking.config, None)
        draft.unknown.clear()
    if draft.content.status(doi.key) == "found":
        raise click.ClickException(f"{doi.name} is registered, so there is nothing to accept")
    draft.accept(doi, reason)


def _summary(locking: Locking, draft: Draft, differences: Sequence[Collection[str]]) -> str:
    from doiuri.plugins.survey import common_cause

    name = visible(locking.file.path.name)
    if locking.file.path.exists():
        count = len(locking.file.read().dois())
        noun = "DOI" if count == 1 else "DOIs"
        added, changed, removed = map(len, differences)
        text = f"{count:,} {noun} in {name}: "
        text += f"{added:,} added, {changed:,} changed, {removed:,} removed."
    else:
        text = f"{name} was not written: it would be empty."

    dead = _count_dead(locking, draft.content)
    if dead:
        verb = "is" if dead == 1 else "are"
        text += f" {dead:,} {verb} not registered."
    text += _not_kept(draft)
    if draft.unknown:
        cause = visible(str(common_cause(draft.unknown)))
        text += f" {len(draft.unknown):,} without an answer: {cause}."
    return text


def _count_dead(locking: Locking, content: LockContent) -> int:
    """Return how many of the DOIs in the files do not exist, without those that are accepted."""
    keys = (key for key in locking.dois if key not in content.accepted)
    return sum(content.status(key) == "not-found" for key in keys)


def _not_kept(draft: Draft) -> str:
    """Return sentences about the answers that the lock file does not keep."""
    text = ""
    if draft.unlockable:
        names = visible(", ".join(doi.name for doi in draft.unlockable))
        text += f" Not registered according to this resolver, which only https://doi.org can say: {names}."
    if draft.kept_works:
        names = visible(", ".join(doi.name for doi in draft.kept_works))
        text += (
            f" No metadata any more, so the old work stays; delete its line to drop it: {names}."
        )
    return text


def _update_bib(locking: Locking, path: str, *, check: bool, prune: bool) -> bool:
    """Update the BibTeX file, or say that it would change; return whether a change is due.

    :raises ValueError: if it has other entries in it.
    """
    from doiuri_cli.registry._bib import edit_bib, look_up_entries, read_bib

    locked = locking.file.read()
    old = read_bib(path)
    dois = [doi for doi in locking.dois.values() if locked.status(doi.key) != "not-found"]
    wanted = [doi for doi in dois if locking.wanted.refresh or doi.key not in old]
    answers: dict[str, str] = {}
    for problem in look_up_entries(wanted, answers, locking.config):
        click.echo(f"doiuri: {visible(problem)}", err=True)

    def change(entries: dict[str, str]) -> None:
        if prune:
            for key in entries.keys() - locking.dois.keys():
                del entries[key]
        for key, entry in answers.items():
            if locking.wanted.refresh or key not in entries:
                entries[key] = entry

    new = old.copy()
    change(new)
    if new == old:
        return False
    if check:
        click.echo(f"{visible(path)} changes")
        return True
    edit_bib(path, change)
    return False
