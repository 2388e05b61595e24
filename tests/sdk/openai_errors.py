"""The `openai` client that both OpenAI protocols share, and what it must make of an error reply."""

from collections.abc import Callable
from typing import Optional

import openai
from typing_extensions import TypedDict

from replay import Replay
from shape import Complaint, value_complaints

REPLAY = Replay()
CLIENT = openai.OpenAI(api_key="none", base_url="http://replay/v1", max_retries=0, http_client=REPLAY.client)

CLASSES = {
    400: openai.BadRequestError,
    401: openai.AuthenticationError,
    403: openai.PermissionDeniedError,
    404: openai.NotFoundError,
    409: openai.ConflictError,
    422: openai.UnprocessableEntityError,
    429: openai.RateLimitError,
}


class ErrorBody(TypedDict):
    """The documented error object; the SDK itself has no type for it."""

    message: str
    type: str
    param: Optional[str]
    code: Optional[str]


def status_error(status: int, call: Callable[[], object]) -> list[Complaint]:
    """Complains unless `call` raises the class that belongs to `status`, with a body the SDK can read."""
    expected = CLASSES.get(status, openai.InternalServerError if status >= 500 else openai.APIStatusError)
    try:
        call()
    except expected as raised:
        return value_complaints(ErrorBody, raised.body, extra="allow")
    except openai.OpenAIError as raised:
        return [Complaint("/", f"expected {expected.__name__}, the SDK raised {type(raised).__name__}")]
    return [Complaint("/", f"expected {expected.__name__}, the SDK raised nothing")]
