"""Every fault of the simulators, as each SDK must see it: the right exception, in time, and counted as what it was."""

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Optional

from conversation import Ask, Failure, User
from counted import Ended
from scenarios import TOKENS, equal, holds
from servers import PROVIDERS, Simulators

# What each SDK raises for a status.
OPENAI = {
    400: "BadRequestError",
    401: "AuthenticationError",
    403: "PermissionDeniedError",
    404: "NotFoundError",
    413: "APIStatusError",
    429: "RateLimitError",
}
ANTHROPIC = {
    400: "BadRequestError",
    401: "AuthenticationError",
    403: "PermissionDeniedError",
    404: "NotFoundError",
    413: "ContentTooLargeError",
    429: "RateLimitError",
    503: "ServiceUnavailableError",
    504: "GatewayTimeoutError",
    529: "OverloadedError",
}
# What stands for the class in the body of an error, where a client looks at it.
ANTHROPIC_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
GEMINI_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}

# Only one call of these at a time: the simulator counts them all together.
ONE_BY_ONE = threading.Lock()


@dataclass(frozen=True)
class Cell:
    """One fault of one upstream, seen by one client."""

    client: Any
    provider: str
    upstream: str
    is_streamed: bool
    fault: str
    name: str
    simulators: Simulators

    @property
    def is_foreign(self) -> bool:
        return self.client.protocol != self.upstream

    @property
    def counted_as(self) -> str:
        """The gateway's provider that only this cell and its like of the other clients use."""
        return provider_of(self.provider, self.fault, self.is_streamed)

    def ask(self, text: str = "hello there") -> "Seen":
        ask = Ask(f"{self.counted_as}/{self.name}-fault-{self.fault}", (User(text),))
        pieces: list = []
        try:
            if self.is_streamed:
                for piece in self.client.pieces(ask):
                    pieces.append(piece)
            else:
                self.client.whole(ask)
        except Exception as error:
            return Seen(self.client.failure(error), pieces, False)
        return Seen(None, pieces, not self.is_streamed or self.client.is_finished(pieces))

    def arrivals(self) -> int:
        found = self.simulators.arrived(f"{self.name}-fault-{self.fault}")
        for request in found:
            equal(request.is_valid, True, "validity upstream")
        return len(found)

    def tokens(self) -> tuple[int, int]:
        """What the upstream counts in and out for what it last received, had it answered without the fault."""
        request = self.simulators.arrived(f"{self.name}-fault-{self.fault}")[-1]
        # Of the same length, because answers name the model.
        sound = replace(request, path=request.path.replace("-fault-", "-sound-"), body=dict(request.body))
        if "model" in sound.body:
            sound.body["model"] = sound.body["model"].replace("-fault-", "-sound-")
        tokens_in, tokens_out, _ = TOKENS[self.upstream](self.simulators.again(sound))
        return tokens_in, tokens_out


def provider_of(simulator: str, fault: str, is_streamed: bool) -> str:
    return f"{simulator}-{fault}-{'streamed' if is_streamed else 'whole'}"


def providers() -> dict[str, str]:
    """A provider for every fault of every simulator, whole and streamed, so that each cell has counters of its own."""
    ways = itertools.product(PROVIDERS, (fault for fault, _ in (*QUICK, *SLOW)), (False, True))
    return {provider_of(simulator, fault, is_streamed): simulator for simulator, fault, is_streamed in ways}


@dataclass(frozen=True)
class Seen:
    """What came of a request: the failure if there was one, what a stream brought before, and whether it ended well."""

    failure: Optional[Failure]
    pieces: list
    is_finished: bool


def raised(cell: Cell, seen: Seen, status: int) -> Failure:
    """The failure, which must be the exception of a status."""
    failure = seen.failure
    if failure is None:
        raise AssertionError(f"no exception; finished: {seen.is_finished}, pieces: {len(seen.pieces)}")
    usual = "InternalServerError" if status >= 500 else "APIStatusError"
    kinds = {
        "openai-chat": OPENAI.get(status, usual),
        "openai-responses": OPENAI.get(status, usual),
        "anthropic-messages": ANTHROPIC.get(status, usual),
        "gemini": "ClientError" if status < 500 else "ServerError",
    }
    equal((failure.kind, failure.status), (kinds[cell.client.protocol], status), f"exception ({failure.message})")
    if cell.client.protocol == "anthropic-messages" and status in ANTHROPIC_TYPES:
        equal(failure.details.get("type"), ANTHROPIC_TYPES[status], "the error's type")
    if cell.client.protocol == "gemini" and status in GEMINI_STATUSES:
        equal(failure.details.get("status"), GEMINI_STATUSES[status], "the error's status")
        equal(failure.details.get("code"), status, "the error's code")
    equal(bool(failure.message), True, "there are words")
    equal(seen.pieces, [], "pieces before the error")
    return failure


def overloaded(cell: Cell) -> int:
    """The status of an overload: Anthropic has one of its own."""
    return 529 if cell.client.protocol == "anthropic-messages" else 503


UPSTREAM = Ended("upstream_error")
CLIENT = Ended("client_error")


def status(cell: Cell, number: int) -> Ended:
    expected = number
    # Google calls a bad gateway unavailable.
    is_busy = number in (503, 529) or number == 502 and cell.upstream == "gemini"
    if is_busy and cell.is_foreign:
        expected = overloaded(cell)
    if number == 529 and cell.upstream == "gemini" and not cell.is_foreign:
        expected = 503
    failure = raised(cell, cell.ask(), expected)
    words = {404: "does not exist", 503: "verloaded", 529: "verloaded"}.get(number, "Simulated fault")
    holds(failure.message, words, "the upstream's words")
    equal(cell.arrivals(), 2 if number in (502, 503, 529) else 1, "requests upstream")
    return CLIENT if number in (400, 413) else UPSTREAM


