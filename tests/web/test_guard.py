"""Whom the server answers: names, origins, tokens, and how long it waits for a request."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import httpx
import pytest

from gnninterpreter.web import Backend, create_app, guard
from gnninterpreter.web.guard import is_loopback
from tests.web.conftest import TRIANGLE, serving
from tests.web.test_app import refusal

SECURITY = ("content-security-policy", "x-content-type-options", "referrer-policy", "cache-control")


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8000", "", "localhost.evil", "[::", "[::1].evil.com",
     "[::1]evil.com:80", "127.0.0.1@evil.com", "localhost:80:80", "localhost/", "127.0.0.1\\x"],
)  # fmt: skip
def test_foreign_hosts(client: httpx.Client, host: str) -> None:
    assert refusal(client.get("/api/state", headers={"host": host}), 403)


@pytest.mark.parametrize("host", ["localhost:8000", "LOCALHOST", "127.0.0.1", "[::1]:8000"])
def test_local_hosts(client: httpx.Client, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://[::1].evil.com", "null", "ftp://localhost", ""]
)
def test_foreign_origins(client: httpx.Client, origin: str) -> None:
    headers = {"origin": origin}
    assert refusal(client.post("/api/score", json=TRIANGLE, headers=headers), 403)


def test_own_origin(client: httpx.Client) -> None:
    headers = {"origin": "http://localhost:8000"}
    assert client.post("/api/score", json=TRIANGLE, headers=headers).status_code == 200


@pytest.mark.parametrize(
    "path", ["/", "/report", "/assets/live.js", "/library/d3.js", "/api/state", "/nothing"]
)
def test_every_answer_has_the_same_headers(client: httpx.Client, path: str) -> None:
    found, page = client.get(path).headers, client.get("/").headers
    assert [found[name] for name in SECURITY[1:]] == [page[name] for name in SECURITY[1:]]
    # Only where scripts may come from differs: the report's is inside, and known by its hash.
    without = [re.sub(r"script-src [^;]+", "", h["content-security-policy"]) for h in (found, page)]
    assert without[0] == without[1]
    assert "unsafe" not in re.findall(r"script-src ([^;]+)", found["content-security-policy"])[0]


def test_loopback_is_what_only_this_machine_reaches() -> None:
    near = ("127.0.0.1", "127.9.9.9", "::1", "localhost", "LocalHost")
    assert all(is_loopback(host) for host in near)
    far = ("0.0.0.0", "::", "10.0.0.1", "192.168.1.2", "example.org", "localhost.evil", "")
    assert not any(is_loopback(host) for host in far)


def test_no_token_where_nobody_else_comes(backend: Backend) -> None:
    assert create_app(backend, "127.0.0.1").state.token is None
    tokens = {create_app(backend, "0.0.0.0").state.token for _ in range(2)}
    assert len(tokens) == 2
    assert min(len(token) for token in tokens) >= 20


@pytest.fixture(scope="module")
def exposed(backend: Backend) -> Iterator[tuple[str, str]]:
    """The address and the token of a server that listens on every address."""
    app = create_app(backend, "0.0.0.0")
    with serving(app) as address:
        yield address, app.state.token


@pytest.mark.parametrize("given", ["", "?token=", "?token=wrong", "?token=%ff%00", "?tok=1"])
@pytest.mark.parametrize("path", ["/", "/report", "/api/state", "/assets/live.js"])
def test_without_the_token_nothing_is_answered(
    exposed: tuple[str, str], path: str, given: str
) -> None:
    assert "token" in refusal(httpx.get(exposed[0] + path + given), 403)


def test_the_token_of_the_address_becomes_a_cookie(exposed: tuple[str, str]) -> None:
    address, token = exposed
    with httpx.Client(base_url=address, timeout=60) as client:
        first = client.get("/", params={"token": token})
        assert first.status_code == 303
        assert first.headers["location"] == "/"
        said = first.headers["set-cookie"].lower()
        assert "httponly" in said
        assert "samesite=strict" in said
        assert client.get("/api/state").status_code == 200
        assert client.post("/api/score", json=TRIANGLE).status_code == 200
        foreign = {"origin": "https://evil.example"}
        assert refusal(client.post("/api/score", json=TRIANGLE, headers=foreign), 403)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "10.1.2.3:8000"}, 303),
        ({"host": "10.1.2.3:8000", "origin": "http://10.1.2.3:8000"}, 303),
        ({"host": "10.1.2.3:8000", "origin": "http://10.6.6.6"}, 403),
        ({"host": "evil.example"}, 403),
        ({"host": "localhost"}, 303),
    ],
)
def test_a_server_for_every_address(
    exposed: tuple[str, str], headers: dict[str, str], status: int
) -> None:
    address, token = exposed
    assert httpx.get(f"{address}/?token={token}", headers=headers).status_code == status


def silent(address: str, sent: bytes = b"") -> socket.socket:
    found = urlsplit(address)
    opened = socket.create_connection((found.hostname, found.port), timeout=60)
    opened.sendall(sent)
    return opened


def test_many_silent_connections_keep_nobody_out(
    client: httpx.Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "MOST_CONNECTIONS", 8)
    held = [silent(address, b"GET / HTTP/1.1\r\nHost: local" * (i % 2)) for i in range(40)]
    assert client.get("/api/state").status_code == 200
    # Those that had waited longest are gone: the end of the stream, or a reset.
    for connection in held[:20]:
        with suppress(ConnectionResetError):
            assert connection.recv(1) == b""
    for connection in held:
        connection.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n",
        b"POST /api/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 100\r\n\r\n{",
        b"GET /assets/live.js HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HT",
    ],
    ids=["nothing", "half a head", "half a body", "half a second request"],
)
def test_a_request_that_does_not_come_is_not_waited_for(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(guard, "PATIENCE", 0.2)
    with (
        serving(create_app(backend)) as address,
        silent(address, sent) as connection,
    ):
        answered = b""
        with suppress(ConnectionResetError):  # the end, as good as an empty answer
            while part := connection.recv(65536):
                answered += part
        # What was asked in full is answered, the half of a request is not.
        assert answered.count(b"HTTP/1.1 ") == sent.count(b"\r\n\r\nGET")
        assert httpx.get(f"{address}/api/state", timeout=60).status_code == 200
