"""Targets of DOIs in the user's own network, and names that resolve as a test wants."""

from __future__ import annotations

import socket
from typing import Any

import pytest

# As a record may write this machine, whatever decodes it
PRIVATE_HOSTS = [
    *(
        "127.0.0.1",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "127%2e0.0.1",
        "%6cocalhost",
        "2130706433",
    ),
    *("0177.0.0.1", "0x7f.1", "127.1", "[::1]", "[::ffff:127.0.0.1]", "\uff11\uff12\uff17.0.0.1"),
    *("intranet", "printer.local", "metadata.google.internal", "nas.home.arpa", "10.0.0.1"),
    *("169.254.169.254", "169.254.169.254.", "metadata.google.inter\ufe00nal"),
]


def resolve_as(monkeypatch: pytest.MonkeyPatch, host: str, *addresses: str) -> None:
    """Let a name resolve to these addresses, one at a look-up; then always to the last one."""
    left = list(addresses)
    look_up = socket.getaddrinfo

    def chosen(name: Any, *args: Any, **options: Any) -> Any:
        if name in {host, host.encode()}:
            name = left.pop(0) if len(left) > 1 else left[0]
        return look_up(name, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", chosen)


# As a record may write a URL that is none, or that clients read differently; as header text (Latin-1)
ODD_URLS = [
    *(
        "http://xn--127-.0.0.3/",
        "http://XN--a.example/",
        "http://xn--/",
        "http://xn--ls8h.example/",
    ),
    *("https://xn--127-.0.0.3/", "http://a.xn--127-/", "http://*.example/", "http://-a-.example/"),
    *(
        "http://a.example:99999/",
        "http://a.example:-1/",
        "http://a.example:0/",
        "http://a.example:x/",
    ),
    *(
        "http://[/",
        "http://]/",
        "http://[::1",
        "http://[v1.x]/",
        "http://[1.2.3.4]/",
        "http://a[b]/",
    ),
    *("http://[fe80::1%eth0]/", "http://a b.example/", "http://a.example /", "http:// a.example/"),
    *("http://a\tb.example/", "http://\x01.example/", "http://\x00/", "http://a\x7f.example/"),
    *(
        "http://\xff.example/",
        "http://\xed\xa0\x80.example/",
        "http://a%00.example/",
        "http://%zz/",
    ),
    *(
        "http://a..example/",
        "http://.example/",
        "http://a.example../",
        f"http://{'a' * 64}.example/",
    ),
    *(
        f"http://{'a.' * 200}example/",
        f"http://{'x' * 70_000}/",
        f"http://a.example/{'x' * 70_000}",
    ),
    *(
        "http://",
        "http:///",
        "http:",
        "//",
        "///a",
        "?",
        "#",
        "",
        "http://?x",
        "http://@/",
        "http://:80/",
    ),
    *(
        "http://u:p@/",
        "http://a.example\\b/",
        "http://256.1.1.1/",
        "http://1.2.3.4.5/",
        "http://0x/",
    ),
    *("ws://a.example/", "http+unix://a/", "mailto:a@b.example", "data:,x", "javascript:alert(1)"),
]


# To most clients these are the server that redirects there, so that they follow until they have enough
LEADING_BACK = {"", "?", "#", "//", "///a", "http:", "http://", "http:///", "http://?x"}


def resolve_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no name or address resolve but 127.0.0.1; what cannot be encoded is an error of its own, as usual."""
    look_up = socket.getaddrinfo

    def here_only(host: Any, *args: Any, **options: Any) -> Any:
        name = host if isinstance(host, bytes) else host.encode("idna")
        if name != b"127.0.0.1":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return look_up(host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", here_only)
