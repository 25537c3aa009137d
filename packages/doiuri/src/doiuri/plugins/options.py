"""The options of plugins: one table with the types, defaults, environment variables and help of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from doiuri._options import (
    OPTIONS,
    SETTINGS,
    Option,
    choice,
    hint,
    number,
    option,
    path,
    read_options,
    text,
    texts,
    with_defaults,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping
    from typing import Literal

    from doiuri._doi import DOI
    from doiuri.plugins.display import Words
    from doiuri.works import Work

__all__ = [
    "OPTIONS",
    "SETTINGS",
    "Option",
    "Options",
    "choice",
    "hint",
    "number",
    "option",
    "path",
    "read_options",
    "text",
    "texts",
    "with_defaults",
]


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a plugin that shows, links and looks up DOIs: an attribute for each in ``OPTIONS``.

    >>> from doiuri import DOI
    >>> options = Options.read({"doi_text": "link", "doi_timeout": "2.5"}, prefix="doi_", environ={})
    >>> options.timeout, options.display(DOI("10.1000/182"))
    (2.5, 'https://doi.org/10.1000/182')
    """

    resolver: str
    offline: bool
    mailto: str | None
    cache: str | None
    resolve: bool
    timeout: float
    budget: float
    lock: str | None
    text: str
    link: str
    citation: Literal["author-year", "number"] | None
    notes: bool | None
    reference_style: str | None
    csl_path: tuple[str, ...]
    abbreviations: str | None
    reference_locale: str | None
    works: tuple[str, ...]

    @classmethod
    def read(
        cls,
        given: Mapping[str, object],
        prefix: str = "",
        environ: Mapping[str, str] | None = None,
        options: Iterable[Option] | None = None,
        folder: str | os.PathLike[str] = "",
    ) -> Options:
        """Return the options, as ``read_options`` reads them.

        :param options: a table in place of ``OPTIONS``, if the host changes defaults; see ``with_defaults``.
        :param folder: the folder of relative paths of files; by default the current one.
        """
        return cls(**read_options(options or OPTIONS, given, prefix, environ, folder))

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of the files that the options name: what is built depends on them, so hosts watch them."""
        paths: list[str] = []
        for declared in OPTIONS:
            value = getattr(self, declared.name)
            values = value if isinstance(value, tuple) else (value,)
            paths += filter(declared.names_file, values)
        return tuple(paths)

    def display(self, doi: DOI, work: Work | None = None, words: Words | None = None) -> str:
        """Return the visible text of a link without a title; see the function ``display``."""
        from doiuri.plugins.display import display  # slow to import

        return display(doi, self.text, base=self.link, work=work, words=words)
