"""A certificate authority for the tests."""

from __future__ import annotations

import ssl
from pathlib import Path

import trustme


class Authority:
    """Signs certificates for loopback; its own is in ``bundle``, a client's in ``client``."""

    def __init__(self, folder: Path) -> None:
        self._ca = trustme.CA()
        self.bundle = folder / "ca.pem"
        self.client = folder / "client.pem"
        self._ca.cert_pem.write_to_path(str(self.bundle))
        client = self._ca.issue_cert("client@loopback.example")
        client.private_key_and_cert_chain_pem.write_to_path(str(self.client))

    def server(self, *, ask_client: bool = False) -> ssl.SSLContext:
        """Return the context of a server on 127.0.0.1, which may ask its clients for a certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._ca.issue_cert("127.0.0.1", "localhost").configure_cert(context)
        if ask_client:
            context.verify_mode = ssl.CERT_REQUIRED
            self._ca.configure_trust(context)
        return context

    def files(self, folder: Path, *names: str) -> tuple[Path, Path]:
        """Write a server's certificate and its key for host names; return the two files."""
        issued = self._ca.issue_cert(*names)
        chain = folder / "server.pem"
        key = folder / "server.key"
        chain.write_bytes(b"".join(pem.bytes() for pem in issued.cert_chain_pems))
        issued.private_key_pem.write_to_path(str(key))
        return chain, key

    def trusting(self) -> ssl.SSLContext:
        """Return the context of a client that trusts this authority."""
        return ssl.create_default_context(cafile=str(self.bundle))
