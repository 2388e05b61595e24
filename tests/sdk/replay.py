"""An HTTP client for the SDKs that answers from memory, in pieces of odd sizes, and remembers what was asked."""

from collections.abc import Iterator
from itertools import cycle

import httpx2

PIECE_BYTES = (1, 2, 3, 5, 7, 11, 13, 127, 251, 509, 1021, 4093)


class Pieces(httpx2.SyncByteStream):
    """A body that arrives in odd pieces, so that lines and characters are cut anywhere."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def __iter__(self) -> Iterator[bytes]:
        start = 0
        for size in cycle(PIECE_BYTES):
            if start >= len(self.body):
                return
            yield self.body[start : start + size]
            start += size


class Replay(httpx2.BaseTransport):
    """Answers every request with the body it was last given."""

    def __init__(self) -> None:
        self.client = httpx2.Client(transport=self)
        self.requested = b""
        self.answer_json("{}")

    def answer_json(self, body: str, status: int = 200) -> None:
        self.answer = (status, "application/json", body)

    def answer_events(self, body: str) -> None:
        self.answer = (200, "text/event-stream", body)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requested = request.read()
        status, content_type, body = self.answer
        return httpx2.Response(status, headers={"content-type": content_type}, stream=Pieces(body.encode()))
