"""``doiuri lock``."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import click
from doiuri import DOISyntaxError
from doiuri.plugins import parse_name

from doiuri_cli._config import default_lock
from doiuri_cli._run import Runner, inputs_of, mentioned, only_recorded, with_entry_keys
from doiuri_cli.commands import PROBLEM, Command, show_progress, write_notes, write_problems
from doiuri_cli.commands._options import config_options, file_options, make_config, registry_options
from doiuri_cli.output._report import recorded_line, visible
from doiuri_cli.registry import handle

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from doiuri import DOI
    from doiuri.resolver import LockFile

    from doiuri_cli._config import Config
    from doiuri_cli.commands._options import FileOptions
    from doiuri_cli.registry._lock_draft import Changes, LockDraft

_DUE = 1  # the exit code of ``--check`` if the file would change


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
    # A configuration may say "locked = true" for other commands; here, the file need not exist yet
    config = make_config(locked=False, **options)  # type: ignore[arg-type]
    file = _lock_file(config, options)
    if bib is not None:
        _check_bib(bib, file)

    selection = files.select(config)
    config = files.located(config, selection)
    # The BibTeX file is written below
    paths = [path for path in selection.paths if bib is None or not _is_same(path, bib)]
    inputs = inputs_of(paths, files.stdin_filename, selection.named)
    config = with_entry_keys(config, inputs)

    with show_progress(hidden=quiet) as progress:
        reports = Runner(config, files.jobs, progress).read(inputs)
        is_broken = write_problems(selection, reports)
        is_plain = write_notes(reports)
        if prune and is_plain:
            click.echo("doiuri: --prune drops nothing: a file was read as plain text", err=True)
        drops_rest = prune and not (is_broken or is_plain)
        recorded = only_recorded(reports)
        if recorded and not quiet:
            click.echo(recorded_line(recorded), err=True)

        from doiuri_cli.registry._lock_draft import LockDraft, Wanted  # slow to import

        draft = LockDraft(file, mentioned(reports), Wanted(not existence, works, refresh), config)
        if accepted is not None:
            draft.accept(*accepted)
        # Before the look-up, which --check does only with --refresh: alone, it sends no requests
        missing = draft.missing()
        if not check or refresh:
            draft.look_up(partial(progress, "Looking up DOIs"))
        if drops_rest:
            draft.prune()

        is_due = check and _write_due(draft, missing)
        if not check:
            changes = draft.write()
            if not quiet:
                click.echo(_summary(draft, changes), err=True)
        is_bib_due = bib is not None and _update_bib(draft, bib, check=check, prune=drops_rest)
    if is_broken:
        return PROBLEM
    return _DUE if is_due or is_bib_due else 0


def _is_same(path: str, other: str) -> bool:
    return os.path.abspath(path) == os.path.abspath(other)  # noqa: PTH100


def _lock_file(config: Config, options: Mapping[str, object]) -> LockFile:
    """Return the lock file to write.

    A stranger may have written the configuration file, and the lock file as a symbolic link. So the user has to
    name the resolver, with an option or a variable, and a lock file that is a link, with ``--lock``.

    :raises click.ClickException: if they are not named so.
    :raises ValueError: if the file is there and is no lock file; the message says what to do.
    """
    if config.resolver and not (options["resolver"] or os.environ.get("DOIURI_RESOLVER")):
        raise click.ClickException(
            f"only a configuration file names {config.resolver}, and the answers in a lock file count for "
            "every resolver; name the resolver with --resolver or DOIURI_RESOLVER"
        )
    path = config.lock or default_lock(options["config_file"], isolated=options["isolated"])  # type: ignore[arg-type]
    if options["lock"] is None and os.path.islink(path):  # noqa: PTH114
        raise click.ClickException(f"{path} is a symbolic link; name its target with --lock")
    from doiuri.resolver import LockFile  # imports requests

    from doiuri_cli.registry._locked import read_lock

    if os.path.exists(path):  # noqa: PTH110
        read_lock(path)
    return LockFile(path)


def _accepted(name: str | None, reason: str | None) -> tuple[DOI, str] | None:
    """Return the DOI to accept and the reason; None if the options name none."""
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


def _write_due(draft: LockDraft, missing: Iterable[DOI]) -> bool:
    """Write a line for each DOI whose entry in the lock file would change; return whether there are any.

    :param missing: the DOIs that were not in the lock file before anything was looked up.
    """
    differences = draft.file.read().differences(draft.content)
    # One line for each DOI: the later ones below replace that of a missing DOI
    lines = {doi.key: f"{doi.name} is not in the lock file" for doi in missing}
    for key in differences.added | differences.changed:
        lines[key] = f"{key} changes"
    for key in differences.removed:
        lines[key] = f"{key} is in the lock file, but no file mentions it"
    for key in sorted(lines):
        click.echo(visible(lines[key]))
    return bool(lines)


def _summary(draft: LockDraft, changes: Changes) -> str:
    """Return what was written, and which DOIs have no answer in the file."""
    from doiuri.plugins.survey import common_cause

    name = visible(draft.file.path.name)
    if draft.file.path.exists():
        count = len(draft.file.read().dois())
        noun = "DOI" if count == 1 else "DOIs"
        changed = (
            f"{changes.added:,} added, {changes.changed:,} changed, {changes.removed:,} removed"
        )
        sentences = [f"{count:,} {noun} in {name}: {changed}."]
    else:
        sentences = [f"{name} was not written: it would be empty."]

    dead = _count_dead(draft)
    if dead:
        verb = "is" if dead == 1 else "are"
        sentences.append(f"{dead:,} {verb} not registered.")
    sentences += _not_kept(draft)
    if draft.unknown:
        cause = visible(str(common_cause(draft.unknown)))
        sentences.append(f"{len(draft.unknown):,} without an answer: {cause}.")
    return " ".join(sentences)


def _count_dead(draft: LockDraft) -> int:
    """Return how many of the DOIs in the files do not exist, without those that are accepted."""
    keys = (key for key in draft.dois if key not in draft.content.accepted)
    return sum(draft.content.status(key) == "not-found" for key in keys)


def _not_kept(draft: LockDraft) -> Iterator[str]:
    """Yield sentences about the answers that the lock file does not keep."""
    if draft.unlockable:
        names = visible(", ".join(doi.name for doi in draft.unlockable))
        yield f"Not locked: only https://doi.org can confirm that these are unregistered: {names}."
    if draft.kept_works:
        names = visible(", ".join(doi.name for doi in draft.kept_works))
        yield f"No metadata any more, so the old work stays; delete its line to drop it: {names}."


def _update_bib(draft: LockDraft, path: str, *, check: bool, prune: bool) -> bool:
    """Update the BibTeX file, or say that it would change; return whether a change is due.

    :raises ValueError: if it has other entries in it.
    """
    from doiuri_cli.registry._bib import edit_bib, look_up_entries, read_bib

    locked = draft.file.read()
    old = read_bib(path)
    refresh = draft.wanted.refresh
    existing = [doi for doi in draft.dois.values() if locked.status(doi.key) != "not-found"]
    due = [doi for doi in existing if refresh or doi.key not in old]
    answers: dict[str, str] = {}
    for problem in look_up_entries(due, answers, draft.config):
        click.echo(f"doiuri: {visible(problem)}", err=True)

    # Made to the old entries, to see whether anything is due, and to those that the file has when it is written
    def change(entries: dict[str, str]) -> None:
        if prune:
            for key in entries.keys() - draft.dois.keys():
                del entries[key]
        for key, entry in answers.items():
            if refresh or key not in entries:
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
