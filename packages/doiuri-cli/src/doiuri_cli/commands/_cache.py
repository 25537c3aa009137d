"""``doiuri cache``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from doiuri_cli.commands import Command
from doiuri_cli.commands._options import config_options, make_config

if TYPE_CHECKING:
    from doiuri.resolver import MemoryStore, RedisStore, SQLiteStore

    Cache = SQLiteStore | RedisStore | MemoryStore


@click.command(cls=Command)
@click.argument("action", type=click.Choice(["clear"]), required=False)
@click.option("--cache", metavar="PATH", help="Path or URL of the cache.")
@config_options
def cache(action: str | None, **options: object) -> None:
    """Show where the registry's answers are kept and how many there are; with clear, delete them.

    That is safe while other processes use the cache.
    """
    address, store = _open(make_config(**options).cache)  # type: ignore[arg-type]
    try:
        if action is None:
            click.echo(f"{address}: {_described(*store.usage())}")
        else:
            click.echo(f"{address}: removed {_described(*store.clear())}")
    except OSError as error:
        raise click.ClickException(f"cache: {error}") from None
    finally:
        store.close()


def _open(cache: str | None) -> tuple[str, Cache]:
    """Return the address of the cache, without a password, and the cache."""
    from doiuri.plugins.options import option
    from doiuri.resolver import LockFile, MemoryStore, SQLiteStore, open_store

    try:
        store = open_store(option("cache").read({"cache": cache}))
    except (ValueError, ImportError) as error:
        raise click.ClickException(f"cache: {error}") from None
    if isinstance(store, LockFile):
        raise click.ClickException(
            f"cache: {store.path} is a lock file; doiuri lock --prune drops entries"
        )
    if isinstance(store, SQLiteStore):
        return str(store.path), store
    return ":memory:" if isinstance(store, MemoryStore) else store.address, store


def _described(entries: int, octets: int) -> str:
    """Return how many entries there are, and their size, in words."""
    count = "1 entry" if entries == 1 else f"{entries:,} entries"
    return f"{count}, {octets:,} bytes"
