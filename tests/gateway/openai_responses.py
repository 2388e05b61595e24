"""The `openai` client, Responses."""

import base64
import json
from collections.abc import Iterator
from typing import Any, Optional

import openai

import openai_failure
from conversation import Answer, Ask, Call, Failure, Model, Results, System, Turn, Usage, User


class Client:
    protocol = "openai-responses"

    def __init__(self, base: str, timeout_s: float, headers: Optional[dict[str, str]] = None) -> None:
        options = {"max_retries": 0, "timeout": timeout_s, "default_headers": headers}
        self.sdk = openai.OpenAI(api_key="none", base_url=f"{base}/v1", **options)

    def close(self) -> None:
        self.sdk.close()

    def whole(self, ask: Ask) -> Answer:
        return answer(self.sdk.responses.create(**arguments(ask)), 0)

    def stream(self, ask: Ask) -> Answer:
        deltas: list[str] = []
        last: Any = None
        for event in self.pieces(ask):
            last = event
            if event.type in ("response.output_text.delta", "response.refusal.delta"):
                deltas.append(event.delta)
        assert self.is_finished([last]), f"the last event is {last and last.type}"
        out = answer(last.response, len(deltas))
        assert "".join(deltas) == out.text, "the deltas are not the final text"
        return out

    def pieces(self, ask: Ask) -> Iterator[Any]:
        with self.sdk.responses.create(**arguments(ask), stream=True) as events:
            yield from events

    def is_finished(self, pieces: list) -> bool:
        return bool(pieces) and pieces[-1].type in ("response.completed", "response.incomplete")

    def failure(self, error: Exception) -> Failure:
        return openai_failure.read(error)


def arguments(ask: Ask) -> dict:
    items = [item for turn in ask.turns for item in input_items(turn)]
    first, *more = ask.system or [None]
    head = [{"role": "developer", "content": text} for text in more]
    out: dict = {"model": ask.model, "input": head + items, "store": False}
    if first:
        out["instructions"] = first
    if ask.tools:
        out["tools"] = [
            {"type": "function", "name": it.name, "description": it.description, "parameters": it.parameters, "strict": False}
            for it in ask.tools
        ]
    if ask.choice:
        named = ask.choice.removeprefix("tool:")
        out["tool_choice"] = ask.choice if named == ask.choice else {"type": "function", "name": named}
    if ask.thinks:
        out["reasoning"] = {"effort": "low", "summary": "auto"}
        out["include"] = ["reasoning.encrypted_content"]
    if ask.schema:
        out["text"] = {"format": {"type": "json_schema", "name": "answer", "strict": True, "schema": ask.schema}}
    if ask.max_tokens:
        out["max_output_tokens"] = ask.max_tokens
    return out


def input_items(turn: Turn) -> list[dict]:
    match turn:
        case User(text, images):
            content = [{"type": "input_text", "text": text}, *map(image, images)] if images else text
            return [{"role": "user", "content": content}]
        case System(text):
            return [{"role": "developer", "content": text}]
        case Model(items):
            return items
        case Results(outputs):
            return [{"type": "function_call_output", "call_id": call.id, "output": text} for call, text in outputs]


def image(data: bytes) -> dict:
    url = "data:image/png;base64," + base64.b64encode(data).decode()
    return {"type": "input_image", "image_url": url, "detail": "auto"}


def answer(response: Any, pieces: int) -> Answer:
    parts = [part for item in response.output if item.type == "message" for part in item.content]
    calls = [item for item in response.output if item.type == "function_call"]
    thoughts = [it.text for item in response.output if item.type == "reasoning" for it in item.summary]
    usage = response.usage
    return Answer(
        model=response.model,
        text="".join(part.refusal if part.type == "refusal" else part.text for part in parts),
        finish=finish(response, parts, calls),
        usage=Usage(usage.input_tokens, usage.output_tokens, usage.output_tokens_details.reasoning_tokens),
        turn=[item.model_dump(exclude_none=True) for item in response.output],
        thinking="".join(thoughts),
        calls=tuple(Call(it.call_id, it.name, json.loads(it.arguments)) for it in calls),
        pieces=pieces,
    )


def finish(response: Any, parts: list, calls: list) -> str:
    if response.status == "incomplete":
        reason = response.incomplete_details.reason
        return {"max_output_tokens": "length", "content_filter": "refusal"}.get(reason, reason)
    if any(part.type == "refusal" for part in parts):
        return "refusal"
    if response.status != "completed":
        return response.status
    return "tools" if calls else "stop"
