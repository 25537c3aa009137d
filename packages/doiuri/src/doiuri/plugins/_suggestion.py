"""What an author probably meant by a URL that is not a link to a DOI proxy."""

from __future__ import annotations

from itertools import islice

from doiuri._errors import DOISyntaxError
from doiuri._find import find

_LONGEST = 2_000  # characters of a URL


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
    text = error.text
    if error.suggestion is not None or "://" not in text or len(text) > _LONGEST:
        return error
    found = list(islice(find(text), 2))
    if len(found) != 1:
        return error
    return DOISyntaxError(text, error.position, error.reason, found[0].doi.uri, error.kind)
