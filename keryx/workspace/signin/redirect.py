"""Where Google sends the owner's browser back to: a listener on this machine, for one answer (RFC 8252, 7.3)."""

import html
import http.server
import queue
import socket
import socketserver
import threading
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

CONNECTION_S = 10.0
"""How long a browser may hold a connection without asking for anything; they open some in advance."""
OUTCOME_S = 60.0
"""How long the browser waits for its page: what it brought is taken to Google first."""
_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Keryx</title></head>
<body><p>{}</p></body></html>
"""
_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'",
    # The address holds the code.
    "Referrer-Policy": "no-referrer",
    "Connection": "close",
}


class Redirect:
    """Listens from `__enter__` to `__exit__`. `fileno` is readable once a browser has brought the answer to `state`."""

    def __init__(self, state: str) -> None:
        self.state = state
        self._arrived: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._page: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._taken = threading.Lock()
        self._shown = threading.Event()
        self._wake, self._waker = socket.socketpair()
        redirect = self

        class Handler(_Handler):
            def page_of(self, target: str) -> tuple[int, str]:
                return redirect._answer(target)

            def finish(self) -> None:
                super().finish()
                if self.brought_it:
                    redirect._shown.set()

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, name="keryx-redirect", daemon=True
        )

    @property
    def uri(self) -> str:
        """The address to name to Google. The number, not "localhost": that may be another address elsewhere."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    def fileno(self) -> int:
        return self._wake.fileno()

    def arrived(self) -> str:
        """The address that the browser was sent to; only once `fileno` is readable."""
        return self._arrived.get(timeout=OUTCOME_S)

    def show(self, sentence: str) -> None:
        """What the browser ends on; waits, within bounds, until it has it."""
        self._page.put(sentence)
        self._shown.wait(CONNECTION_S)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.shutdown()
        self._thread.join(CONNECTION_S)
        self._server.server_close()
        self._wake.close()
        self._waker.close()

    def _answer(self, target: str) -> tuple[int, str]:
        try:
            parts = urlsplit(target)
            fields = parse_qs(parts.query)
        except ValueError:  # a host that cannot be
            return 404, "Keryx waits here for Google's answer, and for nothing else."
        if parts.path != "/" or not fields.keys() & {"code", "error"}:
            return 404, "Keryx waits here for Google's answer, and for nothing else."
        if fields.get("state") != [self.state]:
            return 400, "This is the answer to another sign-in. Open the link that Keryx shows now."
        if not self._taken.acquire(blocking=False):
            return 409, "This sign-in was answered already. You can close this page."
        self._arrived.put(f"{self.uri}?{parts.query}")
        self._waker.send(b"!")
        try:
            return 200, self._page.get(timeout=OUTCOME_S)
        except queue.Empty:
            return 504, "Keryx did not finish. Look at the terminal where you started the sign-in."


class _Server(socketserver.ThreadingTCPServer):
    """Not `HTTPServer`: that one asks the name service who we are before it listens."""

    daemon_threads = True
    allow_reuse_address = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: a browser that goes away is no error, and what it asked for holds the code."""


class _Handler(http.server.BaseHTTPRequestHandler):
    """One connection; a page for one request."""

    timeout = CONNECTION_S
    server_version, sys_version = "Keryx", ""
    brought_it = False

    def page_of(self, target: str) -> tuple[int, str]:
        raise NotImplementedError

    def do_GET(self) -> None:
        status, sentence = self.page_of(self.path)
        self.brought_it = status == 200
        body = _PAGE.format(html.escape(sentence)).encode()
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the code is in the address."""
