"""Stored answers of Responses by the `openai` SDK: continued on other providers, read, listed, named and deleted."""

import time
from collections.abc import Callable
from typing import Any

import openai

from scenarios import WEATHER, equal, holds
from servers import PROVIDERS
from switching import Place

TOOL = {"type": "function", "name": WEATHER.name, "description": WEATHER.description, "parameters": WEATHER.parameters}


class Chain:
    """The SDK on one upstream; what it makes is stored, since it says nothing else."""

    def __init__(self, place: Place, provider: str, is_streamed: bool) -> None:
        self.place, self.provider, self.is_streamed = place, provider, is_streamed
        self.sdk = openai.OpenAI(api_key="none", base_url=f"{place.base}/v1", max_retries=0)

    def create(self, step: object, provider: str = "", **arguments: Any) -> Any:
        model = self.place.model(provider or self.provider, step)
        if not self.is_streamed:
            return self.sdk.responses.create(model=model, **arguments)
        with self.sdk.responses.stream(model=model, **arguments) as events:
            return events.get_final_response()


def everywhere(chain: Chain) -> None:
    """From one upstream to each, tools included: every earlier word is there, instructions are not."""
    first = chain.create("a", input='I am Ada\ncall weather with {"city": "Oslo"}', tools=[TOOL], instructions="Be brief.")
    equal((first.id.startswith("resp_"), first.store), (True, True), "a stored answer")
    call = next(item for item in first.output if item.type == "function_call")
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "mild"}
    for provider in PROVIDERS:
        step = f"b-{provider}"
        second = chain.create(step, provider, input=[output], tools=[TOOL], previous_response_id=first.id)
        holds(second.output_text, 'The tools said: "mild"', "the answer")
        third = chain.create(f"c-{provider}", "anthropic", input="who am I?", previous_response_id=second.id)
        holds(third.output_text, 'You said: "who am I?"', "the answer")
        arrived = chain.place.arrived(f"c-{provider}")
        equal(arrived.users(), ['I am Ada\ncall weather with {"city": "Oslo"}', "who am I?"], "user texts upstream")
        equal(arrived.results(), [("weather", "mild")], "results upstream")
        equal(arrived.models(), second.output_text, "answers upstream")
        equal(arrived.systems(), [], "instructions upstream")


def kept_upstream(chain: Chain) -> None:
    """A Responses provider that has the chain is sent its id; every other upstream is sent the words."""
    first = chain.create("a", input="my name is Ada")
    chain.create("b", input="who am I?", previous_response_id=first.id)
    arrived = chain.place.arrived("b")
    is_own = chain.provider == "responses"
    equal(arrived.body.get("previous_response_id"), first.id if is_own else None, "the id upstream")
    equal(arrived.users(), ["who am I?"] if is_own else ["my name is Ada", "who am I?"], "user texts upstream")


def read_again(chain: Chain) -> None:
    texts = ["Be brief.", *(f"number {number}" for number in range(4))]
    roles = ["developer", *["user"] * 4]
    made = chain.create("a", input=[{"role": role, "content": text} for role, text in zip(roles, texts)])
    read = chain.sdk.responses.retrieve(made.id)
    equal((read.id, read.output_text, read.status), (made.id, made.output_text, "completed"), "the answer, read again")
    for order, expected in (("asc", texts), ("desc", texts[::-1])):
        # The SDK asks for the next page by itself.
        items = list(chain.sdk.responses.input_items.list(made.id, limit=2, order=order))
        equal([part.text for item in items for part in item.content], expected, f"the input, {order}")
        equal(len({item.id for item in items}), 5, "ids")


def named_items(chain: Chain) -> None:
    first = chain.create("a", input="my name is Ada")
    message = next(item for item in first.output if item.type == "message")
    named = {"type": "item_reference", "id": message.id}
    for provider in PROVIDERS:
        again = [{"role": "user", "content": "my name is Ada"}, named, {"role": "user", "content": "who am I?"}]
        chain.create(f"b-{provider}", provider, input=again)
        arrived = chain.place.arrived(f"b-{provider}")
        equal((arrived.users(), arrived.models()), (["my name is Ada", "who am I?"], first.output_text), "texts upstream")


