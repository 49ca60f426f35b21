"""The server below the page: how long it waits for a request, and how many may wait at once."""

from __future__ import annotations

import asyncio
from typing import Any

from gnninterpreter.errors import needs

with needs("uvicorn", "web", "the live page"):
    import h11
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 10.0
"""Seconds that a connection has to send a whole request."""
MOST_CONNECTIONS = 200
"""Far fewer than the files that a process may open, which every connection is one of."""


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
