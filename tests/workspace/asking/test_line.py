"""Connections to Google: used again while they last, and never the reason that something is asked twice."""

import contextlib
import gzip
import http.server
import socket
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from google.auth.credentials import AnonymousCredentials

from keryx.errors import ConfigError, Unavailable
from keryx.workspace.asking import line as line_module
from keryx.workspace.asking.faults import Answered, Lost, NotReached
from keryx.workspace.asking.line import IDLE_S, MOST_IDLE, Lines
from keryx.workspace.google import Google
from tests.support.google.oauth import signed_in
from tests.support.google.server import served_google
from tests.support.google_account import Waits


class Counting(http.server.ThreadingHTTPServer):
    """Answers everything with "ok", and hangs up then if told to; `connections`: how many came."""

    daemon_threads = True

    def __init__(self, *, hang_up: bool = False) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.hang_up = hang_up
        self.connections = 0
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections += 1
        super().process_request(request, client_address)


class _Answering(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Counting  # pyright: ignore[reportIncompatibleVariableOverride] - it is served by no other

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.send_response(302 if self.path == "/elsewhere" else 200)
        self.send_header("Location", "/other")
        body = b"ok"
        if self.path == "/packed" and "gzip" in self.headers["Accept-Encoding"]:
            body = gzip.compress(b"ok" * 100_000)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = self.server.hang_up  # without a word of it in the headers

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextlib.contextmanager
def serving(server: Any) -> Iterator[Any]:
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def lines() -> Iterator[Lines]:
    lines = Lines(AnonymousCredentials)
    yield lines
    lines.close()


def ask(lines: Lines, url: str, **options: Any) -> bytes:
    with lines.line(10, **options) as line:
        return line.request(url)[1]


def test_a_connection_is_used_again(lines: Lines) -> None:
    with serving(Counting()) as server:
        assert [ask(lines, server.url) for _ in range(3)] == [b"ok"] * 3
        assert server.connections == 1
        ask(lines, server.url, fresh=True)
        assert server.connections == 2
        lines.close()


def test_an_answer_that_google_packed_is_unpacked(lines: Lines) -> None:
    with serving(Counting()) as server:
        assert ask(lines, f"{server.url}/packed") == b"ok" * 100_000
        assert ask(lines, server.url) == b"ok"
        assert server.connections == 1
        lines.close()


def test_one_that_the_other_side_has_ended_is_not(lines: Lines) -> None:
    with serving(Counting(hang_up=True)) as server:
        ask(lines, server.url)
        ended = lines._idle[0]._http.connections
        (connection,) = ended.values()
        connection.sock.settimeout(10)
        assert connection.sock.recv(1, socket.MSG_PEEK) == b""  # until its end has come
        assert ask(lines, server.url) == b"ok"
        assert server.asked == ["/", "/"]
        lines.close()


def test_one_that_rested_too_long_is_not(lines: Lines) -> None:
    with serving(Counting()) as server:
        ask(lines, server.url)
        lines._idle[0]._idle_since -= IDLE_S + 1
        ask(lines, server.url)
        assert server.connections == 2
        lines.close()


def test_only_a_few_are_kept(lines: Lines) -> None:
    with serving(Counting()) as server:
        with contextlib.ExitStack() as stack:
            for _ in range(MOST_IDLE + 2):
                stack.enter_context(lines.line(10)).request(server.url)
        assert len(lines._idle) == MOST_IDLE
        lines.close()


def test_one_on_which_something_went_wrong_is_not_kept(lines: Lines) -> None:
    with serving(Counting()) as server:
        with pytest.raises(Answered) as caught:
            ask(lines, f"{server.url}/elsewhere")
        assert caught.value.status == 302
        assert server.asked == ["/elsewhere"]  # and nobody followed it, with a token
        assert not lines._idle


def test_a_connection_that_never_came_about_is_told_from_one_that_ended(lines: Lines) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(NotReached):
            ask(lines, url)
        listening.listen()
        accepted: list[int] = []

        def hang_up() -> None:
            listening.settimeout(10)
            connection, _ = listening.accept()
            connection.recv(65_536)
            connection.close()
            accepted.append(1)

        thread = threading.Thread(target=hang_up)
        thread.start()
        with pytest.raises(Lost):
            ask(lines, url)
        thread.join()
        listening.settimeout(0.05)
        with pytest.raises(TimeoutError):  # nobody asks a second time
            listening.accept()


def test_an_answer_that_drips_without_end_is_given_up(lines: Lines) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.settimeout(10)

        def drip() -> None:
            connection, _ = listening.accept()
            with connection, contextlib.suppress(OSError):
                connection.recv(65_536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                for _ in range(1_000):
                    connection.sendall(b"x")
                    pause.wait(0.02)

        pause = threading.Event()
        thread = threading.Thread(target=drip)
        thread.start()
        with pytest.raises(Lost) as caught, lines.line(0.1) as line:
            line.request(f"http://127.0.0.1:{listening.getsockname()[1]}")
        assert isinstance(caught.value.cause, TimeoutError)
        thread.join(10)


def test_an_answer_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch, lines: Lines) -> None:
    monkeypatch.setattr(line_module, "MOST_BYTES", 200_000)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def pour() -> None:
            connection, _ = listening.accept()
            with connection, contextlib.suppress(OSError):
                connection.recv(65_536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n")
                connection.sendall(b"x" * 5_000_000)

        thread = threading.Thread(target=pour)
        thread.start()
        with pytest.raises(Lost, match="HTTPException"):
            ask(lines, f"http://127.0.0.1:{listening.getsockname()[1]}")
        thread.join(10)


# -- TLS ---------------------------------------------------------------------------------------------------------------


def certificate_of_nobody(folder: Path, *, begins: datetime, ends: datetime) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begins)
        .not_valid_after(ends)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "certificate.pem"
    path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return path


class Secure(Counting):
    """The same over TLS, with a certificate that nobody vouches for."""

    def __init__(self, certificate: Path) -> None:
        super().__init__()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.socket = context.wrap_socket(self.socket, server_side=True)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """The client turns away: that is what is tested."""


def secure_google(url: str, folder: Path, waits: Waits) -> Google:
    with served_google() as server:
        account = signed_in(folder / "google", server, clock=waits)
    return Google(account, api_url=url.replace("http:", "https:"), pause=waits.pause)


def test_a_server_that_nobody_vouches_for_is_told_nothing(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    path = certificate_of_nobody(tmp_path, begins=now - timedelta(days=1), ends=now + timedelta(days=1))
    waits = Waits()
    with serving(Secure(path)) as server:
        google = secure_google(server.url, tmp_path, waits)
        with pytest.raises(ConfigError, match="its certificate is not trusted here .*self.signed certificate"):
            google.ask(google.gmail().users().labels().list(userId="me"), doing="list the labels")
    assert server.asked == []
    assert waits.pauses == []


def test_a_network_that_speaks_no_tls_is_a_sentence(tmp_path: Path) -> None:
    with serving(Counting()) as server:
        google = secure_google(server.url, tmp_path, Waits())
        with pytest.raises(Unavailable, match="no connection came about .*; see whether this machine is online"):
            google.ask(google.gmail().users().labels().list(userId="me"), doing="list the labels")
        assert server.asked == []
