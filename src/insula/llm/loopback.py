"""An HTTP server on this machine, for fakes of model servers."""

import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, cast

Json = dict[str, Any]


class Loopback:
    """A server on a free port of this machine that runs as long as it is used as a context manager.

    Args:
        handler: What answers its requests; finds this object as its `owner`.
    """

    def __init__(self, handler: type["LoopbackHandler"]) -> None:
        self._closing = threading.Event()
        self._http = _Http(("127.0.0.1", 0), handler)
        self._http.owner = self

    @property
    def origin(self) -> str:
        """Where it listens, without a path."""
        return f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()

    def wait_closed(self, seconds: float) -> bool:
        """Whether the server is being closed, within so many seconds."""
        return self._closing.wait(seconds)


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    owner: Loopback

    def handle_error(self, request: object, client_address: object) -> None:
        """Says nothing: clients that give up are what it is there for."""


class LoopbackHandler(BaseHTTPRequestHandler):
    """What the handlers of all fakes share."""

    protocol_version = "HTTP/1.1"

    @property
    def owner(self) -> Loopback:
        """The server it answers for."""
        return cast(_Http, self.server).owner

    def receive_json(self) -> Json:
        """The body of the request, decoded; empty where it is no JSON object."""
        chunked = self.headers.get("Transfer-Encoding", "").lower() == "chunked"
        length = int(self.headers.get("Content-Length") or 0)
        body = b"".join(self._read_chunks()) if chunked else self.rfile.read(length)
        try:
            decoded = json.loads(body)
        except ValueError:
            return {}
        return cast(Json, decoded) if isinstance(decoded, dict) else {}

    def send_text(self, text: str, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Answers with a whole text."""
        payload = text.encode()
        self.send_head(
            status, {"Content-Type": "application/json", "Content-Length": str(len(payload)), **(headers or {})}
        )
        self.wfile.write(payload)

    def send_head(self, status: int, headers: Mapping[str, str]) -> None:
        """Begins an answer, and says where the connection ends with it: a client would send its next request there."""
        self.send_response(status)
        if self.close_connection:
            self.send_header("Connection", "close")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def send_event(self, data: str) -> None:
        """Adds one event to a streamed answer."""
        self.wfile.write(f"data: {data}\n\n".encode())
        self.wfile.flush()

    def _read_chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the name is the base class's
        """Says nothing."""
