"""The `anthropic` client, Messages."""

import base64
from collections.abc import Iterator
from typing import Any, Optional

import anthropic

from conversation import Answer, Ask, Call, Failure, Model, Results, Turn, Usage, User

FINISHES = {"end_turn": "stop", "stop_sequence": "stop sequence", "max_tokens": "length", "tool_use": "tools"}
CHOICES = {"auto": "auto", "none": "none", "required": "any"}
MAX_TOKENS = 8192


class Client:
    protocol = "anthropic-messages"

    def __init__(self, base: str, timeout_s: float, headers: Optional[dict[str, str]] = None) -> None:
        options = {"max_retries": 0, "timeout": timeout_s, "default_headers": headers}
        self.sdk = anthropic.Anthropic(api_key="none", base_url=base, **options)

    def close(self) -> None:
        self.sdk.close()

    def whole(self, ask: Ask) -> Answer:
        return answer(self.sdk.messages.create(**arguments(ask)), 0)

    def stream(self, ask: Ask) -> Answer:
        pieces = 0
        with self.sdk.messages.stream(**arguments(ask)) as events:
            for event in events:
                pieces += event.type == "text"
            return answer(events.get_final_message(), pieces)

    def pieces(self, ask: Ask) -> Iterator[Any]:
        with self.sdk.messages.create(**arguments(ask), stream=True) as events:
            yield from events

    def is_finished(self, pieces: list) -> bool:
        return any(event.type == "message_stop" for event in pieces)

    def failure(self, error: Exception) -> Failure:
        if isinstance(error, anthropic.APIStatusError):
            body = error.body if isinstance(error.body, dict) else {}
            retry_after = error.response.headers.get("retry-after")
            inner = body.get("error") or {}
            return Failure(type(error).__name__, error.status_code, inner.get("message", error.message), retry_after, inner)
        return Failure(type(error).__name__, None, str(error))


def arguments(ask: Ask) -> dict:
    out: dict = {
        "model": ask.model,
        "max_tokens": ask.max_tokens or MAX_TOKENS,
        "messages": [message(turn) for turn in ask.turns],
    }
    if ask.system:
        out["system"] = [{"type": "text", "text": text} for text in ask.system]
    if ask.tools:
        out["tools"] = [
            {"name": it.name, "description": it.description, "input_schema": it.parameters} for it in ask.tools
        ]
    if ask.choice:
        named = ask.choice.removeprefix("tool:")
        is_named = named != ask.choice
        out["tool_choice"] = {"type": "tool", "name": named} if is_named else {"type": CHOICES[named]}
    if ask.thinks:
        out["thinking"] = {"type": "enabled", "budget_tokens": 2048}
    if ask.schema:
        out["output_config"] = {"format": {"type": "json_schema", "schema": ask.schema}}
    if ask.stops:
        out["stop_sequences"] = list(ask.stops)
    return out


def message(turn: Turn) -> dict:
    match turn:
        case User(text, images):
            content = [{"type": "text", "text": text}, *map(image, images)] if images else text
            return {"role": "user", "content": content}
        case Model(blocks):
            return {"role": "assistant", "content": blocks}
        case Results(outputs):
            blocks = [{"type": "tool_result", "tool_use_id": call.id, "content": text} for call, text in outputs]
            return {"role": "user", "content": blocks}
        case other:
            raise TypeError(f"Messages cannot say {other}")


def image(data: bytes) -> dict:
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source}


def answer(message: Any, pieces: int) -> Answer:
    usage = message.usage
    details = getattr(usage, "output_tokens_details", None)
    read_and_written = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    return Answer(
        model=message.model,
        text="".join(block.text for block in message.content if block.type == "text"),
        finish=FINISHES.get(message.stop_reason, message.stop_reason),
        usage=Usage(usage.input_tokens + read_and_written, usage.output_tokens, details and details.thinking_tokens),
        turn=[block.model_dump(exclude_none=True) for block in message.content],
        thinking="".join(block.thinking for block in message.content if block.type == "thinking"),
        calls=tuple(Call(it.id, it.name, it.input) for it in message.content if it.type == "tool_use"),
        pieces=pieces,
    )
