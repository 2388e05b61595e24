"""Tools under rules and targets by class: every SDK has a tool called and answered, sees its own names, and needs not know more."""

from typing import Any

from conversation import Ask, Model, Results, Tool, User
from scenarios import equal, holds
from servers import PROVIDERS, Simulators

WEATHER = Tool(
    "weather.of",
    "The weather in a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False},
)
REMOVE = Tool("remove", "Removes everything.", {"type": "object", "properties": {}, "additionalProperties": False})
ASKED = 'please\ncall forecast with {"city": "Oslo"}'


def models() -> str:
    """For each provider a model that is asked first there, and then, once a tool has answered, at the next one."""
    names = list(PROVIDERS)
    return "".join(model(name, names[number - 1]) for number, name in enumerate(names))


def model(first: str, then: str) -> str:
    def target(provider: str, role: str) -> str:
        return f'[{{ provider = "{provider}", model = "governed-{role}-{first}" }}]'

    return f"""
[[model]]
name = "governed-{first}"
strategy = "class"
tools = {{ deny = ["rem*"], rename = {{ "weather.of" = "forecast" }}, arguments = "repair", undeclared = "refuse" }}
[model.classes]
default = {target(first, "default")}
thinking = {target(first, "first")}
tools = {target(then, "then")}
"""


def loop(client: Any, provider: str, is_streamed: bool, simulators: Simulators) -> None:
    say = client.stream if is_streamed else client.whole
    tools = (WEATHER, REMOVE)
    asked = say(Ask(f"governed-{provider}", (User(ASKED),), tools=tools))
    equal([(it.name, it.arguments) for it in asked.calls], [("weather.of", {"city": "Oslo"})], "the calls")
    results = Results(((asked.calls[0], "Oslo is mild"),))
    last = say(Ask(f"governed-{provider}", (User(ASKED), Model(asked.turn), results), tools=tools))
    holds(last.text, 'The tools said: "Oslo is mild"', "the answer")
    for role in ("first", "then"):
        arrived = simulators.arrived(f"governed-{role}-{provider}")
        equal(bool(arrived), True, f"requests upstream of the class for {role}")
        for request in arrived:
            equal((request.is_valid, request.status), (True, 200), f"validity and status upstream ({request.body})")
            body = str(request.body)
            equal(("forecast" in body, "weather.of" in body, "remove" in body), (True, False, False), "names upstream")
