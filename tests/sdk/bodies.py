"""Good bodies of every kind, small and whole, for the tests to spoil."""

import json


def event_stream(events: list[dict]) -> str:
    """Events with names, as OpenAI's Responses and Anthropic send them."""
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def data_stream(chunks: list[dict], end: str = "") -> str:
    """Events without names, as OpenAI's Chat and Gemini send them."""
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + end


def chat_chunk(delta: dict, finish_reason: str | None = None) -> dict:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def chat_call(index: int, **function: str) -> dict:
    return {"index": index, "id": f"call_{index}", "type": "function", "function": {"arguments": "{}", **function}}


SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}

CHAT_REQUEST = {
    "model": "m",
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Weather in Oslo?"}]},
        {
            "role": "assistant",
            "tool_calls": [{"id": "call_0", "type": "function", "function": {"name": "weather", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "call_0", "content": "rain"},
    ],
    "tools": [{"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}],
    "reasoning_effort": "low",
}
CHAT_RESPONSE = {
    "id": "c1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "logprobs": None,
            "message": {"role": "assistant", "content": "Rain.", "refusal": None, "reasoning_content": "Oslo."},
        }
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
}
CHAT_CHUNKS = [
    chat_chunk({"role": "assistant", "content": ""}),
    chat_chunk({"tool_calls": [chat_call(0, name="weather")]}),
    chat_chunk({"tool_calls": [chat_call(1, name="weather")]}),
    chat_chunk({}, "tool_calls"),
]
OPENAI_ERROR = {"error": {"message": "slow down", "type": "requests", "param": None, "code": "rate_limit_exceeded"}}

RESPONSES_REQUEST = {
    "model": "m",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "Weather in Oslo?"}]},
        {"type": "function_call", "call_id": "call_0", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_0", "output": "rain"},
    ],
    "tools": [{"type": "function", "name": "weather", "parameters": SCHEMA, "strict": False}],
}
RESPONSES_ITEM = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Rain.", "annotations": []}],
}
RESPONSES_RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {},
    "model": "m",
    "output": [RESPONSES_ITEM],
    "parallel_tool_calls": True,
    "temperature": 1.0,
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
}
RESPONSES_EVENTS = [
    {"type": "response.created", "response": {**RESPONSES_RESPONSE, "status": "in_progress", "output": []}},
    {
        "type": "response.output_item.added",
        "output_index": 0,
        "item": {**RESPONSES_ITEM, "status": "in_progress", "content": []},
    },
    {
        "type": "response.content_part.added",
        "item_id": "msg_1",
        "output_index": 0,
        "content_index": 0,
        "part": {"type": "output_text", "text": "", "annotations": []},
    },
    {
        "type": "response.output_text.delta",
        "item_id": "msg_1",
        "output_index": 0,
        "content_index": 0,
        "delta": "Rain.",
        "logprobs": [],
    },
    {"type": "response.output_item.done", "output_index": 0, "item": RESPONSES_ITEM},
    {"type": "response.completed", "response": RESPONSES_RESPONSE},
]
RESPONSES_EVENTS = [{**event, "sequence_number": number} for number, event in enumerate(RESPONSES_EVENTS)]

ANTHROPIC_REQUEST = {
    "model": "m",
    "max_tokens": 64,
    "messages": [
        {"role": "user", "content": "Weather in Oslo?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "call_0", "name": "weather", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_0", "content": "rain"}]},
    ],
    "tools": [{"name": "weather", "input_schema": SCHEMA}],
    "temperature": 0.5,
}
ANTHROPIC_RESPONSE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "Rain.", "citations": None}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 2},
}
ANTHROPIC_EVENTS = [
    {"type": "message_start", "message": {**ANTHROPIC_RESPONSE, "content": [], "stop_reason": None}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Rain."}},
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 2},
    },
    {"type": "message_stop"},
]
ANTHROPIC_ERROR = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}, "request_id": "r1"}

GEMINI_REQUEST = {
    "contents": [
        {"role": "user", "parts": [{"text": "Weather in Oslo?"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": {"city": "Oslo"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": {"result": "rain"}}}]},
    ],
    "tools": [{"functionDeclarations": [{"name": "weather", "description": "d", "parametersJsonSchema": SCHEMA}]}],
    "generationConfig": {"maxOutputTokens": 64, "thinkingConfig": {"thinkingBudget": 0}},
}
GEMINI_RESPONSE = {
    "candidates": [
        {"index": 0, "content": {"role": "model", "parts": [{"text": "Rain."}]}, "finishReason": "STOP"},
    ],
    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3},
    "modelVersion": "m",
    "responseId": "r1",
}
GEMINI_ERROR = {"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED"}}
