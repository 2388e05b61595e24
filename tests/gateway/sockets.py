"""Responses over a WebSocket, by the `openai` SDK and by the cases of Open Responses, on every upstream."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import openai
from websockets.sync.client import connect

from chains import TOOL
from compaction import named
from scenarios import equal, holds
from switching import Place

ENDS = ("response.completed", "response.incomplete", "response.failed", "error")

# What the open specification wants in every answer, and never as null.
STATED = (
    "temperature",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "top_logprobs",
    "tool_choice",
    "truncation",
    "background",
    "service_tier",
    "tools",
)


class Socket:
    """A socket of the gateway on one upstream, without an SDK."""

    def __init__(self, place: Place, provider: str) -> None:
        self.place, self.provider = place, provider
        self.socket = connect(place.base.replace("http:", "ws:") + "/v1/responses")

    def turn(self, step: object, **members: Any) -> list[dict]:
        """All events of a call."""
        model = self.place.model(self.provider, step)
        self.socket.send(json.dumps({"type": "response.create", "model": model, **members}))
        events = [json.loads(self.socket.recv(timeout=20))]
        while events[-1]["type"] not in ENDS:
            events.append(json.loads(self.socket.recv(timeout=20)))
        return events

    def answer(self, step: object, **members: Any) -> dict:
        last = self.turn(step, **members)[-1]
        equal(last["type"], "response.completed", f"the last event of {last}")
        return last["response"]

    def error(self, step: object, **members: Any) -> dict:
        last = self.turn(step, **members)[-1]
        equal(last["type"], "error", f"the last event of {last}")
        return last


@contextmanager
def opened(place: Place, provider: str) -> Iterator[Socket]:
    socket = Socket(place, provider)
    try:
        yield socket
    finally:
        socket.socket.close()


def user(text: str) -> list[dict]:
    return [{"type": "message", "role": "user", "content": text}]


def said(response: dict) -> str:
    parts = [part for item in response["output"] if item["type"] == "message" for part in item["content"]]
    return "".join(part["text"] for part in parts)


def response(place: Place, provider: str) -> None:
    with opened(place, provider) as socket:
        events = socket.turn("a", input=user("hello"), store=False)
        equal(events[0]["type"], "response.created", "the first event")
        equal([event["sequence_number"] for event in events], list(range(len(events))), "numbers of events")
        made = events[-1]["response"]
        equal((made["status"], made["object"]), ("completed", "response"), "the answer")
        holds(said(made), 'You said: "hello"', "the answer")
        equal([name for name in STATED if made.get(name) is None], [], "settings that are not stated")


def sequential_responses(place: Place, provider: str) -> None:
    with opened(place, provider) as socket:
        ids = {socket.answer(step, input=user(f"number {step}"), store=False)["id"] for step in range(3)}
        equal(len(ids), 3, "ids")


def continuation(place: Place, provider: str) -> None:
    with opened(place, provider) as socket:
        first = socket.answer("a", input=user("my name is Ada"), store=False)
        second = socket.answer("b", input=user("who am I?"), store=False, previous_response_id=first["id"])
        equal(second["previous_response_id"], first["id"], "what it says it goes on from")
        arrived = place.arrived("b")
        equal(arrived.users(), ["my name is Ada", "who am I?"], "user texts upstream")
        equal(arrived.models(), said(first), "answers upstream")


def reconnect_store_false_recovery(place: Place, provider: str) -> None:
    with opened(place, provider) as socket:
        first = socket.answer("a", input=user("my name is Ada"), store=False)
    with opened(place, provider) as socket:
        error = socket.error("b", input=user("who am I?"), store=False, previous_response_id=first["id"])
        equal((error["status"], error["error"]["code"]), (400, "previous_response_not_found"), "the error")
        whole = [*user("my name is Ada"), *first["output"], *user("who am I?")]
        socket.answer("c", input=whole, store=False)
        equal(place.arrived("c").users(), ["my name is Ada", "who am I?"], "user texts upstream")


def previous_response_not_found(place: Place, provider: str) -> None:
    with opened(place, provider) as socket:
        error = socket.error("a", input=user("hello"), store=False, previous_response_id="resp_nobody")
        equal(error["error"]["code"], "previous_response_not_found", "the code")
        socket.answer("b", input=user("hello"), store=False)


def failed_continuation_evicts_cache(place: Place, provider: str) -> None:
    with opened(place, provider) as socket:
        first = socket.answer("a", input=user("my name is Ada"), store=False)
        orphan = [{"type": "function_call_output", "call_id": 7, "output": "x"}]
        failed = socket.turn("b", input=orphan, store=False, previous_response_id=first["id"])[-1]
        equal(failed["type"] in ("error", "response.failed"), True, f"a failure, not {failed}")
        error = socket.error("c", input=user("who am I?"), store=False, previous_response_id=first["id"])
        equal(error["error"]["code"], "previous_response_not_found", "the code")


def compact_new_chain(place: Place, provider: str) -> None:
    """A chain that was compacted goes on as a new one, which knows no id of the old."""
    with openai.OpenAI(api_key="none", base_url=f"{place.base}/v1", max_retries=0) as sdk, opened(place, provider) as socket:
        first = socket.answer("a", input=user("my name is Ada"), store=False)
        told = [*user("my name is Ada"), *first["output"]]
        made = sdk.responses.compact(model=named(provider), input=told)
        items = [item.to_dict() for item in made.output]
        second = socket.answer("b", input=[*items, *user("I like tea")], store=False)
        equal(second["previous_response_id"], None, "what it says it goes on from")
        socket.answer("c", input=user("who am I?"), store=False, previous_response_id=second["id"])
        arrived = place.arrived("c")
        equal(arrived.users()[-2:], ["I like tea", "who am I?"], "user texts upstream")
        holds(str(arrived.body), "my name is Ada", "the conversation upstream")


def tool_round(place: Place, provider: str) -> None:
    """With an id that only the socket knows: the call and its result find each other upstream."""
    with opened(place, provider) as socket:
        ask = {"tools": [TOOL], "store": False}
        first = socket.answer("a", input=user('call weather with {"city": "Oslo"}'), **ask)
        call = next(item for item in first["output"] if item["type"] == "function_call")
        output = {"type": "function_call_output", "call_id": call["call_id"], "output": "mild"}
        second = socket.answer("b", input=[output], previous_response_id=first["id"], **ask)
        holds(said(second), 'The tools said: "mild"', "the answer")


def by_the_sdk(place: Place, provider: str) -> None:
    """`responses.connect()`: prepared, answered, gone on from and refused."""
    sdk = openai.OpenAI(api_key="none", base_url=f"{place.base}/v1", max_retries=0)
    with sdk, sdk.responses.connect() as connection:

        def turn(step: object, **arguments: Any) -> Any:
            connection.response.create(model=place.model(provider, step), store=False, **arguments)
            for event in connection:
                if event.type in ENDS:
                    return event
            raise AssertionError("the socket ended")

        warm = turn("w", input=[{"role": "developer", "content": "Be brief."}], generate=False).response
        equal((warm.status, warm.output), ("completed", []), "what was only prepared")
        first = turn("a", input="my name is Ada", previous_response_id=warm.id).response
        holds(first.output_text, 'You said: "my name is Ada"', "the answer")
        turn("b", input="who am I?", previous_response_id=first.id)
        equal(place.arrived("b").users(), ["my name is Ada", "who am I?"], "user texts upstream")
        equal(place.arrived("b").systems(), ["Be brief."], "instructions upstream")
        equal(turn("c", input="x", previous_response_id="resp_none").error.code, "previous_response_not_found", "the code")
        connection.response.steer(input=[{"role": "user", "content": "x"}], previous_response_id=first.id)
        failed = connection.recv()
        equal((failed.type, failed.error.code), ("response.steer.failed", "steering_not_supported"), "steering")


TABLE: tuple[Callable[[Place, str], None], ...] = (
    response,
    sequential_responses,
    continuation,
    reconnect_store_false_recovery,
    previous_response_not_found,
    failed_continuation_evicts_cache,
    compact_new_chain,
    tool_round,
    by_the_sdk,
)