def rate_limit(cell: Cell, seconds: int) -> Ended:
    failure = raised(cell, cell.ask(), 429)
    equal(failure.retry_after, str(seconds), "retry-after")
    equal(cell.arrivals(), 1, "requests upstream")
    return UPSTREAM


def busy(cell: Cell) -> Ended:
    """An overload that asks for a long pause is handed to the client at once."""
    expected = overloaded(cell) if cell.is_foreign else 503
    failure = raised(cell, cell.ask(), expected)
    equal(failure.retry_after, "30", "retry-after")
    equal(cell.arrivals(), 1, "requests upstream")
    return UPSTREAM


def answered(cell: Cell) -> Ended:
    """Slowness alone is no failure."""
    seen = cell.ask()
    equal((seen.failure, seen.is_finished), (None, True), "the answer")
    return Ended("answered", *cell.tokens(), has_begun=True)


def flaky(cell: Cell) -> Ended:
    """The gateway tries again where the upstream failed before its first event."""
    with ONE_BY_ONE:
        ended = answered(cell)
        equal(cell.arrivals() in (1, 2), True, "requests upstream")
        return ended


def bad_gateway(cell: Cell) -> Ended:
    raised(cell, cell.ask(), 502)
    return UPSTREAM


def timeout(cell: Cell) -> Ended:
    raised(cell, cell.ask(), 504)
    return UPSTREAM


def internal(cell: Cell) -> Ended:
    raised(cell, cell.ask(), 500)
    return UPSTREAM


def stream_error(cell: Cell) -> Ended:
    return broken(cell) if cell.is_streamed else internal(cell)


def stream_error_first(cell: Cell) -> Ended:
    raised(cell, cell.ask(), overloaded(cell) if cell.is_streamed else 500)
    return UPSTREAM


def disconnect(cell: Cell) -> Ended:
    return broken(cell) if cell.is_streamed else bad_gateway(cell)


def silent(cell: Cell) -> Ended:
    return broken(cell) if cell.is_streamed else timeout(cell)


def broken(cell: Cell) -> Ended:
    """A stream that breaks off: what came before is there, then the SDK learns of it."""
    seen = cell.ask("repeat 40 words")
    equal(seen.is_finished, False, "a good end")
    equal(len(seen.pieces) > 0, True, f"pieces before the fault ({seen.failure})")
    if cell.client.protocol == "openai-responses" and seen.failure is None:
        told(seen)
    else:
        thrown(cell, seen)
    if cell.upstream.startswith("openai"):
        # They tell of tokens at the end alone.
        return Ended("upstream_error", has_begun=True)
    tokens_in, tokens_out = cell.tokens()
    # Anthropic's streams begin with the tokens of the request and a first one of the answer; every piece of Gemini's
    # tells of all.
    tokens_out = 1 if cell.upstream == "anthropic-messages" else tokens_out
    return Ended("upstream_error", tokens_in, tokens_out, has_begun=True)


def told(seen: Seen) -> None:
    """The SDK for Responses raises nothing for the protocol's own event, and leaves it to its user."""
    last = seen.pieces[-1]
    # On its own protocol an answer has begun elsewhere: only the error is told.
    if last.type == "error":
        equal(bool(last.message), True, "there are words")
    else:
        equal((last.type, last.response.status), ("response.failed", "failed"), "the last event")
        equal(bool(last.response.error.message), True, "there are words")


def thrown(cell: Cell, seen: Seen) -> None:
    if seen.failure is None:
        raise AssertionError(f"no exception after {len(seen.pieces)} pieces, the last is {seen.pieces[-1]}")
    kinds = {
        "openai-chat": ("APIError",),
        "openai-responses": ("APIError",),
        "anthropic-messages": ("APIStatusError",),
        "gemini": ("ServerError", "APIError"),
    }[cell.client.protocol]
    if cell.fault == "garbage-stream" and not cell.is_foreign:
        # What passes untouched meets the SDK's own parser.
        kinds += ("JSONDecodeError", "UnknownApiResponseError")
    holds(kinds, seen.failure.kind, f"exception ({seen.failure.message})")
    equal(bool(seen.failure.message), True, "there are words")


Table = tuple[tuple[str, Callable[[Cell], Ended]], ...]
QUICK: Table = (
    # First, because it takes longest.
    ("slow-first-byte", timeout),
    *((str(number), lambda cell, number=number: status(cell, number)) for number in (400, 401, 403, 404, 413, 500, 502)),
    *((str(number), lambda cell, number=number: status(cell, number)) for number in (503, 504, 529)),
    ("429", lambda cell: rate_limit(cell, 1)),
    ("429-30", lambda cell: rate_limit(cell, 30)),
    ("503-30", busy),
    ("flaky", flaky),
    ("html-502", bad_gateway),
    ("slow-first-byte-200", answered),
    ("slow-stream-20", answered),
    ("stream-error", stream_error),
    ("stream-error-first", stream_error_first),
    ("disconnect", disconnect),
    ("disconnect-first", bad_gateway),
    ("garbage", bad_gateway),
    ("garbage-stream", disconnect),
    ("truncated", disconnect),
)
# Seconds each, and all at once: few enough that a simulator still knows the first request when the last has failed.
SLOW: Table = (("silent", silent), ("never-ending", silent))
