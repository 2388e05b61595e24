"""The `openai` client, Chat Completions."""

import base64
import json
from collections.abc import Iterator
from typing import Any, Optional

import openai
from openai.lib.streaming.chat import ChatCompletionStreamState

import openai_failure
from conversation import Answer, Ask, Call, Failure, Model, Results, System, Turn, Usage, User

FINISHES = {"stop": "stop", "length": "length", "tool_calls": "tools", "content_filter": "refusal"}


class Client:
    protocol = "openai-chat"

    def __init__(self, base: str, timeout_s: float, headers: Optional[dict[str, str]] = None) -> None:
        options = {"max_retries": 0, "timeout": timeout_s, "default_headers": headers}
        self.sdk = openai.OpenAI(api_key="none", base_url=f"{base}/v1", **options)

    def close(self) -> None:
        self.sdk.close()

    def whole(self, ask: Ask) -> Answer:
        return answer(self.sdk.chat.completions.create(**arguments(ask)), 0)

    def stream(self, ask: Ask) -> Answer:
        state = ChatCompletionStreamState()
        pieces = 0
        with self.sdk.chat.completions.create(**streamed(ask)) as chunks:
            for chunk in chunks:
                state.handle_chunk(chunk)
                pieces += sum(bool(choice.delta.content or choice.delta.refusal) for choice in chunk.choices)
        return answer(state.current_completion_snapshot, pieces)

    def pieces(self, ask: Ask) -> Iterator[Any]:
        with self.sdk.chat.completions.create(**streamed(ask)) as chunks:
            yield from chunks

    def is_finished(self, pieces: list) -> bool:
        return any(choice.finish_reason for chunk in pieces for choice in chunk.choices)

    def failure(self, error: Exception) -> Failure:
        return openai_failure.read(error)


def streamed(ask: Ask) -> dict:
    return arguments(ask) | {"stream": True, "stream_options": {"include_usage": True}}


def arguments(ask: Ask) -> dict:
    head = [{"role": "system", "content": text} for text in ask.system]
    out: dict = {"model": ask.model, "messages": head + [message for turn in ask.turns for message in messages(turn)]}
    if ask.tools:
        out["tools"] = [
            {"type": "function", "function": {"name": it.name, "description": it.description, "parameters": it.parameters}}
            for it in ask.tools
        ]
    if ask.choice:
        named = ask.choice.removeprefix("tool:")
        out["tool_choice"] = ask.choice if named == ask.choice else {"type": "function", "function": {"name": named}}
    if ask.thinks:
        out["reasoning_effort"] = "low"
    if ask.schema:
        schema = {"name": "answer", "strict": True, "schema": ask.schema}
        out["response_format"] = {"type": "json_schema", "json_schema": schema}
    if ask.stops:
        out["stop"] = list(ask.stops)
    if ask.max_tokens:
        out["max_completion_tokens"] = ask.max_tokens
    return out


def messages(turn: Turn) -> list[dict]:
    match turn:
        case User(text, images):
            return [{"role": "user", "content": [{"type": "text", "text": text}, *map(image, images)] if images else text}]
        case System(text):
            return [{"role": "system", "content": text}]
        case Model(message):
            return [message]
        case Results(outputs):
            return [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text in outputs]


def image(data: bytes) -> dict:
    return {"type": "image_url", "image_url": {"url": "data:image/png;base64," + base64.b64encode(data).decode()}}


def answer(completion: Any, pieces: int) -> Answer:
    choice = completion.choices[0]
    message = choice.message
    calls = tuple(Call(it.id, it.function.name, json.loads(it.function.arguments)) for it in message.tool_calls or [])
    usage = completion.usage
    details = usage.completion_tokens_details
    return Answer(
        model=completion.model,
        text=message.content or message.refusal or "",
        finish="refusal" if message.refusal else FINISHES.get(choice.finish_reason, choice.finish_reason),
        usage=Usage(usage.prompt_tokens, usage.completion_tokens, details and details.reasoning_tokens),
        turn=sent_back(message),
        thinking=getattr(message, "reasoning_content", None) or "",
        calls=calls,
        pieces=pieces,
    )


def sent_back(message: Any) -> dict:
    """The message as a user of the SDK sends it back; the index of a call is the stream's alone."""
    names = {"role", "content", "refusal", "tool_calls", "reasoning_content"}
    out = message.model_dump(exclude_none=True, include=names)
    for call in out.get("tool_calls", []):
        call.pop("index", None)
    return out
