"""Headless Chromium without a network, driven over its debugging pipe; nothing to install."""

import base64
import json
import os
import shutil
import subprocess
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from select import select
from time import monotonic, sleep

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
]
SECONDS = 90


class Page:
    """A page that is open; ``complaints`` are console errors, exceptions and requests."""

    def __init__(self, to_browser, from_browser):
        self._out, self._in, self._buffer = to_browser, from_browser, b""
        self._numbers, self._session = count(1), None
        self.complaints = []

    def call(self, method, **params):
        """The result of a command of the DevTools protocol."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        end = monotonic() + SECONDS
        while monotonic() < end:
            answer = self._read(end)
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]
        raise TimeoutError(method)

    def _read(self, end):
        while b"\0" not in self._buffer:
            ready, _, _ = select([self._in], [], [], max(0, end - monotonic()))
            assert ready, "the browser does not answer"
            found = os.read(self._in, 1 << 20)
            assert found, "the browser has ended"
            self._buffer += found
        line, self._buffer = self._buffer.split(b"\0", 1)
        answer = json.loads(line)
        self._note(answer.get("method"), answer.get("params", {}))
        return answer

    def _note(self, event, said):
        if event == "Runtime.exceptionThrown":
            self.complaints.append(said["exceptionDetails"])
        elif event == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning"):
            self.complaints.append([each.get("value") for each in said["args"]])
        elif event == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            self.complaints.append(said["entry"]["text"])
        elif event == "Network.requestWillBeSent":
            url = said["request"]["url"]
            if url.split(":")[0] not in ("file", "data", "blob"):
                self.complaints.append(url)

    def attach(self):
        made = self.call("Target.createTarget", url="about:blank")
        found = self.call("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        self._session = found["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def size(self, width, height=900):
        """Set the size of the window."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 500,
        )  # fmt: skip

    def dark(self, wanted=True):
        """Ask for dark or light colours."""
        value = "dark" if wanted else "light"
        features = [{"name": "prefers-color-scheme", "value": value}]
        self.call("Emulation.setEmulatedMedia", media="screen", features=features)

    def printed(self):
        """Show the page as it is printed."""
        self.call("Emulation.setEmulatedMedia", media="print", features=[])

    def open(self, file, until="document.readyState == 'complete'"):
        """Open a file and wait for a condition."""
        self.call("Page.navigate", url=Path(file).as_uri())
        self.wait(until)

    def run(self, code):
        """The value of an expression, a promise awaited."""
        found = self.call(
            "Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, condition):
        """Wait until an expression is true."""
        end = monotonic() + SECONDS
        code = f"(() => {{try {{return !!({condition})}} catch {{return false}}}})()"
        while not self.run(code):
            assert monotonic() < end, condition
            sleep(0.05)

    def mouse(self, x, y, click=False):
        """Move the mouse, and click."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased") if click else ():
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key):
        """Press a key."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def picture(self, file, selector=None):
        """Save a screenshot of the whole page or of an element."""
        element = f"document.querySelector({selector!r})" if selector else "document.body"
        box = self.run(
            f"(() => {{const r = {element}.getBoundingClientRect();"
            "return {x: r.x + scrollX, y: r.y + scrollY, width: r.width, height: r.height}})()"
        )
        found = self.call(
            "Page.captureScreenshot", captureBeyondViewport=True, clip=box | {"scale": 1}
        )
        Path(file).write_bytes(base64.b64decode(found["data"]))


@contextmanager
def chromium(profile):
    """A page of a browser whose files are in ``profile``."""
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    flags = " ".join(f"'{flag}'" for flag in [*FLAGS, f"--user-data-dir={profile}"])
    command = f"exec {CHROMIUM} {flags} about:blank 3<&{theirs_in} 4>&{theirs_out}"
    process = subprocess.Popen(
        ["bash", "-c", command], pass_fds=(theirs_in, theirs_out),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        page = Page(ours_out, ours_in)
        page.attach()
        page.call("Network.emulateNetworkConditions", offline=True, latency=0,
                  downloadThroughput=-1, uploadThroughput=-1)  # fmt: skip
        yield page
    finally:
        process.kill()
        process.wait()
        os.close(ours_out)
        os.close(ours_in)
