"""The server of the playground: one page, its fits, and nothing for anybody else.

It listens on 127.0.0.1. Every address begins with a random token, requests must name this host, and those
that come from a page must come from this one. Files are looked up in a table, never by a path.
"""

import json
import secrets
import sys
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import PurePath
from threading import BoundedSemaphore
from typing import Any

from adatron.play.algorithms import PRESETS, Request, choices, preset
from adatron.play.frames import frames

__all__ = ["PlayServer"]

_HOST = "127.0.0.1"
_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_FILES = {file.name: file for file in (files("adatron.play") / "page").iterdir()}
_FILES[""] = _FILES.pop("index.html")
_MOST_BYTES = 100_000  # of a request; 1,000 points take 30,000
_MOST_READ = 10_000_000  # of one that is refused: the sender gets to know why only after sending it
_MOST_FITS = 4  # at once
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class PlayServer(ThreadingHTTPServer):
    """Serves the playground on 127.0.0.1; ``serve_forever`` runs it, `address` is where it is."""

    daemon_threads = True  # fits that are under way do not hold up Ctrl-C

    def __init__(self, port: int = 0) -> None:
        self.token, self.free = secrets.token_urlsafe(18), BoundedSemaphore(_MOST_FITS)
        super().__init__((_HOST, port), _Handler)

    @property
    def hosts(self) -> tuple[str, str]:
        """What a browser calls this server."""
        return f"{_HOST}:{self.server_port}", f"localhost:{self.server_port}"

    @property
    def address(self) -> str:
        return f"http://{self.hosts[0]}/{self.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A page that went away is nothing to print a traceback for."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Refused(Exception):
    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    server: PlayServer
    server_version, sys_version = "adatron", ""
    timeout = 30  # seconds without a word

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._fit)

    def _answer(self, method: Any) -> None:
        with suppress(ConnectionError, TimeoutError):  # the page went away
            try:
                method(self._checked_path())
            except _Refused as refusal:
                self._send_json({"error": str(refusal)}, refusal.status)

    def _checked_path(self) -> str:
        """The part of the address behind the token."""
        if self.headers.get("Host") not in self.server.hosts:
            raise _Refused(HTTPStatus.FORBIDDEN, f"this server is {self.server.hosts[0]} and no other host")
        origin = self.headers.get("Origin")
        if origin is not None and origin.removeprefix("http://") not in self.server.hosts:
            raise _Refused(HTTPStatus.FORBIDDEN, "requests from other pages are refused")
        token, slash, name = self.path.removeprefix("/").partition("/")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            raise _Refused(HTTPStatus.FORBIDDEN, "wrong token; use the address that adatron play printed")
        if not slash:
            raise _Refused(HTTPStatus.NOT_FOUND, "there is no such page")
        return name

    def _get(self, name: str) -> None:
        if name == "choices":
            self._send_json(choices())
        elif name.startswith("presets/") and name.removeprefix("presets/") in PRESETS:
            self._send_json(preset(name.removeprefix("presets/")))
        elif name in _FILES:
            kind = _KINDS[PurePath(_FILES[name].name).suffix]
            self._send(_FILES[name].read_bytes(), kind)
        else:
            raise _Refused(HTTPStatus.NOT_FOUND, "there is no such page")

    def _fit(self, name: str) -> None:
        """Frames as lines of JSON, each sent when it is there; an error is the last line."""
        if name != "fit":
            raise _Refused(HTTPStatus.NOT_FOUND, "there is no such page")
        try:
            request = Request.from_json(json.loads(self._body(), parse_constant=_no_number))
        except (ValueError, RecursionError) as error:
            raise _Refused(HTTPStatus.BAD_REQUEST, str(error)) from None
        if not self.server.free.acquire(timeout=5.0):
            raise _Refused(HTTPStatus.SERVICE_UNAVAILABLE, f"{_MOST_FITS} fits are under way; try again")
        try:
            self._send_head(HTTPStatus.OK, "application/x-ndjson; charset=utf-8")
            try:
                for frame in frames(request):
                    self._send_line(frame)
            except ConnectionError:
                raise
            except Exception as error:
                known = isinstance(error, ValueError | ArithmeticError | TimeoutError)
                name = "" if known else f"internal error, please report it: {type(error).__name__}: "
                self._send_line({"error": f"{name}{error}"})
        finally:
            self.server.free.release()

    def _body(self) -> bytes:
        if self.headers.get_content_type() != "application/json":
            raise _Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the request must be application/json")
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            raise _Refused(HTTPStatus.LENGTH_REQUIRED, "the request must say its length")
        size = int(length[:12])
        if size > _MOST_BYTES:
            self.rfile.read(min(size, _MOST_READ))
            reason = f"the request has {size:,} bytes, more than {_MOST_BYTES:,}; send at most 1,000 points"
            raise _Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)
        return self.rfile.read(size)

    def _send_head(self, status: HTTPStatus, kind: str, size: int | None = None) -> None:
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        if size is not None:
            self.send_header("Content-Length", str(size))
        self.end_headers()

    def _send(self, content: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._send_head(status, f"{kind}; charset=utf-8", len(content))
        self.wfile.write(content)

    def _send_json(self, value: Any, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._send(json.dumps(value, allow_nan=False).encode(), "application/json", status)

    def _send_line(self, value: Any) -> None:
        self.wfile.write(json.dumps(value, allow_nan=False).encode() + b"\n")
        self.wfile.flush()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What http.server itself refuses, in our form."""
        status = HTTPStatus(code)
        self._send_json({"error": message or status.phrase}, status)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the terminal is for the address."""


def _no_number(text: str) -> Any:
    raise ValueError(f"numbers must be finite, got {text}")
