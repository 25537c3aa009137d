"""Chromium under remote control, over a pipe: hovering, keys, touch, media features, pictures."""

import base64
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from support.programs import CHROMIUM, needs
from support.waiting import until


class Page:
    """One page; ``call`` sends a command of the DevTools protocol and returns its result."""

    def __init__(self, write: int, read: int) -> None:
        self._write = write
        self._read = read
        self._rest = b""
        self._count = 0
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]

    def call(self, method: str, **params: object) -> dict[str, Any]:
        self._count += 1
        message: dict[str, object] = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self._rest:
                piece = os.read(self._read, 1 << 20)
                assert piece, "Chromium is gone"
                self._rest += piece
            text, _, self._rest = self._rest.partition(b"\0")
            answer = json.loads(text)
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    def open(
        self, path: Path | str, *, touch: bool = False, width: int = 900, **features: str
    ) -> None:
        """Open a file or a URL, with media features such as prefers_color_scheme="dark"."""
        media = [
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()
        ]
        self.call("Emulation.setEmulatedMedia", features=media)
        metrics = {"width": width, "height": 600, "deviceScaleFactor": 1, "mobile": touch}
        self.call("Emulation.setDeviceMetricsOverride", **metrics)
        self.call("Emulation.setTouchEmulationEnabled", enabled=touch)
        self.call("Page.enable")
        url = path if isinstance(path, str) else path.as_uri()
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def run(self, script: str, **options: bool) -> Any:
        """Evaluate an expression in the page; with ``awaitPromise``, return the value of its promise."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, **options)
        return result["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until a condition holds in the page."""
        until(lambda: self.run(condition), f"never: {condition}")

    def hover(self, selector: str) -> None:
        """Move the mouse over an element."""
        x, y = self._middle(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def tap(self, selector: str) -> None:
        """Touch an element."""
        x, y = self._middle(selector)
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def press_tab(self) -> None:
        """Press the Tab key."""
        self._press("Tab", 9)

    def press_escape(self) -> None:
        """Press the Escape key."""
        self._press("Escape", 27)

    def _press(self, key: str, code: int) -> None:
        for kind in ("rawKeyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code
            )

    def _middle(self, selector: str) -> tuple[float, float]:
        box = f"document.querySelector('{selector}').getClientRects()[0]"
        x, y = self.run(f"(box => [box.x + box.width / 2, box.y + box.height / 2])({box})")
        return x, y

    def hrefs(self) -> list[str]:
        """The links in their order, as the browser's URL parser understands them."""
        found: list[str] = self.run("[...document.querySelectorAll('a[href]')].map(a => a.href)")
        return found

    def names(self) -> list[str]:
        """The accessible names of the links."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [
            node["name"]["value"] for node in nodes if node.get("role", {}).get("value") == "link"
        ]

    def descriptions(self) -> list[str]:
        """The accessible descriptions of the links."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        links = [node for node in nodes if node.get("role", {}).get("value") == "link"]
        return [node.get("description", {}).get("value", "") for node in links]

    def picture(self, path: Path, **options: object) -> None:
        """Save a screenshot as PNG; the options are those of ``Page.captureScreenshot``."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", **options)["data"]))


@contextmanager
def browsing() -> Iterator[Page]:
    """Start Chromium with JavaScript enabled, and yield a page to control."""
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # Chromium reads commands from descriptor 3 and answers on 4
        kinds = (
            "primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"
        )
        mouse = f"--blink-settings={kinds}"  # without a window there is no mouse either
        flags = [*CHROMIUM, mouse, "--remote-debugging-pipe", f"--user-data-dir={profile}"]
        shell = f'exec "$@" 3<&{to_read} 4>&{from_write}'
        process = subprocess.Popen(
            ["/bin/bash", "-c", shell, "bash", needs("chromium"), *flags],
            pass_fds=(to_read, from_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(from_write)
        try:
            yield Page(to_write, from_read)
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()
            process.wait()
            os.close(to_write)
            os.close(from_read)
