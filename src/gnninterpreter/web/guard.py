"""What a request must be before anything looks at it: from here, JSON, and not too large."""

from __future__ import annotations

import ipaddress
import json
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["HEADERS", "HostGuard", "Refused", "read_json"]

MOST_BYTES = 1_000_000
LOCAL = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self' 'unsafe-inline'; "
    "script-src 'self'; img-src 'self' data: blob:; connect-src 'self'; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Refused(Exception):  # noqa: N818 - an answer, not an error of the program
    """A request that is answered with a status and a sentence."""

    def __init__(self, status: int, message: str) -> None:
        """Say what is wrong with it."""
        super().__init__(message)
        self.status = status


class HostGuard:
    """Answers only requests that were meant for this server.

    A page elsewhere can make a browser send requests here, under a name that resolves to this
    machine (DNS rebinding) or from its own origin; both show in the headers.

    Args:
        app: What comes behind it.
        host: The address the server listens on, allowed besides the local names. Where that is
            every address, each may be used, but no name: only names can be made to lead here.
    """

    def __init__(self, app: ASGIApp, host: str = "127.0.0.1") -> None:
        """Allow the local names and the address itself."""
        self.app = app
        self.allowed = {*LOCAL, host}
        self.everywhere = host in EVERYWHERE

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse foreign hosts and origins."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        problem = self._problem(request)
        if problem is None:
            await self.app(scope, receive, send)
            return
        response: Response = JSONResponse({"error": problem}, 403, headers=HEADERS)
        await response(scope, receive, send)

    def _problem(self, request: Request) -> str | None:
        name = _name(f"//{request.headers.get('host', '')}")
        if name not in self.allowed and not (self.everywhere and _is_address(name)):
            return f"this server does not answer to the name {name!r}; open it as localhost"
        origin = request.headers.get("origin")
        if origin is not None and _name(origin) not in {*self.allowed, name}:
            return f"requests from {origin!r} are not answered"
        return None


async def read_json(request: Request) -> Any:
    """Read the body of a request as JSON.

    Raises:
        Refused: If it is something else, too large or malformed.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, "send JSON, with the content type application/json")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise Refused(413, f"at most {MOST_BYTES // 1000} kB are taken")
    try:
        return json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"this is no JSON: {error}") from error


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _is_address(name: str | None) -> bool:
    try:
        ipaddress.ip_address(name or "")
    except ValueError:
        return False
    return True


def _name(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
