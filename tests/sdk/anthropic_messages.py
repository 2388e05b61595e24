"""What the official `anthropic` SDK says about Messages bodies."""

from collections.abc import Iterator

import anthropic
import httpx2
from anthropic.types import Message, RawMessageStreamEvent
from anthropic.types.message_create_params import MessageCreateParams
from anthropic.types.shared import ErrorResponse

from case import Case
from replay import Replay
from shape import UNSEEN_ERROR, Complaint, complaints, value_complaints

REPLAY = Replay()
CLIENT = anthropic.Anthropic(api_key="none", base_url="http://replay", max_retries=0, http_client=REPLAY.client)
ASK = {"model": "any", "max_tokens": 16, "messages": [{"role": "user", "content": "any"}]}

CLASSES = {
    400: anthropic.BadRequestError,
    401: anthropic.AuthenticationError,
    403: anthropic.PermissionDeniedError,
    404: anthropic.NotFoundError,
    409: anthropic.ConflictError,
    422: anthropic.UnprocessableEntityError,
    429: anthropic.RateLimitError,
}


def request(case: Case) -> list[Complaint]:
    return complaints(MessageCreateParams, case.body)


def response(case: Case) -> list[Complaint]:
    REPLAY.answer_json(case.body)
    CLIENT.messages.create(**ASK)
    return complaints(Message, case.body)


def stream(case: Case) -> Iterator[Complaint]:
    REPLAY.answer_events(case.body)
    yield from _names(case.body)
    try:
        for position, event in enumerate(CLIENT.messages.create(**ASK, stream=True)):
            yield from complaints(RawMessageStreamEvent, event.to_json(), at=f"/{position}")
    except anthropic.APIError as raised:
        if not case.ends_in_error:
            raise
        yield from value_complaints(ErrorResponse, raised.body)
        return
    if case.ends_in_error:
        yield UNSEEN_ERROR
    else:
        yield from _accumulated()


def error(case: Case) -> list[Complaint]:
    REPLAY.answer_json(case.body, case.status)
    expected = CLASSES.get(
        case.status, anthropic.InternalServerError if case.status >= 500 else anthropic.APIStatusError
    )
    try:
        CLIENT.messages.create(**ASK)
    except expected as raised:
        return value_complaints(ErrorResponse, raised.body)
    except anthropic.AnthropicError as raised:
        return [Complaint("/", f"expected {expected.__name__}, the SDK raised {type(raised).__name__}")]
    return [Complaint("/", f"expected {expected.__name__}, the SDK raised nothing")]


def _names(body: str) -> list[Complaint]:
    """The SDK passes over an event without a name, and reads its kind from the data: both must be there and agree."""
    events = anthropic.Stream.raw_events(httpx2.Response(200, content=body.encode()))
    return [
        Complaint(f"/{position}", f"the event is named {event.event!r}, its data says {event.json().get('type')!r}")
        for position, event in enumerate(events)
        if event.event != event.json().get("type")
    ]


def _accumulated() -> Iterator[Complaint]:
    """The stream helper's own sum must be a whole message that has stopped for a reason."""
    with CLIENT.messages.stream(**ASK) as events:
        kinds = [event.type for event in events]
        final = events.get_final_message()
    yield from complaints(Message, final.to_json(), extra="allow")
    if kinds[-1] != "message_stop" or final.stop_reason is None:
        yield Complaint("/", "the stream ends without a stop_reason and message_stop")
