"""A Resolver as a plugin's options want it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri._settings import user_agent
from doiuri.resolver._arguments import DEFAULT
from doiuri.resolver._resolver import Resolver
from doiuri.resolver.stores._lock_file import LockedAnswers, LockFile

if TYPE_CHECKING:
    from doiuri.plugins import Options
    from doiuri.resolver.stores._store import ReadStore, Store


def open_resolver(options: Options, product: str, store: Store | ReadStore | None = None) -> Resolver:
    """A Resolver that keeps to a plugin's options; ``product`` is the distribution that its User-Agent names.

    It keeps its answers in ``store``, by default in the cache; left to itself with a lock file, or given
    LockedAnswers, it asks that file and nobody else. Raises ValueError for a lock file or a cache that
    cannot be used.
    """
    settings = options.settings
    if store is None and options.lock:
        store = LockedAnswers(LockFile(options.lock), settings.base)
    return Resolver(
        settings.base,
        store=store or settings.cache or DEFAULT,
        offline=settings.offline or isinstance(store, LockedAnswers),
        timeout=options.timeout,
        budget=options.budget,
        mailto=settings.mailto,
        user_agent=user_agent(product, settings.mailto),
    )
