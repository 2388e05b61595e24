"""The `google-genai` client, generateContent."""

from collections.abc import Iterator
from typing import Any, Optional

from google import genai
from google.genai import errors, types

from conversation import Answer, Ask, Call, Failure, Model, Results, Turn, Usage, User

FINISHES = {"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "refusal"}
MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}


class Client:
    protocol = "gemini"

    def __init__(self, base: str, timeout_s: float, headers: Optional[dict[str, str]] = None) -> None:
        options = types.HttpOptions(
            base_url=base,
            headers=headers,
            timeout=int(timeout_s * 1000),
            retry_options=types.HttpRetryOptions(attempts=1),
        )
        self.sdk = genai.Client(api_key="none", vertexai=False, http_options=options)

    def close(self) -> None:
        self.sdk.close()

    def whole(self, ask: Ask) -> Answer:
        response = self.sdk.models.generate_content(**arguments(ask))
        return answer([response], 0)

    def stream(self, ask: Ask) -> Answer:
        chunks = list(self.sdk.models.generate_content_stream(**arguments(ask)))
        assert self.is_finished(chunks), "the stream ended without a finish reason"
        return answer(chunks, sum(bool(text(parts([chunk]))) for chunk in chunks))

    def pieces(self, ask: Ask) -> Iterator[Any]:
        yield from self.sdk.models.generate_content_stream(**arguments(ask))

    def is_finished(self, pieces: list) -> bool:
        return any(candidate.finish_reason for chunk in pieces for candidate in chunk.candidates or [])

    def failure(self, error: Exception) -> Failure:
        if not isinstance(error, errors.APIError):
            return Failure(type(error).__name__, None, str(error))
        details = error.details.get("error", {}) if isinstance(error.details, dict) else {}
        retry_after = error.response.headers.get("retry-after") if error.response is not None else None
        return Failure(type(error).__name__, error.code, error.message or "", retry_after, details)


def arguments(ask: Ask) -> dict:
    config: dict = {"automatic_function_calling": {"disable": True}}
    if ask.system:
        config["system_instruction"] = [types.Part(text=it) for it in ask.system]
    if ask.tools:
        declarations = [
            {"name": it.name, "description": it.description, "parameters_json_schema": it.parameters} for it in ask.tools
        ]
        config["tools"] = [{"function_declarations": declarations}]
    if ask.choice:
        named = ask.choice.removeprefix("tool:")
        only = {"mode": "ANY", "allowed_function_names": [named]}
        config["tool_config"] = {"function_calling_config": {"mode": MODES[named]} if named == ask.choice else only}
    if ask.thinks:
        config["thinking_config"] = {"include_thoughts": True, "thinking_budget": 1024}
    if ask.schema:
        config |= {"response_mime_type": "application/json", "response_json_schema": ask.schema}
    if ask.stops:
        config["stop_sequences"] = list(ask.stops)
    if ask.max_tokens:
        config["max_output_tokens"] = ask.max_tokens
    return {"model": ask.model, "contents": [content(turn) for turn in ask.turns], "config": config}


def content(turn: Turn) -> types.Content:
    match turn:
        case User(said, images):
            pictures = [types.Part.from_bytes(data=data, mime_type="image/png") for data in images]
            return types.Content(role="user", parts=[types.Part(text=said), *pictures])
        case Model(native):
            return native
        case Results(outputs):
            return types.Content(role="user", parts=[result(call, said) for call, said in outputs])
        case other:
            raise TypeError(f"Gemini cannot say {other}")


def result(call: Call, said: str) -> types.Part:
    response = types.FunctionResponse(id=call.id, name=call.name, response={"output": said})
    return types.Part(function_response=response)


def answer(chunks: list[types.GenerateContentResponse], pieces: int) -> Answer:
    said = parts(chunks)
    calls = [part.function_call for part in said if part.function_call]
    finish = next(it.finish_reason for chunk in chunks for it in chunk.candidates or [] if it.finish_reason)
    usage = next(chunk.usage_metadata for chunk in reversed(chunks) if chunk.usage_metadata)
    word = FINISHES.get(finish.value, finish.value)
    return Answer(
        model=chunks[-1].model_version or "",
        text=text(said),
        finish="tools" if calls and word == "stop" else word,
        usage=Usage(
            usage.prompt_token_count,
            (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0),
            usage.thoughts_token_count,
        ),
        turn=types.Content(role="model", parts=said),
        thinking="".join(part.text or "" for part in said if part.thought),
        calls=tuple(Call(it.id, it.name, it.args or {}) for it in calls),
        pieces=pieces,
    )


def parts(chunks: list[types.GenerateContentResponse]) -> list[types.Part]:
    contents = (it.content for chunk in chunks for it in chunk.candidates or [] if it.content)
    return [part for it in contents for part in it.parts or []]


def text(said: list[types.Part]) -> str:
    return "".join(part.text or "" for part in said if not part.thought)
