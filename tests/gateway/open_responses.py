"""The ten cases of the Open Responses specification that need no socket, on every upstream: what a client of that specification
may count on in each answer, whole and streamed. The seven others are in `sockets.py`, under the same names."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Optional

import raw
from compaction import named
from scenarios import equal, holds
from servers import PROVIDERS

NUMBER = (int, float)
NOTHING = type(None)

# What every response object has, and of which types it may be.
RESPONSE: dict[str, tuple[type, ...]] = {
    "id": (str,),
    "object": (str,),
    "created_at": (int,),
    "completed_at": (int, NOTHING),
    "status": (str,),
    "incomplete_details": (dict, NOTHING),
    "model": (str,),
    "previous_response_id": (str, NOTHING),
    "instructions": (str, list, NOTHING),
    "output": (list,),
    "error": (dict, NOTHING),
    "tools": (list,),
    "tool_choice": (str, dict),
    "truncation": (str,),
    "parallel_tool_calls": (bool,),
    "text": (dict,),
    "top_p": NUMBER,
    "presence_penalty": NUMBER,
    "frequency_penalty": NUMBER,
    "top_logprobs": (int,),
    "temperature": NUMBER,
    "reasoning": (dict, NOTHING),
    "usage": (dict, NOTHING),
    "max_output_tokens": (int, NOTHING),
    "max_tool_calls": (int, NOTHING),
    "store": (bool,),
    "background": (bool,),
    "service_tier": (str,),
    "metadata": (dict,),
    "safety_identifier": (str, NOTHING),
    "prompt_cache_key": (str, NOTHING),
}

USAGE = {
    "input_tokens": (int,),
    "output_tokens": (int,),
    "total_tokens": (int,),
    "input_tokens_details": (dict,),
    "output_tokens_details": (dict,),
}

COMPACTION = {"id": (str,), "object": (str,), "created_at": (int,), "output": (list,), "usage": (dict,)}

# The types of items, and of parts in their contents.
ITEMS = {
    "message": {"id": (str,), "status": (str,), "role": (str,), "content": (list,)},
    "function_call": {"id": (str,), "status": (str,), "call_id": (str,), "name": (str,), "arguments": (str,)},
    "reasoning": {"id": (str,), "summary": (list,)},
}
PARTS = {"output_text": {"text": (str,), "annotations": (list,)}, "refusal": {"refusal": (str,)}}

# The events of a stream: what each has beside its type and its number.
PLACE = {"item_id": (str,), "output_index": (int,)}
EVENTS = {
    "response.created": {"response": (dict,)},
    "response.in_progress": {"response": (dict,)},
    "response.completed": {"response": (dict,)},
    "response.output_item.added": {"output_index": (int,), "item": (dict,)},
    "response.output_item.done": {"output_index": (int,), "item": (dict,)},
    "response.content_part.added": PLACE | {"content_index": (int,), "part": (dict,)},
    "response.content_part.done": PLACE | {"content_index": (int,), "part": (dict,)},
    "response.output_text.delta": PLACE | {"content_index": (int,), "delta": (str,)},
    "response.output_text.done": PLACE | {"content_index": (int,), "text": (str,)},
    "response.function_call_arguments.delta": PLACE | {"delta": (str,)},
    "response.function_call_arguments.done": PLACE | {"arguments": (str,)},
    "response.reasoning_summary_part.added": PLACE | {"summary_index": (int,), "part": (dict,)},
    "response.reasoning_summary_part.done": PLACE | {"summary_index": (int,), "part": (dict,)},
    "response.reasoning_summary_text.delta": PLACE | {"summary_index": (int,), "delta": (str,)},
    "response.reasoning_summary_text.done": PLACE | {"summary_index": (int,), "text": (str,)},
}

STATUSES = {"in_progress", "completed", "incomplete"}
PHASES = {"commentary", "final_answer"}
# One black pixel.
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
WEATHER = {
    "type": "function",
    "name": "weather_at",
    "description": "The weather at a place",
    "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
}


@dataclass(frozen=True)
class Answer:
    """The last state of a response, and the events that led there, if it was streamed."""

    response: dict
    events: list[dict]

    def types(self) -> list[str]:
        return [item["type"] for item in self.response["output"]]

    def text(self) -> str:
        parts = [part for item in self.response["output"] for part in item.get("content", [])]
        return "".join(part.get("text", "") for part in parts)


class Place:
    """A client of the specification on one upstream."""

    def __init__(self, base: str, provider: str, is_streamed: bool) -> None:
        self.base, self.provider, self.is_streamed = base, provider, is_streamed

    def create(self, **fields: Any) -> Answer:
        body = {"model": f"{self.provider}/m", "stream": self.is_streamed} | fields
        reply = self.send("/v1/responses", body)
        equal(reply.status, 200, reply.body[:300])
        answer = self.streamed(reply.body) if self.is_streamed else Answer(reply.json(), [])
        check_response(answer.response)
        equal(answer.response["status"], "completed", "status")
        return answer

    def streamed(self, text: str) -> Answer:
        frames = [frame for frame in text.split("\n\n") if frame.strip()]
        # The vendor itself sends no such mark, and its own bytes pass as they are.
        if self.provider != "responses":
            equal(frames.pop(), "data: [DONE]", "the end of the stream")
        return read(frames)

    def send(self, path: str, body: dict) -> raw.Reply:
        headers = {"content-type": "application/json", "authorization": "Bearer none"}
        return raw.send(self.base, "POST", path, json.dumps(body).encode(), headers)


def read(frames: list[str]) -> Answer:
    """Reads a stream to its end, looking at every event."""
    events = []
    for frame in frames:
        lines = dict(line.split(": ", 1) for line in frame.splitlines())
        event = json.loads(lines["data"])
        equal(lines["event"], event["type"], "the name of an event")
        events.append(event)
    equal([event["sequence_number"] for event in events], list(range(len(events))), "the numbers of events")
    for event in events:
        check_event(event)
    equal(events[0]["type"], "response.created", "the first event")
    equal(events[-1]["type"], "response.completed", "the last event")
    check_items(events)
    return Answer(events[-1]["response"], events)


def check_event(event: dict) -> None:
    kind = event["type"]
    equal(kind in EVENTS, True, f"{kind} is an event of the specification")
    check_members(event, EVENTS[kind], kind)
    if "response" in event:
        check_response(event["response"])
    if kind == "response.output_item.done":
        check_item(event["item"])


def check_items(events: list[dict]) -> None:
    """Every item opens, and closes as it stands in the last response; pieces make the whole."""
    of = lambda kind: [event for event in events if event["type"] == kind]  # noqa: E731
    added, done = of("response.output_item.added"), of("response.output_item.done")
    equal(sorted(it["output_index"] for it in added), list(range(len(added))), "items that open")
    output = events[-1]["response"]["output"]
    equal([it["item"] for it in sorted(done, key=lambda it: it["output_index"])], output, "items that close")
    for delta, end, member in (
        ("response.output_text.delta", "response.output_text.done", "text"),
        ("response.function_call_arguments.delta", "response.function_call_arguments.done", "arguments"),
    ):
        for closed in of(end):
            pieces = [it["delta"] for it in of(delta) if it["item_id"] == closed["item_id"]]
            equal("".join(pieces), closed[member], f"the pieces of {member}")


def check_response(response: dict) -> None:
    check_members(response, RESPONSE, "the response")
    equal(response["object"], "response", "object")
    if response["usage"] is not None:
        check_members(response["usage"], USAGE, "usage")
        check_members(response["usage"]["input_tokens_details"], {"cached_tokens": (int,)}, "details of the input")
        check_members(response["usage"]["output_tokens_details"], {"reasoning_tokens": (int,)}, "details of the output")
    equal("format" in response["text"], True, "text.format")
    for item in response["output"]:
        check_item(item)


def check_item(item: dict) -> None:
    equal(item["type"] in ITEMS, True, f"{item['type']} is an item of the specification")
    check_members(item, ITEMS[item["type"]], item["type"])
    equal(item.get("status", "completed") in STATUSES, True, f"the status of {item}")
    equal(item.get("phase") in (None, *PHASES), True, f"the phase of {item}")
    for part in item.get("content") or []:
        if item["type"] == "message":
            check_members(part, PARTS[part["type"]], part["type"])


def check_members(found: dict, expected: dict[str, tuple[type, ...]], what: str) -> None:
    for name, types in expected.items():
        equal(name in found, True, f"{what} has {name}")
        # To Python a truth value is a number.
        is_truth = isinstance(found[name], bool) and bool not in types
        equal(isinstance(found[name], types) and not is_truth, True, f"{name} of {what}: {found[name]!r}")


def user(content: Any) -> dict:
    return {"type": "message", "role": "user", "content": content}


def model(content: Any, phase: Optional[str] = None) -> dict:
    return {"type": "message", "role": "assistant", "content": content} | ({"phase": phase} if phase else {})


def basic_response(place: Place) -> None:
    equal(place.create(input=[user("Say hello in three words.")]).types(), ["message"], "the output")


def system_prompt(place: Place) -> None:
    instructions = {"type": "message", "role": "system", "content": "Answer like a sailor."}
    equal(place.create(input=[instructions, user("Say hello.")]).types(), ["message"], "the output")


def tool_calling(place: Place) -> None:
    answer = place.create(input=[user('call weather_at with {"place": "Oslo"}')], tools=[WEATHER])
    calls = [item for item in answer.response["output"] if item["type"] == "function_call"]
    equal([(call["name"], json.loads(call["arguments"])) for call in calls], [("weather_at", {"place": "Oslo"})], "calls")
    equal(answer.response["tools"][0]["name"], "weather_at", "the tools of the response")
    if place.is_streamed:
        types = [event["type"] for event in answer.events]
        for kind in ("response.function_call_arguments.delta", "response.function_call_arguments.done"):
            equal(kind in types, True, f"{kind} in the stream")


def image_input(place: Place) -> None:
    image = {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"}
    answer = place.create(input=[user([{"type": "input_text", "text": "What is this?"}, image])])
    equal(answer.types(), ["message"], "the output")


def multi_turn(place: Place) -> None:
    answer = place.create(input=[user("My name is Ada."), model("Hello Ada."), user("What is my name?")])
    holds(answer.text(), "What is my name?", "the answer")


def assistant_phase(place: Place) -> None:
    """Phases of earlier messages are taken, and those of the output are among the specification's."""
    history = [user("Count."), model("Let me see.", "commentary"), model("One.", "final_answer")]
    equal("message" in place.create(input=[*history, user("Go on.")]).types(), True, "the output")


