"""Downloads from a hostile server: nothing lands, in bounded time and memory."""

import gzip
import io
import socket
import threading
import time
import tracemalloc
import zipfile
from contextlib import suppress

import pytest
import requests  # noqa: F401  before memory is traced
import rich.progress  # noqa: F401

from linkparity.datasets import cache, ml100k
from linkparity.datasets.cache import Archive, DataError, read_files

SECONDS = 2.0
#: Seconds that a busy machine may need; a socket's own timeout is longer.
LIMIT = 20.0
SIZE = 1 << 20
#: Bytes that reading may take beside the content: buffers, and the parts and their whole.
MEMORY = 8 * SIZE
OK = b"HTTP/1.1 200 OK\r\n"


def send_all(data):
    return lambda client: client.sendall(data)


def endless(start, part, pause=0.0):
    """Send parts for ever."""

    def answer(client):
        client.sendall(start)
        while True:
            client.sendall(part)
            time.sleep(pause)

    return answer


def with_length(content, length=None, more=b""):
    length = len(content) if length is None else length
    return send_all(OK + more + f"Content-Length: {length}\r\n\r\n".encode() + content)


def redirect(to):
    headers = f"Location: {to}\r\nConnection: close\r\nContent-Length: 0"
    return send_all(f"HTTP/1.1 302 Found\r\n{headers}\r\n\r\n".encode())


def zip_bomb():
    """50 MB of zeros under the names that the archive should have."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("u.user", "u.data"):
            archive.writestr(f"ml-100k/{name}", bytes(50 << 20))
    return packed.getvalue()


ANSWERS = {
    "other content": (with_length(b"x" * 1000), "its sha256 differs"),
    "empty": (with_length(b""), "its sha256 differs"),
    "truncated": (with_length(b"x" * 1000, 5000), "could not download"),
    "closed at once": (send_all(b""), "ConnectionError"),
    "no http": (send_all(b"\x00\x01garbage\r\n\r\n"), "ConnectionError"),
    "silent": (lambda client: time.sleep(2 * SECONDS), "not complete after 2 seconds"),
    "endless": (endless(OK + b"\r\n", b"x" * 65536), "larger than 1 MB"),
    "endless beyond its length": (
        endless(OK + b"Content-Length: 1000\r\n\r\n", b"x" * 65536), "its sha256 differs",
    ),
    "endless chunks": (
        endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"8000\r\n" + b"x" * 0x8000 + b"\r\n"),
        "larger than 1 MB",
    ),
    "a chunk of 16 exabytes": (
        endless(OK + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", b"x" * 65536),
        "could not download",
    ),
    "slow": (endless(OK + b"\r\n", b"x", 0.05), "not complete after 2 seconds"),
    "slow headers": (endless(OK, b"X", 0.05), "not complete after 2 seconds"),
    "many headers": (endless(OK, b"X-More: 1\r\n"), "could not download"),
    "a length that is no number": (
        send_all(OK + b"Content-Length: many\r\n\r\nxyz"), "did not send",
    ),
    "a length of 16 exabytes": (with_length(b"xyz", 1 << 64), "could not download"),
    "redirected to a file": (redirect("file:///etc/passwd"), "InvalidSchema"),
    "redirected to itself": (redirect("/ml-100k.zip"), "TooManyRedirects"),
    "redirected to nothing": (redirect("http://127.0.0.1:9/x.zip"), "ConnectionError"),
    "redirected to no address": (redirect("http://[/"), "could not download"),
    "not found": (send_all(b"HTTP/1.1 404 No\r\nContent-Length: 4\r\n\r\ngone"), "HTTPError"),
    "a zip bomb": (with_length(zip_bomb()), "its sha256 differs"),
    "a gzip bomb": (
        with_length(gzip.compress(bytes(200 << 20)), more=b"Content-Encoding: gzip\r\n"),
        "its sha256 differs",
    ),
}  # fmt: skip


class Host:
    """A server on this machine whose answer to every request is ``answer(client)``."""

    def __init__(self, answer):
        self.answer = answer
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/ml-100k.zip"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self.respond, args=(client,), daemon=True).start()

    def respond(self, client):
        with suppress(OSError), client:
            client.recv(65536)
            self.answer(client)


@pytest.fixture
def hosts(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(cache, "MAX_SECONDS", SECONDS)
    monkeypatch.setattr(cache, "MAX_BYTES", SIZE)
    made = []

    def make(answer):
        made.append(Host(answer))
        return made[-1]

    yield make
    for host in made:
        host.listener.close()


@pytest.fixture(scope="module")
def answered(tried):
    """Names of the answers that were tried."""
    names = []
    yield names
    tried.append(f"{len(names)} hostile answers to a download")


@pytest.mark.parametrize("name", ANSWERS)
def test_nothing_lands(name, hosts, tmp_path, answered):
    answer, said = ANSWERS[name]
    host = hosts(answer)
    archive = Archive("ml-100k", "ml-100k.zip", host.url, "0" * 64, ml100k.ARCHIVE.manifest)
    start = time.monotonic()
    tracemalloc.start()
    try:
        with pytest.raises(DataError) as caught:
            read_files(archive, tmp_path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert said in str(caught.value)
    assert f"from {host.url} into {tmp_path / 'ml-100k'}" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    assert time.monotonic() - start < LIMIT
    assert peak < MEMORY
    answered.append(name)
