"""A real Chromium for tests, driven over a pipe by its own protocol: nothing but the browser has to be installed."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
PHONE, DESKTOP = (390, 844), (1440, 900)
_PATIENCE_SECONDS = 60.0


class Chromium:
    """One page in a headless browser.

    Args:
        folder: For the browser's own files.
        size: Width and height of the page.
        scale: Pixels of the device per pixel of the page.
    """

    def __init__(self, folder: Path, size: tuple[int, int] = DESKTOP, scale: float = 1.0) -> None:
        assert BROWSER is not None
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
        flags += ["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars"]
        flags += ["--disable-features=Translate,MediaRouter,OptimizationHints", "--disable-extensions"]

        def take_pipes() -> None:
            # The browser reads from 3 and writes to 4; either may be one of the numbers that it has to become.
            source, sink = os.dup(to_browser), os.dup(from_browser)
            high_source, high_sink = 200, 201
            os.dup2(source, high_source)
            os.dup2(sink, high_sink)
            os.dup2(high_source, 3)
            os.dup2(high_sink, 4)

        self._process = subprocess.Popen(
            [BROWSER, *flags, f"--user-data-dir={folder}", "--remote-debugging-pipe", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(3, 4),
            preexec_fn=take_pipes,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._number = 0
        self._rest = b""
        self._session: str | None = None
        self.problems: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")
        self.resize(size, scale)

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *details: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._read)
        os.close(self._write)

    def resize(self, size: tuple[int, int], scale: float = 1.0) -> None:
        """Give the page another size."""
        mobile = size[0] < 600
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=size[0], height=size[1], deviceScaleFactor=scale, mobile=mobile,
        )  # fmt: skip

    def open(self, address: str, ready: str) -> None:
        """Open an address and wait until an expression holds."""
        # Going to another fragment of the same page would not load it anew.
        self._call("Page.navigate", url="about:blank")
        self.problems.clear()
        self._call("Page.navigate", url=address)
        self.wait_for(ready)

    def wait_for(self, expression: str) -> None:
        """Wait until an expression holds."""
        last = time.monotonic() + _PATIENCE_SECONDS
        while not self.value(f"Boolean({expression})"):
            assert time.monotonic() < last, f"{expression} never came true; problems: {self.problems}"
            time.sleep(0.05)

    def value(self, expression: str) -> Any:
        """What an expression gives in the page; promises are waited for."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def click(self, selector: str) -> None:
        """Click the middle of an element, as a mouse does."""
        box = self.value(
            f"(() => {{ const node = document.querySelector({json.dumps(selector)}); node.scrollIntoView"
            f"({{block: 'center'}}); const box = node.getBoundingClientRect();"
            f" return [box.left + box.width / 2, box.top + box.height / 2]; }})()"
        )
        self.drag(box, box)

    def drag(self, start: list[float], end: list[float]) -> None:
        """Press the mouse at one place and let it go at another."""
        for kind, (x, y) in (("mousePressed", start), ("mouseMoved", end), ("mouseReleased", end)):
            buttons = 0 if kind == "mouseReleased" else 1
            self._call(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=buttons, clickCount=1
            )  # fmt: skip

    def press(self, key: str, modifiers: int = 0) -> None:
        """Press a key, by the name that the page hears."""
        code = {" ": 32, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35}.get(key, ord(key[0].upper()))
        for kind in ("keyDown", "keyUp"):
            self._call(
                "Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, modifiers=modifiers
            )  # fmt: skip

    def screenshot(self, path: Path) -> None:
        """Write what the page looks like to a PNG file."""
        path.write_bytes(base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"]))

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next_message(method)
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        method, details = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(details["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and details["type"] in ("error", "warning"):
            self.problems.append(json.dumps(details["args"])[:500])
        elif method == "Log.entryAdded" and details["entry"]["level"] == "error":
            self.problems.append(details["entry"]["text"])

    def _next_message(self, waiting_for: str) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], _PATIENCE_SECONDS)
            assert ready, f"the browser does not answer {waiting_for}"
            data = os.read(self._read, 1 << 20)
            assert data, f"the browser has gone away during {waiting_for}"
            self._rest += data
        first, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(first)
        return message
