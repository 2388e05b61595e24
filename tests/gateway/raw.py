"""Requests without an SDK: one plain text in each protocol, with any headers, and the answer as it came."""

import http.client
import json
from dataclasses import dataclass
from typing import Any, Optional

TIMEOUT_S = 30.0
PROTOCOLS = ("openai-chat", "openai-responses", "anthropic-messages", "gemini")


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: str

    def json(self) -> Any:
        return json.loads(self.body)


def send(
    base: str, method: str, path: str, body: Optional[bytes] = None, headers: Optional[dict[str, str]] = None
) -> Reply:
    connection = http.client.HTTPConnection(base.removeprefix("http://"), timeout=TIMEOUT_S)
    try:
        connection.request(method, path, body, headers or {})
        reply = connection.getresponse()
        found = {name.lower(): value for name, value in reply.getheaders()}
        return Reply(reply.status, found, reply.read().decode())
    finally:
        connection.close()


def ask(
    base: str, protocol: str, model: str, text: str, is_streamed: bool = False, headers: Optional[dict[str, str]] = None
) -> Reply:
    path, body = request(protocol, model, text, is_streamed)
    sent = {"content-type": "application/json"} | (headers or {})
    return send(base, "POST", path, json.dumps(body).encode(), sent)


def request(protocol: str, model: str, text: str, is_streamed: bool = False) -> tuple[str, dict]:
    """The path and the body that ask a model something."""
    messages = [{"role": "user", "content": text}]
    stream = {"stream": True} if is_streamed else {}
    match protocol:
        case "openai-chat":
            return "/v1/chat/completions", {"model": model, "messages": messages} | stream
        case "openai-responses":
            return "/v1/responses", {"model": model, "input": text} | stream
        case "anthropic-messages":
            return "/v1/messages", {"model": model, "max_tokens": 50_000, "messages": messages} | stream
        case _:
            call = "streamGenerateContent?alt=sse" if is_streamed else "generateContent"
            return f"/v1beta/models/{model}:{call}", {"contents": [{"role": "user", "parts": [{"text": text}]}]}
