"""What a request must be before anything looks at it, and how long the server waits for it."""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import json
import re
import secrets
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gnninterpreter.errors import needs
from gnninterpreter.files import no_constant

with needs("uvicorn", "web", "the live page"):
    import h11
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_BYTES = 1_000_000
PATIENCE = 10.0
"""Seconds that a connection has to send a whole request."""
MOST_CONNECTIONS = 200
"""Far fewer than the files that a process may open, which every connection is one of."""
LOCAL = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")
# A name or an address, in brackets where it has colons, and maybe a port; nothing around it.
AUTHORITY = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?", re.IGNORECASE)


def policy(scripts: str = "'self'") -> str:
    """What a page of this server may load and do, as the header says it."""
    return (
        f"default-src 'none'; style-src 'self' 'unsafe-inline'; script-src {scripts}; "
        "img-src 'self' data: blob:; connect-src 'self'; frame-ancestors 'none'; "
        "base-uri 'none'; form-action 'none'"
    )


# Every answer has them.
HEADERS = {
    "Content-Security-Policy": policy(),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def json_answer(values: Any, status: int = 200) -> Response:
    """JSON in ASCII alone: what came from outside may hold halves of characters."""
    return Response(json.dumps(values, allow_nan=False), status, media_type="application/json")


class Guard:
    """Answers only requests that were meant for this server.

    A page elsewhere can make a browser send requests here, under a name that resolves to this
    machine (DNS rebinding) or from its own origin; both show in the headers. So only the local
    names and the address that the server listens on are allowed; where that is every address, each
    may be used, but no name: only names can be made to lead here. Where others can reach the
    server, it answers only those who know its token: from the address, and from then on from a
    cookie.
    """

    def __init__(self, app: ASGIApp, host: str = "127.0.0.1", token: str | None = None) -> None:
        """Allow the local names and the address itself."""
        self.app = app
        self.allowed = {*LOCAL, host.lower()}
        self.everywhere = host in EVERYWHERE
        self.token = token
        # Browsers keep one set of cookies for all ports of a host.
        mark = hashlib.sha256((token or "").encode()).hexdigest()[:8]
        self.cookie = f"gnninterpreter-{mark}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse foreign hosts and origins, and whoever does not know the token."""

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                found = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    found.setdefault(name, value)
            await send(message)

        answer = self._answer(Request(scope)) if scope["type"] == "http" else None
        await (answer or self.app)(scope, receive, guarded)

    def _answer(self, request: Request) -> Response | None:
        """The answer to a request that goes no further."""
        problem = self._problem(request)
        if problem is not None:
            return json_answer({"error": problem}, 403)
        if self.token is None or self._knows(request.cookies.get(self.cookie)):
            return None
        if not self._knows(request.query_params.get("token")):
            said = "this server answers those who know its token; open the address it has printed"
            return json_answer({"error": said}, 403)
        # Off the address again, where it would be copied along with a link.
        response = RedirectResponse(request.url.path, 303)
        response.set_cookie(self.cookie, self.token, httponly=True, samesite="strict")
        return response

    def _problem(self, request: Request) -> str | None:
        host = request.headers.get("host", "")
        name = _name(host)
        if name not in self.allowed and not (self.everywhere and _address(name) is not None):
            return f"this server does not answer to the name {host!r}; open it as localhost"
        origin = request.headers.get("origin")
        if origin is not None:
            scheme, _, asking = origin.partition("://")
            if scheme not in ("http", "https") or _name(asking) not in {*self.allowed, name}:
                return f"requests from {origin!r} are not answered"
        return None

    def _knows(self, given: str | None) -> bool:
        return secrets.compare_digest((given or "").encode(), (self.token or "").encode())


async def read_json(request: Request) -> Any:
    """Read the body of a request as JSON; refuse what is something else, too large or malformed."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, "send JSON, with the content type application/json")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise HTTPException(413, f"at most {MOST_BYTES // 1000} kB are taken")
    try:
        return json.loads(body, parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"this is no JSON: {error}") from error


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    address = _address(host)
    return host.lower() == "localhost" if address is None else address.is_loopback


def _address(name: str | None) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name or "")
    except ValueError:
        return None


def _name(authority: str) -> str | None:
    """The name in ``name:port``; None where there is anything else in it."""
    found = AUTHORITY.fullmatch(authority)
    return None if found is None else (found[1] or found[2]).lower()


class _Connection(H11Protocol):
    """A connection that is dropped when no request comes of it.

    uvicorn waits for the first request of a connection without end, and for the rest of one that
    has begun. A thousand such connections would use up all that the process may open.
    """

    waiting_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait; where too many do, drop the one that has waited longest."""
        super().connection_made(transport)
        self.waiting_since = self.loop.time()
        if len(self.connections) > MOST_CONNECTIONS:
            waiting = [c for c in self.connections if isinstance(c, _Connection) and c.waiting]
            min(waiting, key=lambda c: c.waiting_since).drop()
        self.loop.call_later(PATIENCE, self._check)

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        self.waiting_since = self.loop.time()
        super().on_response_complete()

    @property
    def waiting(self) -> bool:
        """Whether a request, or the rest of one, has still to come."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def drop(self) -> None:
        """Close the connection, and forget it at once."""
        self.connections.discard(self)
        self.transport.abort()

    def _check(self) -> None:
        if self.transport.is_closing():
            return
        left = self.waiting_since + PATIENCE - self.loop.time()
        if self.waiting and left <= 0:
            self.drop()
        else:
            self.loop.call_later(max(left, PATIENCE / 10), self._check)


def make_server(app: Any) -> uvicorn.Server:
    """A server that does not wait for ever; it listens where `uvicorn.Server.run` is told to."""
    config = uvicorn.Config(
        app, http=_Connection, ws="none", log_level="warning", timeout_graceful_shutdown=1
    )
    return uvicorn.Server(config)