def response_output_phase_schema(place: Place) -> None:
    """A phase of an answer's message, where it has one, is among the specification's."""
    answer = place.create(input=[user("Think aloud, then answer.")])
    messages = [item for item in answer.response["output"] if item["type"] == "message"]
    equal([it.get("phase") for it in messages if it.get("phase") not in (None, *PHASES)], [], "phases")


def streaming_response(place: Place) -> None:
    """Every event is checked as it is read; here that there are all kinds of a text's."""
    if place.is_streamed:
        types = [event["type"] for event in place.create(input=[user("Count from one to five.")]).events]
        kinds = ("created", "output_item.added", "content_part.added", "output_text.delta", "output_text.done")
        missing = [kind for kind in (*kinds, "content_part.done", "output_item.done") if f"response.{kind}" not in types]
        equal(missing, [], "events that are missing")


def compact_response(place: Place) -> None:
    """What a conversation was compacted to is the input of the next one."""
    body = {"model": named(place.provider), "input": [user("My name is Ada."), model("Hello Ada.")]}
    reply = place.send("/v1/responses/compact", body)
    equal(reply.status, 200, reply.body[:300])
    made = reply.json()
    check_members(made, COMPACTION, "the compaction")
    check_members(made["usage"], USAGE, "usage")
    equal(made["object"], "response.compaction", "object")
    equal([it["type"] for it in made["output"]], ["message", "compaction"], "the output")
    check_members(made["output"][-1], {"id": (str,), "encrypted_content": (str,)}, "the item")
    equal("message" in place.create(input=[*made["output"], user("What is my name?")]).types(), True, "the output")


