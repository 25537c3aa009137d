"""For plugins that send requests with urllib3 or requests: connections that check their peers."""

from doiuri._connections import Guard, TooLongError, checked_proxy, guarding, pieces, sentence
from doiuri._urls import host_of

__all__ = [
    "Guard",
    "TooLongError",
    "checked_proxy",
    "guarding",
    "host_of",
    "pieces",
    "sentence",
]
