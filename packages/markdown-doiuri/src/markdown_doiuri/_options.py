"""The options: checked once, when the extension is made, so that a mistake shows before any text does."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from doiuri import plugins


@dataclass(frozen=True, slots=True)
class Options:
    """What the author chose: the options ``shared`` by all plugins, and our own."""

    shared: plugins.Options
    bare: bool
    bare_names: bool
    css_class: str
    tidy_links: bool
    warn: Callable[[str], object]


def read(values: Mapping[str, object]) -> Options:
    """Return the options in ``values``; raises ValueError that names the one which is wrong."""
    css_class, warn = values["css_class"], values["warn"]
    if css_class is not None and not isinstance(css_class, str):
        raise ValueError(f"css_class: {css_class!r} is not a string")
    if not callable(warn):
        raise ValueError(f"warn: {warn!r} cannot be called with a message")  # noqa: TRY004
    return Options(
        shared=plugins.Options.read(values),
        bare=bool(values["bare"]),
        bare_names=bool(values["bare_names"]),
        css_class=" ".join((css_class or "").split()),
        tidy_links=bool(values["tidy_links"]),
        warn=warn,
    )
