"""The resolver's threads, as seen from outside."""

from __future__ import annotations

import threading
import time


def all_at_home(patience: float = 60) -> bool:
    """Whether the resolver's threads end within ``patience`` seconds."""
    deadline = time.monotonic() + patience
    while any(thread.name == "doiuri" for thread in threading.enumerate()):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
