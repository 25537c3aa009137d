"""As much of a Redis server as the store needs."""

from __future__ import annotations

import socketserver
import threading
import time
from typing import Self


class Redis(socketserver.ThreadingTCPServer):
    """A server with values of strings; it refuses to store more while it is full.

    While it trickles, it sends a byte of a value every hundredth of a second.
    """

    daemon_threads = True
    request_queue_size = 128  # with 5, of eight threads one would wait a second to be connected

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.url = f"redis://127.0.0.1:{self.server_address[1]}"
        self.values: dict[bytes, bytes] = {}
        self.lifetimes: dict[bytes, int] = {}  # in seconds
        self.is_full = False
        self.trickles = False

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def reply(self, command: bytes, *words: bytes) -> bytes:
        """Answer a command; nothing stands for a null, which differs between the protocols."""
        match command.upper(), words:
            case b"HELLO", (b"3", *_):
                return b"%1\r\n+proto\r\n:3\r\n"
            case b"GET", (name,):
                return _text(self.values[name]) if name in self.values else b""
            case b"SET", (name, value, b"EX", seconds):
                if self.is_full:
                    return b"-OOM command not allowed when used memory > 'maxmemory'.\r\n"
                self.values[name] = value
                self.lifetimes[name] = int(seconds)
                return b"+OK\r\n"
            case b"STRLEN", (name,):
                return b":%d\r\n" % len(self.values.get(name, b""))
            case b"DEL", (name,):
                return b":%d\r\n" % (self.values.pop(name, None) is not None)
            case b"SCAN", (b"0", b"MATCH", pattern, *_):
                names = [
                    name for name in self.values if name.startswith(pattern.removesuffix(b"*"))
                ]
                return b"*2\r\n$1\r\n0\r\n*%d\r\n%b" % (len(names), b"".join(map(_text, names)))
        return b"-ERR unknown command\r\n"


class _Connection(socketserver.StreamRequestHandler):
    server: Redis
    disable_nagle_algorithm = True  # several replies are not waited for

    def handle(self) -> None:
        null = b"$-1\r\n"
        while head := self.rfile.readline():
            words = [
                self.rfile.read(int(self.rfile.readline()[1:]) + 2)[:-2]
                for _ in range(int(head[1:]))
            ]
            if [word.upper() for word in words[:2]] == [b"HELLO", b"3"]:
                null = b"_\r\n"  # RESP3 from here on
            reply = self.server.reply(*words) or null
            if self.server.trickles and words[0].upper() == b"GET":
                self._trickle(reply)
            else:
                self.wfile.write(reply)

    def _trickle(self, reply: bytes) -> None:
        for octet in reply:
            self.wfile.write(bytes([octet]))
            time.sleep(0.01)


def _text(value: bytes) -> bytes:
    return b"$%d\r\n%b\r\n" % (len(value), value)
