"""The role for plain docutils."""

from typing import TYPE_CHECKING

from docutils import nodes
from docutils.parsers.rst import roles
from doiuri import DOI, DOISyntaxError, advise
from doiuri.plugins import Options

from docutils_doiuri._target import read_target
from docutils_doiuri._transforms import VerifyDOIs, read_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from docutils.parsers.rst.states import Inliner

    from docutils_doiuri._target import Target


def doi_role(
    name: str,  # noqa: ARG001
    rawtext: str,
    text: str,
    lineno: int,
    inliner: "Inliner",
    options: "Mapping[str, object] | None" = None,
    content: "Sequence[str]" = (),  # noqa: ARG001
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Turn ``:doi:`10.1000/182``` into a link; docutils calls this, with the role's usual arguments.

    A leading ``!`` gives the text without the link. What is no DOI becomes problematic text and an error.
    """
    classes = _classes(options)
    settings = read_options(inliner.document)
    if text.startswith("!"):
        return [unlinked(rawtext, text, settings, classes)], []
    try:
        target = read_target(text)
    except DOISyntaxError as error:
        message = inliner.reporter.error(str(error), line=lineno)
        return [inliner.problematic(rawtext, rawtext, message)], [message]
    link = reference(rawtext, target, settings, classes)
    source, link.line = inliner.reporter.get_source_and_line(lineno)
    link.source = None if source is None else str(source)
    VerifyDOIs.add_to(inliner.document)
    return [link], [inliner.reporter.warning(remark, line=lineno) for _, remark in remarks(target.typed)]


def _classes(options: "Mapping[str, object] | None") -> list[str]:
    """The classes that ``.. role:: paper(doi)`` asks for; docutils calls them ``class`` or ``classes``."""
    given = options or {}
    return [str(name) for key in ("class", "classes") for name in given.get(key) or ()]  # type: ignore[attr-defined]


def reference(
    rawtext: str, target: "Target", options: Options, classes: "Sequence[str]" = ()
) -> nodes.reference:
    """Return the link to a target; its attribute ``doi`` is the name."""
    text = target.title if target.title is not None else options.shown(target.doi)
    link = nodes.reference(rawtext, text, internal=False, refuri=target.doi.link(base=options.link))
    link["doi"] = target.doi.name
    link["classes"] = ["doi", *classes]
    if target.title is None:
        link["support_smartquotes"] = False  # the dashes and quotes of a name stay as they are
    return link


def unlinked(rawtext: str, text: str, options: Options, classes: "Sequence[str]" = ()) -> nodes.inline:
    """Return what ``!…`` shows: the text that the link would have, or else what was written."""
    try:
        target = read_target(text[1:])
        shown = target.title if target.title is not None else options.shown(target.doi)
    except DOISyntaxError:
        shown = nodes.unescape(text[1:])
    return nodes.inline(rawtext, shown, classes=list(classes), support_smartquotes=False)


def remarks(typed: str) -> list[tuple[str, str]]:
    """Return code and text of each piece of advice on a DOI as typed."""
    found = advise(typed)
    if not found:
        return []
    name = DOI.parse(typed).name
    read = typed if typed == name else f"{typed} is read as {name}"
    return [
        (
            code,
            f"{read}: {message}"
            + (f"; perhaps {meant} is meant" if meant and code != "decoded-escape" else ""),
        )
        for code, message, meant in found
    ]


def register(name: str = "doi") -> None:
    """Make the role known to docutils, for this process.

    Pelican calls this itself where ``PLUGINS`` names ``docutils_doiuri``.
    """
    roles.register_local_role(name, doi_role)  # type: ignore[arg-type]
