# SPDX-License-Identifier: Apache-2.0
"""Controls a headless Chromium by its DevTools protocol over a websocket. Needs only Python's standard library."""
import base64
import json
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find_browser():
    """Returns the path of a Chromium, or None. If the environment variable CHROMIUM is set, returns its value."""
    named = os.environ.get("CHROMIUM")
    return named or next((found for found in map(shutil.which, NAMES) if found), None)


class Socket:
    """A client's websocket for texts. A text may come in one frame or in several frames."""

    def __init__(self, address, timeout=60):
        host, port, path = re.fullmatch(r"ws://([^:/]+):(\d+)(/.*)", address).groups()
        self.socket = socket.create_connection((host, int(port)), timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\n"
                             f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                             "Sec-WebSocket-Version: 13\r\n\r\n").encode())
        answer = b""
        while not answer.endswith(b"\r\n\r\n"):
            answer += self.socket.recv(1)
        if b" 101 " not in answer.split(b"\r\n")[0]:
            raise RuntimeError(f"no websocket: {answer!r}")

    def send(self, text):
        payload, mask = text.encode(), os.urandom(4)
        size = len(payload)
        head = bytes([0x81])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 1 << 16:
            head += bytes([0x80 | 126]) + struct.pack(">H", size)
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", size)
        repeated = mask * (size // 4 + 1)
        masked = (int.from_bytes(payload, "big") ^ int.from_bytes(repeated[:size], "big")).to_bytes(size, "big")
        self.socket.sendall(head + mask + masked)

    def exactly(self, count):
        data = bytearray()
        while len(data) < count:
            part = self.socket.recv(min(1 << 20, count - len(data)))
            if not part:
                raise RuntimeError("the browser closed the connection")
            data += part
        return bytes(data)

    def receive(self):
        text = b""
        while True:
            first, second = self.exactly(2)
            size = second & 127
            if size == 126:
                size = struct.unpack(">H", self.exactly(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self.exactly(8))[0]
            payload, kind = self.exactly(size), first & 15
            if kind == 8:
                raise RuntimeError("the browser closed the websocket")
            if kind in (0, 1):
                text += payload
                if first & 128:
                    return text.decode()


class Browser:
    """A browser that shows one page at a time. `said` has the messages on the page's console, including exceptions.
    `asked` has the page's network requests, except for the page's own file."""

    def __init__(self, program):
        self.folder = tempfile.mkdtemp()
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
             "--disable-dev-shm-usage", "--remote-debugging-port=0", f"--user-data-dir={self.folder}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        address = None
        for line in self.process.stderr:
            if found := re.search(r"listening on (ws://\S+)", line):
                address = found[1]
                break
        if not address:
            raise RuntimeError(f"{program} does not say where it listens")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.socket, self.number, self.session = Socket(address), 0, None
        self.said, self.asked, self.loaded = [], [], False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, **values):
        self.number += 1
        message = {"id": self.number, "method": method, "params": values}
        if self.session:
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.receive())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer)

    def note(self, event):
        what, of = event.get("method"), event.get("params", {})
        if what == "Runtime.consoleAPICalled":
            self.said.append(json.dumps(of["args"]))
        elif what == "Runtime.exceptionThrown":
            self.said.append(json.dumps(of["exceptionDetails"]))
        elif what == "Log.entryAdded":
            self.said.append(json.dumps(of["entry"]))
        elif what == "Network.requestWillBeSent":
            self.asked.append(of["request"]["url"])
        elif what == "Page.loadEventFired":
            self.loaded = True

    def open(self, path, width=1440, height=900, dark=False, phone=False):
        self.said, self.asked, self.loaded = [], [], False
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        until = time.time() + 60
        while not self.loaded and time.time() < until:
            self.run("0")
        if not self.loaded:
            raise RuntimeError(f"{path} is not loaded after a minute")

    def run(self, script):
        """Returns the value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {json.dumps(answer['exceptionDetails'])}")
        return answer["result"].get("value")

    def place(self, selector):
        """Scrolls to the first element that the selector finds. Returns the centre of the element."""
        at = self.run(f"""(() => {{
            const e = document.querySelector({json.dumps(selector)});
            if (!e) return null;
            e.scrollIntoView({{block: 'center', inline: 'center'}});
            const path = e.querySelector && e.querySelector('path');
            if (path && !e.querySelector('rect')) {{  // a point of the line: the middle of its box may be beside it
                const p = path.getPointAtLength(path.getTotalLength() / 2), m = path.getScreenCTM();
                return [p.x * m.a + m.e, p.y * m.d + m.f];
            }}
            const r = e.getBoundingClientRect();
            return [r.x + r.width / 2, r.y + r.height / 2];
        }})()""")
        if at is None:
            raise RuntimeError(f"nothing on the page is {selector}")
        return at

    def hover(self, selector):
        x, y = self.place(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector):
        x, y = self.place(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def tap(self, selector):
        x, y = self.place(selector)
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def key(self, name):
        texts = {"Enter": "\r", "Tab": "\t"}
        codes = {"Tab": 9, "Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        for kind in ("keyDown", "keyUp"):
            text = {"text": texts[name]} if kind == "keyDown" and name in texts and name != "Tab" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=codes[name],
                      **text)

    def picture(self, path):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=False)
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))
