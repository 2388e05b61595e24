"""What the official `openai` SDK says about Chat Completions bodies."""

from collections.abc import Iterator

import openai
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.chat.chat_completion_chunk import Choice, ChoiceDeltaToolCall
from openai.types.chat.completion_create_params import CompletionCreateParams

from case import Case
from openai_errors import CLIENT, REPLAY, status_error
from shape import UNSEEN_ERROR, Complaint, complaints

ASK = {"model": "any", "messages": [{"role": "user", "content": "any"}]}


def request(case: Case) -> list[Complaint]:
    return complaints(CompletionCreateParams, case.body)


def response(case: Case) -> list[Complaint]:
    REPLAY.answer_json(case.body)
    CLIENT.chat.completions.create(**ASK)
    return complaints(ChatCompletion, case.body)


def stream(case: Case) -> Iterator[Complaint]:
    REPLAY.answer_events(case.body)
    chunks: list[ChatCompletionChunk] = []
    try:
        for position, chunk in enumerate(CLIENT.chat.completions.create(**ASK, stream=True)):
            chunks.append(chunk)
            yield from complaints(ChatCompletionChunk, chunk.to_json(), at=f"/{position}")
    except openai.APIError:
        if case.ends_in_error:
            return
        raise
    if case.ends_in_error:
        yield UNSEEN_ERROR
    elif not any(call.type == "custom" for _, call in _calls(chunks)):
        # The helper breaks at a call of a custom tool, which the service streams all the same.
        yield from _accumulated(chunks)


def error(case: Case) -> list[Complaint]:
    REPLAY.answer_json(case.body, case.status)
    return status_error(case.status, lambda: CLIENT.chat.completions.create(**ASK))


def _accumulated(chunks: list[ChatCompletionChunk]) -> Iterator[Complaint]:
    """The stream helper's own sum must be a whole completion, with the ids and names that were first sent."""
    with CLIENT.chat.completions.stream(**ASK) as events:
        try:
            final = events.get_final_completion()
        except (openai.LengthFinishReasonError, openai.ContentFilterFinishReasonError):
            # The helper refuses to parse a cut answer, whoever wrote it.
            final = events.current_completion_snapshot
    yield from complaints(ChatCompletion, final.to_json(), extra="allow")
    sent: dict = {}
    for choice, call in _calls(chunks):
        sent.setdefault((choice.index, call.index), (call.id, call.function and call.function.name))
    for choice in final.choices:
        for index, call in enumerate(choice.message.tool_calls or []):
            if (call.id, call.function.name) != sent.get((choice.index, index)):
                yield Complaint(f"/choices/{choice.index}/tool_calls/{index}", "id or name was sent twice")


def _calls(chunks: list[ChatCompletionChunk]) -> list[tuple[Choice, ChoiceDeltaToolCall]]:
    """The deltas of tool calls, each with its choice."""
    choices = (choice for chunk in chunks for choice in chunk.choices)
    return [(choice, call) for choice in choices for call in choice.delta.tool_calls or []]
