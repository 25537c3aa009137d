"""The command line."""

from __future__ import annotations

import argparse
import logging
import random
import re
import sys
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Literal

from doiuri.plugins import DOI_ORG

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status, 1 if records, a URL or an address cannot be used."""
    parser = _parser()
    options = parser.parse_args(argv)
    if not options.records and options.upstream is None:
        parser.error("nothing to serve: give --records FILE, --upstream URL or both")
    if options.cache is not None and options.upstream is None:
        parser.error("--cache stores the answers of --upstream: give --upstream as well")
    logging.basicConfig(format="doiuri-proxy: %(message)s", level=logging.WARNING)
    logging.getLogger("doiuri_proxy").setLevel(logging.INFO)
    logging.getLogger("doiuri").setLevel(logging.INFO)  # which tells that upstream answers again
    # no line for each invalid request, and no traceback for what follows a refused request
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    logging.getLogger("uvicorn.access").setLevel(logging.INFO)
    logging.captureWarnings(capture=True)
    try:
        _serve(options)
    except (ValueError, OSError, UserWarning) as error:
        sys.stderr.write(f"doiuri-proxy: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 130  # as shells report a process that SIGINT ended
    return 0


def _serve(options: argparse.Namespace) -> None:
    """Serve what the options name until a signal ends it. Raises ValueError, OSError."""
    # --help needs no server
    from doiuri_proxy._server import bind, configure, hold_hang_ups, reload, serve
    from doiuri_proxy.http._app import App
    from doiuri_proxy.http._redirect import Choice
    from doiuri_proxy.records._open import open_source

    hold_hang_ups()
    records = options.records or None
    source = open_source(records, base=options.base, upstream=options.upstream, cache=options.cache)
    pick: Literal["highest"] | random.Random = "highest"
    if options.pick == "random":
        pick = random.Random()  # noqa: S311
    app = App(source, Choice(pick, options.country))
    listener = bind(options.host, options.port)
    config = configure(app, access_log=options.access_log)
    serve(app, listener, config, lambda: reload(app, records))


class _Once(argparse.Action):
    """Stores the value of an option, and refuses a second one, of which argparse would take the last."""

    _is_given = False

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Store the value; exit with the message of the parser if there is one already."""
        if self._is_given:
            parser.error(f"{option_string} is given more than once; give it once")
        self._is_given = True
        setattr(namespace, self.dest, values)


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the options: ``flag`` adds one without a value, ``add`` one that is given once."""
    parser = argparse.ArgumentParser(prog="doiuri-proxy", description="A local DOI proxy.")
    flag = parser.add_argument
    add = partial(parser.add_argument, action=_Once)
    flag("--version", action="version", version=f"%(prog)s {version('doiuri-proxy')}")
    add(
        "--records",
        help="JSON or JSON Lines file, a folder of them, or a build's cache (an SQLite file)",
    )
    add("--base", default=DOI_ORG, help="base URL of the records in a cache (default: %(default)s)")
    add("--upstream", metavar="URL", help="proxy to ask for DOIs that are not in the records")
    add("--cache", help="store for the answers of --upstream (default: DOIURI_CACHE)")
    add(
        "--pick",
        choices=("random", "highest"),
        default="random",
        help="among several locations, choose at random by weight or take the highest weight"
        " (default: %(default)s)",
    )
    add(
        "--country",
        metavar="CODE",
        type=_country,
        help="two-letter code of the country whose locations are preferred",
    )
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    add("--port", type=_port, default=8053, help="port; 0 picks a free one (default: %(default)s)")
    flag(
        "--access-log", action="store_true", help="write a line for each request to standard error"
    )
    return parser


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port number, 0 to 65535")
    return int(text)


def _country(text: str) -> str:
    if not re.fullmatch("[A-Za-z]{2}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a country code of two letters")
    return text
