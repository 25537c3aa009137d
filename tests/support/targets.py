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
    left, look_up = list(addresses), socket.getaddrinfo

    def chosen(name: Any, *args: Any, **options: Any) -> Any:
        if name in {host, host.encode()}:
            name = left.pop(0) if len(left) > 1 else left[0]
        return look_up(name, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", chosen)
