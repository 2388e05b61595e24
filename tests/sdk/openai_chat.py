"""What the official `openai` SDK says about Chat Completions bodies."""

import openai
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.chat.completion_create_params import CompletionCreateParams

from case import Case
from openai_errors import CLIENT, REPLAY, status_error
from shape import Complaint, complaints

ASK = {"model": "any", "messages": [{"role": "user", "content": "any"}]}


def request(case: Case) -> list[Complaint]:
    return complaints(CompletionCreateParams, case.body)


def response(case: Case) -> list[Complaint]:
    REPLAY.answer_json(case.body)
    CLIENT.chat.completions.create(**ASK)
    return complaints(ChatCompletion, case.body)


def stream(case: Case) -> list[Complaint]:
    REPLAY.answer_events(case.body)
    if case.ends_in_error:
        return _failing_stream()
    found, ids = _chunks()
    return found + _accumulated(ids)


def error(case: Case) -> list[Complaint]:
    REPLAY.answer_json(case.body, case.status)
    return status_error(case.status, lambda: CLIENT.chat.completions.create(**ASK))


def _failing_stream() -> list[Complaint]:
    found: list[Complaint] = []
    try:
        for position, chunk in enumerate(CLIENT.chat.completions.create(**ASK, stream=True)):
            found += _chunk_complaints(position, chunk)
    except openai.APIError:
        return found
    return [*found, Complaint("/", "the stream was to end in an error, but the SDK saw none")]


def _chunks() -> tuple[list[Complaint], dict]:
    """The complaints about each chunk, and the first id and name of each tool call."""
    found, calls = [], {}
    for position, chunk in enumerate(CLIENT.chat.completions.create(**ASK, stream=True)):
        found += _chunk_complaints(position, chunk)
        for choice in chunk.choices or []:
            for call in choice.delta.tool_calls or []:
                first = calls.setdefault((choice.index, call.index), {})
                first.setdefault("id", call.id)
                first.setdefault("name", call.function and call.function.name)
    return found, calls


def _chunk_complaints(position: int, chunk: ChatCompletionChunk) -> list[Complaint]:
    found = complaints(ChatCompletionChunk, chunk.to_json())
    return [Complaint(f"/{position}{at}", why) for at, why in found]


def _accumulated(calls: dict) -> list[Complaint]:
    """The stream helper's own sum must be a whole completion, with the ids and names that were first sent."""
    with CLIENT.chat.completions.stream(**ASK) as events:
        try:
            final = events.get_final_completion()
        except (openai.LengthFinishReasonError, openai.ContentFilterFinishReasonError):
            # The helper refuses to parse a cut answer, whoever wrote it.
            final = events.current_completion_snapshot
    found = complaints(ChatCompletion, final.to_json(), extra="allow")
    for choice in final.choices:
        for index, call in enumerate(choice.message.tool_calls or []):
            first = calls.get((choice.index, index), {})
            if call.type == "function" and (call.id, call.function.name) != (first.get("id"), first.get("name")):
                found.append(Complaint(f"/choices/{choice.index}/tool_calls/{index}", "id or name was sent twice"))
    return found
