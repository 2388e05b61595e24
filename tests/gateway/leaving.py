"""A thousand streams that their clients leave half-way: nothing may be left behind."""

import asyncio
import json
import time
from typing import Any

from conversation import Ask, User
from servers import PROVIDERS, Gateway, Simulators

AT_ONCE = 250
BATCHES = 4
BY_SDK = 4
GROWTH_BYTES_MAX = 16 << 20
SETTLE_S = 15.0
PATIENCE_S = 30.0

MODELS = ("fault-never-ending", "fault-slow-stream")
BODIES: dict[str, tuple[str, dict]] = {
    "openai-chat": ("/v1/chat/completions", {"stream": True, "messages": [{"role": "user", "content": "hello"}]}),
    "openai-responses": ("/v1/responses", {"stream": True, "input": "repeat 200 words"}),
    "anthropic-messages": (
        "/v1/messages",
        {"stream": True, "max_tokens": 500, "messages": [{"role": "user", "content": "hello"}]},
    ),
    "gemini": ("/v1beta/models/{model}:streamGenerateContent?alt=sse", {"contents": [{"parts": [{"text": "hello"}]}]}),
}


def by_sockets(gateway: Gateway, simulators: Simulators) -> None:
    """Hundreds at once, over and over; the first time is for memory that stays and buffers that are reused."""
    asyncio.run(_batch(gateway, 0))
    _settle(gateway, simulators, gateway.sockets(), simulators.sockets(), 0)
    files, upstream_sockets, memory = gateway.open_files(), simulators.sockets(), gateway.resident_bytes()
    before = _cancelled(gateway)
    for number in range(BATCHES):
        asyncio.run(_batch(gateway, number))
    _settle(gateway, simulators, files, upstream_sockets, before + AT_ONCE * BATCHES)
    growth = gateway.resident_bytes() - memory
    assert growth < GROWTH_BYTES_MAX, f"the gateway has grown by {growth} bytes"


def by_sdk(clients: list[Any]) -> None:
    """The SDKs' own way to leave: closing what they iterate over."""
    for client in clients:
        for provider in PROVIDERS:
            for number in range(BY_SDK):
                pieces = client.pieces(Ask(f"{provider}/{MODELS[number % 2]}", (User("repeat 50 words"),)))
                for _ in range(3):
                    next(pieces)
                pieces.close()


async def _batch(gateway: Gateway, number: int) -> None:
    leavers = [_leave(gateway, AT_ONCE * number + index) for index in range(AT_ONCE)]
    await asyncio.wait_for(asyncio.gather(*leavers), PATIENCE_S)


async def _leave(gateway: Gateway, number: int) -> None:
    """Asks for a stream, reads its beginning, and hangs up."""
    client, (path, body) = list(BODIES.items())[number % len(BODIES)]
    provider = list(PROVIDERS)[number // len(BODIES) % len(PROVIDERS)]
    model = f"{provider}/{MODELS[number % 2]}"
    sent = json.dumps({"model": model} | body if client != "gemini" else body).encode()
    host, port = gateway.base.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = f"POST {path.format(model=model)} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {len(sent)}\r\n\r\n"
    writer.write(head.encode() + sent)
    beginning = b""
    while beginning.count(b"data:") < 3:
        piece = await reader.read(4096)
        assert piece, f"{client} on {provider} ended early: {beginning[-300:]!r}"
        beginning += piece
    assert beginning.startswith(b"HTTP/1.1 200"), beginning[:300]
    writer.transport.abort()


def _cancelled(gateway: Gateway) -> int:
    metrics = gateway.metrics().items()
    return sum(int(value) for name, value in metrics if name.startswith("sabir_requests_total") and "cancelled" in name)


def _settle(gateway: Gateway, simulators: Simulators, files: int, upstream_sockets: int, cancelled: int) -> None:
    end = time.monotonic() + SETTLE_S
    while True:
        metrics = gateway.settled(SETTLE_S)
        left = {
            "requests in flight": metrics["sabir_requests_in_flight"],
            "connections": max(0, metrics["sabir_connections"] - 1),
            "files": max(0, gateway.open_files() - files),
            "connections of the simulators": max(0, simulators.sockets() - upstream_sockets),
            "uncounted cancellations": max(0, cancelled - _cancelled(gateway)),
        }
        if not any(left.values()):
            return
        assert time.monotonic() < end, f"left behind: {left}"
        time.sleep(0.1)