def compact_missing_model(place: Place) -> None:
    reply = place.send("/v1/responses/compact", {"input": [user("My name is Ada.")]})
    equal(reply.status in (400, 422), True, f"the status {reply.status}")
    check_members(reply.json()["error"], {"message": (str,), "type": (str,)}, "the error")


def chained(place: Place) -> None:
    """An answer goes on from the one before it, and says so."""
    first = place.create(input=[user("My name is Ada.")])
    second = place.create(input=[user("What is my name?")], previous_response_id=first.response["id"])
    # The simulator of Responses does not repeat the id, and what it answers passes as it is.
    if place.provider != "responses":
        equal(second.response["previous_response_id"], first.response["id"], "previous_response_id")
    equal(second.response["store"], True, "store")


CASES = (
    basic_response,
    assistant_phase,
    response_output_phase_schema,
    streaming_response,
    system_prompt,
    tool_calling,
    image_input,
    multi_turn,
    compact_response,
    compact_missing_model,
    chained,
)


def tests(base: str) -> Iterator[tuple[str, Callable[[], None]]]:
    for provider in PROVIDERS:
        for is_streamed in (False, True):
            place, way = Place(base, provider, is_streamed), "streamed" if is_streamed else "whole"
            for case in CASES:
                yield f"{case.__name__} on {provider}, {way}", lambda case=case, place=place: case(place)
