"""For authors of plugins: the resolver that the options ask for, the names that a mention may mean, and helpers.

The options are in ``doiuri.plugins.options``, what a document needs from the registry in
``doiuri.plugins.survey``, what to tell its author in ``doiuri.plugins.sentences``, the text of links in
``doiuri.plugins.display``, and what HTTP clients need in ``doiuri.plugins.clients``.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from doiuri._advice import unescape_html
from doiuri._arxiv import ARXIV_PATTERN, arxiv_doi
from doiuri._doi import DOI, parse_name
from doiuri._errors import DOISyntaxError
from doiuri._files import locked_folder, replacing
from doiuri._options import user_agent
from doiuri._parse import without_label
from doiuri._patterns import lazy
from doiuri._urls import DOI_ORG, PROXY_HOSTS, PROXY_PATTERN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, TypeVar

    from doiuri._doi import Handle
    from doiuri.plugins.options import Options
    from doiuri.resolver import Resolver, Store

    Name = TypeVar("Name")

__all__ = [
    "ARXIV_PATTERN",
    "DOI_ORG",
    "PROXY_HOSTS",
    "PROXY_PATTERN",
    "arxiv_doi",
    "locked_folder",
    "open_resolver",
    "parse_name",
    "replacing",
    "unescape_html",
    "untrimmed",
    "user_agent",
    "whole_name",
    "with_suggestion",
    "without_label",
]

_LONGEST_URL = 2_000  # characters
_MOST_MARKS = 3  # that a name may have lost
_FINAL_MARKS = lazy(r"""[.,;:!?)\]}'"/]++(?!\w)""")  # not inside a word or path
_CLOSING_OF = {"(": ")", "[": "]", "{": "}", '"': '"', "'": "'"}


def open_resolver(
    options: Options, distribution: str, store: Store | None = None, **arguments: Any
) -> Resolver:
    """Return a Resolver for a plugin's options; it needs ``doiuri[resolver]``.

    If the options name a lock file and ``store`` is None, all answers come from the lock file; no request is
    sent.

    :param distribution: the name of the plugin's distribution, for the User-Agent header.
    :param store: the store to use; by default the lock file's, else the cache's.
    :param arguments: other arguments of the Resolver, or values that win over the options'.
    :raises ValueError: if the lock file or the cache cannot be used.
    """
    from doiuri.resolver import LockFile, Resolver  # slow to import

    given: dict[str, Any] = {
        "offline": options.offline,
        "mailto": options.mailto,
        "timeout": options.timeout,
        "budget": options.budget,
        **arguments,
    }
    if store is not None:
        given["store"] = store
    elif options.lock:
        given["store"] = LockFile(options.lock)
        given["offline"] = True
    elif options.cache is not None:
        given["store"] = options.cache

    # to read versions is slow, and without requests nobody sees them
    agent = distribution if given["offline"] else user_agent(distribution, options.mailto)
    return Resolver(options.resolver, user_agent=agent, **given)


def untrimmed(handle: Handle, text: str, start: int, end: int) -> tuple[DOI, ...]:
    """Return the longer names that a mention may mean: with one to three of the marks that follow it.

    ``find`` leaves out what ends a sentence, but some names are registered with such marks or a final slash.
    Ask about these if the name that was found does not exist; ``Survey.ask`` does so. A mark that closes what
    opens right before the mention is not part of its name.

    >>> from doiuri import DOI
    >>> untrimmed(DOI("10.24448/proc.no"), "(see 10.24448/proc.no.)", 5, 21)
    (DOI('10.24448/proc.no.'), DOI('10.24448/proc.no.)'))
    >>> untrimmed(DOI("10.24448/proc.no"), "(10.24448/proc.no.)", 1, 17)
    (DOI('10.24448/proc.no.'),)

    :param handle: what is mentioned; a short DOI has no longer names.
    :param text: the text with the mention.
    :param start: where the mention begins in it, with its label or link.
    :param end: where the mention ends.
    """
    if not isinstance(handle, DOI):
        return ()
    marks = _FINAL_MARKS.match(text, end)
    if marks is None:
        return ()

    dropped = marks[0]
    closing = _CLOSING_OF.get(text[start - 1 : start])
    if closing is not None:
        dropped = dropped.partition(closing)[0]
    most = min(len(dropped), _MOST_MARKS)
    return tuple(DOI.from_name(handle.name + dropped[:count]) for count in range(1, most + 1))


def whole_name(name: Name, longer: Iterable[Name], statuses: Mapping[Name, str]) -> Name:
    """Return the name that a mention means: the shortest registered one of its longer names, or itself.

    It means itself if it exists, or if none of them does. Names are DOIs, or their keys.

    >>> whole_name("10.1000/no", ["10.1000/no.", "10.1000/no.)"], {"10.1000/no.": "found"})
    '10.1000/no.'

    :param longer: what ``untrimmed`` returns for the mention.
    :param statuses: what is known of names, as in ``Survey.statuses``.
    """
    for candidate in (name, *longer):
        if statuses.get(candidate) == "found":
            return candidate
    return name


def with_suggestion(error: DOISyntaxError) -> DOISyntaxError:
    """Return an error about a URL, such as a publisher's, with the DOI in it as its suggestion.

    Any other error is returned as it is, and so is one that has a suggestion.

    >>> from doiuri import DOI
    >>> try:
    ...     DOI.parse("https://onlinelibrary.wiley.com/doi/10.1002/abc.123/full")
    ... except DOISyntaxError as error:
    ...     with_suggestion(error).suggestion
    'doi:10.1002/abc.123'

    :param error: what ``DOI.parse`` raised.
    """
    from doiuri._find import find  # slow to import

    if error.suggestion is not None or "://" not in error.text or len(error.text) > _LONGEST_URL:
        return error
    matches = list(islice(find(error.text), 2))
    if len(matches) != 1:
        return error
    suggestion = matches[0].doi.uri
    return DOISyntaxError(error.text, error.position, error.reason, suggestion, error.kind)
