"""What the official `openai` SDK says about Responses bodies."""

from collections.abc import Iterator

import openai
from openai.types.responses import Response, ResponseOutputItem, ResponseStreamEvent
from openai.types.responses.response_create_params import ResponseCreateParams

from case import Case
from openai_errors import CLIENT, REPLAY, status_error
from shape import UNSEEN_ERROR, Complaint, complaints

ASK = {"model": "any", "input": "any"}
ENDINGS = ("response.completed", "response.incomplete")
FAILURES = ("error", "response.failed")


def request(case: Case) -> list[Complaint]:
    return complaints(ResponseCreateParams, case.body)


def response(case: Case) -> list[Complaint]:
    REPLAY.answer_json(case.body)
    CLIENT.responses.create(**ASK)
    return complaints(Response, case.body)


def stream(case: Case) -> Iterator[Complaint]:
    REPLAY.answer_events(case.body)
    events: list = []
    try:
        for position, event in enumerate(CLIENT.responses.create(**ASK, stream=True)):
            events.append(event)
            yield from complaints(ResponseStreamEvent, event.to_json(), at=f"/{position}")
    except openai.APIError:
        if case.ends_in_error:
            return
        raise
    if not case.ends_in_error:
        yield from _accumulated(events)
    elif not any(event.type in FAILURES for event in events):
        yield UNSEEN_ERROR


def error(case: Case) -> list[Complaint]:
    REPLAY.answer_json(case.body, case.status)
    return status_error(case.status, lambda: CLIENT.responses.create(**ASK))


def _accumulated(events: list) -> Iterator[Complaint]:
    """The stream helper must reach the end, and the final response must hold the items that were finished."""
    with CLIENT.responses.stream(**ASK) as helper:
        seen = list(helper)
        if not seen or seen[-1].type not in ENDINGS:
            yield Complaint("/", f"the last event is not one of {', '.join(ENDINGS)}")
            return
        if seen[-1].type == "response.completed":
            helper.get_final_response()
    yield from _lost_items(events)


def _lost_items(events: list) -> list[Complaint]:
    done = {event.output_index: _stable(event.item) for event in events if event.type == "response.output_item.done"}
    final = dict(enumerate(map(_stable, events[-1].response.output)))
    return [
        Complaint(f"/{len(events) - 1}/response/output/{index}", "differs from the item of its output_item.done")
        for index in sorted(done.keys() | final.keys())
        if done.get(index) != final.get(index)
    ]


def _stable(item: ResponseOutputItem) -> dict:
    """An item without its encrypted content, which the service encrypts anew for each event."""
    return {key: value for key, value in item.to_dict().items() if key != "encrypted_content"}
