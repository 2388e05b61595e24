"""One conversation that changes its client, its protocol and its provider with every turn."""

from dataclasses import dataclass
from typing import Any

import openai

import anthropic_messages
import gemini
import openai_chat
import openai_responses
from arrived import Arrived
from conversation import Ask, Model, Results, User
from scenarios import WEATHER, equal, holds
from servers import PROVIDERS, Simulators

TIMEOUT_S = 30.0
CLIENTS = (openai_chat.Client, anthropic_messages.Client, gemini.Client, openai_responses.Client)
CITIES = ("Oslo", "Rome", "Lima", "Cairo")


@dataclass(frozen=True)
class Place:
    """A gateway, the simulators behind it, and the models that one case asks for."""

    base: str
    simulators: Simulators
    name: str

    def model(self, provider: str, step: object) -> str:
        return f"{provider}/{self.name}-{step}"

    def arrived(self, step: object) -> Arrived:
        """The last request of a step that came to a simulator, which must have been one that it accepts."""
        found = self.simulators.arrived(f"{self.name}-{step}")
        for request in found:
            equal((request.is_valid, request.status), (True, 200), f"validity and status upstream ({request.body})")
        equal(bool(found), True, f"requests upstream of step {step}")
        return found[-1]


def round_of_tools(place: Place, first: int, is_streamed: bool) -> None:
    """Every client says one thing and answers one call, each on another provider; nothing is sent twice by it."""
    names = list(PROVIDERS)
    order = names[first:] + names[:first]
    told = Told([], [], "")
    for number, (kind, provider, city) in enumerate(zip(CLIENTS, order, CITIES)):
        client = kind(place.base, TIMEOUT_S, {"sabir-conversation": place.name})
        model = place.model(provider, number)
        say = client.stream if is_streamed else client.whole
        said = f'my number {number} is {city}\ncall weather with {{"city": "{city}"}}'
        asked = say(Ask(model, (User(said),), tools=(WEATHER,)))
        equal([(it.name, it.arguments) for it in asked.calls], [("weather", {"city": city})], "the calls")
        told.users.append(said)
        told.check(place.arrived(number))
        results = Results(((asked.calls[0], f"{city} is mild"),))
        last = say(Ask(model, (results,), tools=(WEATHER,)))
        holds(last.text, f'The tools said: "{city} is mild"', "the answer")
        told.results.append(("weather", f"{city} is mild"))
        told.check(place.arrived(number))
        told.said += last.text
        client.close()
    chained(place, order, told)


@dataclass
class Told:
    """What was said so far, by everybody."""

    users: list[str]
    results: list[tuple[str, str]]
    said: str

    def check(self, arrived: Arrived) -> None:
        equal(arrived.users(), self.users, "user texts upstream")
        equal(arrived.results(), self.results, "results upstream")
        equal(arrived.models(), self.said, "answers upstream")
        calls = [("weather", {"city": city}) for city in CITIES[: len(self.results)]]
        equal(arrived.calls()[: len(calls)], calls, "calls upstream")


def chained(place: Place, order: list[str], told: Told) -> None:
    """The same conversation through Responses: by the header once more, and from that answer by its id, which is a chain."""
    with openai.OpenAI(api_key="none", base_url=f"{place.base}/v1", max_retries=0) as sdk:
        header = {"sabir-conversation": place.name}
        first = sdk.responses.create(model=place.model(order[0], "h"), input="what do you know?", extra_headers=header)
        told.users.append("what do you know?")
        told.check(place.arrived("h"))
        told.said += first.output_text
        foreign = next(name for name in order if name not in (order[0], "responses"))
        sdk.responses.create(model=place.model(foreign, "c"), input="and now?", previous_response_id=first.id)
        told.users.append("and now?")
        told.check(place.arrived("c"))


def everything_again(place: Place) -> None:
    """A client that sends its whole history with the header adds nothing twice, whoever it is."""
    names = list(PROVIDERS)
    for number, kind in enumerate(CLIENTS):
        name = f"{place.name}-{number}"
        client = kind(place.base, TIMEOUT_S, {"sabir-conversation": name})
        turns: list[Any] = []
        for step, text in enumerate(("my name is Ada", "I like tea", "who am I?")):
            turns.append(User(text))
            model = place.model(names[(number + step + 1) % 4], f"{number}{step}")
            answer = client.whole(Ask(model, tuple(turns)))
            users = [it.text for it in turns if isinstance(it, User)]
            equal(place.arrived(f"{number}{step}").users(), users, "user texts upstream")
            turns.append(Model(answer.turn))
        client.close()


def named_by_the_gateway(place: Place) -> None:
    """`new` begins a conversation that the answer names; a turn of it can be gone on from twice."""
    with openai.OpenAI(api_key="none", base_url=f"{place.base}/v1", max_retries=0) as sdk:
        def say(step: int, provider: str, conversation: str, text: str) -> Any:
            create = sdk.chat.completions.with_raw_response.create
            messages = [{"role": "user", "content": text}]
            return create(model=place.model(provider, step), messages=messages, extra_headers={"sabir-conversation": conversation})

        first = say(0, "gemini", "new", "my name is Ada")
        name, turn = first.headers["sabir-conversation"], first.headers["sabir-turn"]
        equal(name.startswith("conv_"), True, "the name")
        equal(say(1, "anthropic", name, "I like tea").headers["sabir-conversation"], name, "the name")
        forked = say(2, "responses", f"{name}@{turn}", "I like rain").headers["sabir-conversation"]
        equal(forked != name, True, "a fork has a name of its own")
        equal(place.arrived(2).users(), ["my name is Ada", "I like rain"], "user texts of the fork")
        say(3, "chat", name, "what do I like?")
        equal(place.arrived(3).users(), ["my name is Ada", "I like tea", "what do I like?"], "user texts upstream")
        try:
            say(4, "chat", "conv_unknown", "hello")
        except openai.NotFoundError as error:
            holds(error.message, "conv_unknown", "the error")
        else:
            raise AssertionError("an unknown conversation is begun in silence")