def deleted(chain: Chain) -> None:
    made = chain.create("a", input="my name is Ada")
    equal(chain.sdk.responses.delete(made.id), None, "the SDK's answer")
    for ask in (chain.sdk.responses.retrieve, chain.sdk.responses.delete, chain.sdk.responses.input_items.list):
        error = refused(openai.NotFoundError, lambda ask=ask: ask(made.id))
        holds(error.message, f"Response with id '{made.id}' not found.", "the error")


def refusals(chain: Chain) -> None:
    """The SDK's own exceptions, with the vendor's words and codes."""
    error = refused(openai.BadRequestError, lambda: chain.create("a", input="x", previous_response_id="resp_none"))
    equal((error.code, error.param), ("previous_response_not_found", "previous_response_id"), "an unknown answer")
    error = refused(
        openai.BadRequestError,
        lambda: chain.create("b", input="x", previous_response_id="resp_none", conversation="conv_none"),
    )
    equal(error.code, "mutually_exclusive_parameters", "two histories")
    unknown = [{"type": "item_reference", "id": "msg_none"}]
    error = refused(openai.NotFoundError, lambda: chain.create("c", input=unknown))
    holds(error.message, "Item with id 'msg_none' not found.", "an unknown item")
    made = chain.create("d", input="my name is Ada", store=False)
    equal(made.store, False, "what is not stored")
    refused(openai.NotFoundError, lambda: chain.sdk.responses.retrieve(made.id))
    refused(openai.BadRequestError, lambda: chain.create("e", input="x", previous_response_id=made.id))


def in_background(chain: Chain) -> None:
    """Queued, polled or followed with an interruption, and gone on from. A Responses provider has its own background."""
    model = chain.place.model(chain.provider, "a")
    ask = {"model": model, "input": "my name is Ada", "background": True}
    if chain.provider == "responses":
        equal(chain.sdk.responses.create(**ask).status, "queued", "the provider's own status")
        equal(chain.place.arrived("a").body.get("background"), True, "the call upstream")
        return
    made = followed(chain, ask) if chain.is_streamed else polled(chain, ask)
    equal((made.status, made.background), ("completed", True), "the answer")
    holds(made.output_text, 'You said: "my name is Ada"', "the answer")
    equal(chain.sdk.responses.cancel(made.id).status, "completed", "what is cancelled behind its end")
    chain.create("b", input="who am I?", previous_response_id=made.id)
    equal(chain.place.arrived("b").users(), ["my name is Ada", "who am I?"], "user texts upstream")


def polled(chain: Chain, ask: dict[str, Any]) -> Any:
    made = chain.sdk.responses.create(**ask)
    equal((made.status, made.output), ("queued", []), "what is told at once")
    until = time.monotonic() + 20
    while made.status in ("queued", "in_progress") and time.monotonic() < until:
        made = chain.sdk.responses.retrieve(made.id)
    return made


def followed(chain: Chain, ask: dict[str, Any]) -> Any:
    with chain.sdk.responses.create(stream=True, **ask) as stream:
        first = [event for event, _ in zip(stream, range(3))]
    equal([event.type for event in first[:2]], ["response.created", "response.queued"], "the first events")
    last = first[-1].sequence_number
    made = first[0].response.id
    with chain.sdk.responses.retrieve(made, stream=True, starting_after=last) as stream:
        rest = list(stream)
    numbers = [event.sequence_number for event in rest]
    equal(numbers, list(range(last + 1, last + 1 + len(rest))), "numbers of events")
    with chain.sdk.responses.stream(response_id=made, starting_after=last) as events:
        again = events.get_final_response()
    equal(again.output_text, rest[-1].response.output_text, "the stream helper's answer")
    return rest[-1].response


def refused(kind: type, ask: Callable[[], Any]) -> Any:
    try:
        ask()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


TABLE = (everywhere, kept_upstream, read_again, named_items, deleted, refusals, in_background)
