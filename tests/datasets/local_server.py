"""A server on 127.0.0.1 that plays the public ones, with their faults."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

__all__ = ["LocalServer"]


class LocalServer:
    """Answers with the bytes of ``files``.

    ``fault`` is None, "truncated", "silent", "garbage" or "unannounced" (no Content-Length, which may be).
    """

    def __init__(self):
        self.files, self.fault, self.asked, self._end = {}, None, [], Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._make_handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def close(self):
        self._end.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _make_handler(self):
        outside = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outside.asked.append(self.path[1:])
                outside._answer(self)

            def log_message(self, *_):
                pass

        return Handler

    def _answer(self, handler):
        content = self.files.get(handler.path[1:])
        if self.fault == "silent":
            self._end.wait()
        elif self.fault == "garbage":
            handler.wfile.write(b"this is no answer\r\n\r\n")
        elif content is None:
            handler.send_error(404)
        else:
            handler.send_response(200)
            if self.fault != "unannounced":
                handler.send_header("Content-Length", str(len(content)))
            handler.end_headers()
            handler.wfile.write(content[: len(content) // 2] if self.fault == "truncated" else content)
