"""Gmail and Google Calendar on loopback, as the documents that Google's client library brings along describe them.

A thread of its own serves it, so that blocking clients and other processes can use it. Whatever it would answer against
the documents is kept in `broken`, and fails the test that `served_google` is used in.
"""

import contextlib
import gzip
import http.server
import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from email.utils import format_datetime
from http import HTTPStatus
from typing import Any

from keryx.clock import Clock
from tests.support.google.faults import BOUND_S, Cut, Fault, Late
from tests.support.google.google_server import GoogleServer
from tests.support.google.multipart import Incoming
from tests.support.google.oauth import ADDRESS, Answer

__all__ = ["GoogleServer", "served_google"]

MOST_PACKED_BYTES = 2**20
"""Larger answers are not compressed: it takes a test seconds."""


class _Connection(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # One write for head and body: two would wait for each other's acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True

    @property
    def _google(self) -> GoogleServer:
        assert isinstance(self.server, _Listening)
        return self.server.google

    def handle_one_request(self) -> None:
        with contextlib.suppress(ConnectionError):
            super().handle_one_request()
            return
        self.close_connection = True

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        headers = {name.lower(): value for name, value in self.headers.items()}
        incoming = Incoming(self.command, self.path, headers, self.rfile.read(length))
        google = self._google
        try:
            answer, fault = google.answer(incoming)
        except Exception as error:
            google.broken.append(f"{incoming.method} {incoming.path}: {error!r}")
            raise
        if isinstance(fault, Late):
            fault.done.set()
            if not fault.release.wait(BOUND_S):
                google.broken.append("an answer was held back and never released")
        if answer.drop:
            self.close_connection = True
            return
        self._send(answer, fault)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def _send(self, answer: Answer, fault: Fault | None) -> None:
        self.send_response_only(answer.status, _phrase(answer.status))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if "Date" not in answer.headers:
            ahead = timedelta(seconds=self._google.date_off_s)
            self.send_header("Date", format_datetime(self._google.clock.now() + ahead, usegmt=True))
        # Google compresses, and does not say how long it will be, for those who ask for it and name it themselves.
        packed = all("gzip" in self.headers.get(name, "") for name in ("Accept-Encoding", "User-Agent"))
        packed = packed and 0 < len(answer.body) <= MOST_PACKED_BYTES
        body = gzip.compress(answer.body, compresslevel=1) if packed else answer.body
        if packed:
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Transfer-Encoding", "chunked")
        elif answer.status != HTTPStatus.NO_CONTENT:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if packed:
            self.wfile.write(f"{len(body):x}\r\n".encode())
        if isinstance(fault, Cut):
            self.close_connection = True
            self.wfile.write(body[: min(fault.after_bytes, len(body) - 1)])
            return
        self.wfile.write(body)
        if packed:
            self.wfile.write(b"\r\n0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Listening(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.google: GoogleServer
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """What went wrong is kept, and is told at the end."""

    def end_connections(self) -> None:
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def served_google(*, clock: Clock | None = None, address: str = ADDRESS, zone: str = "UTC") -> Iterator[GoogleServer]:
    """A server in a thread of its own, for the length of the block. `zone`: of the owner's calendar.

    Fails at the end of the block when the server did what it should not have done.
    """
    with _Listening() as listening:
        url = f"http://127.0.0.1:{listening.server_port}"
        google = listening.google = GoogleServer(url, clock=clock, address=address, zone=zone)
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield google
        finally:
            google.faults.release()
            listening.shutdown()
            listening.end_connections()
            thread.join()
    assert not google.broken, f"the loopback Google went wrong: {google.broken}"


def _phrase(status: int) -> str:
    with contextlib.suppress(ValueError):
        return HTTPStatus(status).phrase
    return "Scripted"
