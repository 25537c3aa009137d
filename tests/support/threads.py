"""Wait for the resolver's threads to end."""

from __future__ import annotations

import threading
import time


def all_threads_ended(patience: float = 60) -> bool:
    """Return whether the resolver's threads end within ``patience`` seconds."""
    deadline = time.monotonic() + patience
    while any(thread.name == "doiuri" for thread in threading.enumerate()):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
