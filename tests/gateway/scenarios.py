"""What every client asks of every upstream, whole and streamed, and what both ends must have seen."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from arrived import Arrived
from conversation import Answer, Ask, Model, Results, System, Tool, User
from servers import Simulators

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
WEATHER = Tool(
    "weather",
    "The weather in a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False},
)
CLOCK = Tool(
    "clock",
    "The time in a zone.",
    {"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"], "additionalProperties": False},
)
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "warm": {"type": "boolean"}, "degrees": {"type": "integer"}},
    "required": ["city", "warm", "degrees"],
    "additionalProperties": False,
}
UNICODE = "unicode \u0628\u062d\u0631 \U0001f468\u200d\U0001f680 \u00e9e\u0301 \u4e2d\u6587 \u2028 \"x\" \\ \t."
CALLS = 'call weather with {"city": "Oslo \u2014 \u5317"}\ncall clock with {"zone": "UTC"}'


@dataclass(frozen=True)
class Cell:
    """One scenario of one client on one upstream."""

    client: Any
    provider: str
    upstream: str
    is_streamed: bool
    name: str
    simulators: Simulators

    def ask(self, *turns: Any, **settings: Any) -> Answer:
        """Asks under a model name that only this cell uses, so that its requests can be found again."""
        ask = Ask(f"{self.provider}/{self.name}", turns, **settings)
        answer = self.client.stream(ask) if self.is_streamed else self.client.whole(ask)
        equal(answer.model, self.name, "the model that answered")
        return answer

    def arrived(self, count: int = 1) -> Arrived:
        """The last of the requests that came to the upstream; there must be as many as the client made."""
        found = self.simulators.arrived(self.name)
        equal(len(found), count, "requests upstream")
        for request in found:
            equal(request.protocol, self.upstream, "the protocol upstream")
            equal((request.is_valid, request.status), (True, 200), "validity and status upstream")
            equal(request.is_streamed(), self.is_streamed, "streaming upstream")
        return found[-1]


def equal(found: Any, expected: Any, what: str) -> None:
    if found != expected:
        raise AssertionError(f"{what}: expected {expected!r}, found {found!r}")


def holds(whole: Any, part: Any, what: str) -> None:
    if part not in whole:
        raise AssertionError(f"{what}: {part!r} is not in {whole!r}")


def text(cell: Cell) -> None:
    answer = cell.ask(User("hello there"))
    holds(answer.text, f"answering as `{cell.name}`. You said: \"hello there\".", "the answer")
    equal((answer.finish, answer.calls), ("stop", ()), "the end")
    if cell.is_streamed and answer.pieces < 2:
        raise AssertionError(f"the stream came in {answer.pieces} pieces")
    equal(cell.arrived().users(), ["hello there"], "user texts upstream")


def several_systems(cell: Cell) -> None:
    cell.ask(User("hello"), system=("Be brief.", "Be kind."))
    arrived = cell.arrived()
    said = "\n".join(arrived.systems())
    equal([said.count("Be brief."), said.count("Be kind.")], [1, 1], "system prompts upstream")
    equal(said.index("Be brief.") < said.index("Be kind."), True, "order of system prompts upstream")
    equal(arrived.users(), ["hello"], "user texts upstream")


def late_system(cell: Cell) -> None:
    first = cell.ask(User("hello"))
    cell.ask(User("hello"), Model(first.turn), System("Speak French now."), User("and now?"))
    whole = json.dumps(cell.arrived(2).body)
    equal(whole.count("Speak French now."), 1, "the late system prompt upstream")


def turns(cell: Cell) -> None:
    first = cell.ask(User("my name is Ada"))
    second = cell.ask(User("my name is Ada"), Model(first.turn), User("what is my name?"))
    holds(second.text, 'You said: "what is my name?"', "the second answer")
    arrived = cell.arrived(2)
    equal(arrived.users(), ["my name is Ada", "what is my name?"], "user texts upstream")
    equal(arrived.models(), first.text, "the first answer upstream")


def parallel_tools(cell: Cell) -> None:
    tools = (WEATHER, CLOCK)
    first = cell.ask(User(CALLS), tools=tools)
    calls = [("weather", {"city": "Oslo \u2014 \u5317"}), ("clock", {"zone": "UTC"})]
    equal([(it.name, it.arguments) for it in first.calls], calls, "the calls")
    equal(first.finish, "tools", "the end of the first answer")
    equal(len({it.id for it in first.calls}), 2, "different ids")
    results = Results(tuple(zip(first.calls, ("12 degrees \u2603", "noon"))))
    second = cell.ask(User(CALLS), Model(first.turn), results, tools=tools)
    holds(second.text, 'The tools said: "12 degrees \u2603", "noon".', "the second answer")
    equal(second.finish, "stop", "the end of the second answer")
    arrived = cell.arrived(2)
    equal(arrived.calls(), calls, "calls upstream")
    equal(arrived.results(), [("weather", "12 degrees \u2603"), ("clock", "noon")], "results upstream")
    for tool in tools:
        schema = arrived.tools()[tool.name]
        equal(schema["required"], tool.parameters["required"], "required parameters upstream")
        equal(list(schema["properties"]), list(tool.parameters["properties"]), "parameters upstream")


def rounds_of_tools(cell: Cell) -> None:
    said = User('call weather with {"city": "Rome"}\nthen call clock with {"zone": "CET"}')
    tools = (WEATHER, CLOCK)
    history: list = [said]
    for expected, output in (("weather", "sunny"), ("clock", "five")):
        answer = cell.ask(*history, tools=tools)
        equal([it.name for it in answer.calls], [expected], "the calls")
        history += [Model(answer.turn), Results(((answer.calls[0], output),))]
    last = cell.ask(*history, tools=tools)
    holds(last.text, 'The tools said: "five".', "the last answer")
    equal(cell.arrived(3).results(), [("weather", "sunny"), ("clock", "five")], "results upstream")


def choice_none(cell: Cell) -> None:
    answer = cell.ask(User("use weather please"), tools=(WEATHER, CLOCK), choice="none")
    equal((answer.calls, answer.finish), ((), "stop"), "the calls")
    equal(cell.arrived().choice(), "none", "the choice upstream")


def choice_required(cell: Cell) -> None:
    answer = cell.ask(User("hello"), tools=(WEATHER, CLOCK), choice="required")
    equal(([it.name for it in answer.calls], answer.finish), (["weather"], "tools"), "the calls")
    equal(cell.arrived().choice(), "required", "the choice upstream")


def choice_named(cell: Cell) -> None:
    answer = cell.ask(User("hello"), tools=(WEATHER, CLOCK), choice="tool:clock")
    equal([it.name for it in answer.calls], ["clock"], "the calls")
    arrived = cell.arrived()
    equal(arrived.choice(), "tool:clock", "the choice upstream")
    holds(arrived.tools(), "weather", "the tools upstream")


def images(cell: Cell) -> None:
    answer = cell.ask(User("what is this?", (PIXEL, PIXEL)))
    holds(answer.text, "I see 2 images.", "the answer")
    arrived = cell.arrived()
    equal(arrived.images(), [PIXEL, PIXEL], "images upstream")
    equal(arrived.users(), ["what is this?"], "user texts upstream")


def thinking(cell: Cell) -> None:
    """Thoughts are told, and the turn that holds them can be sent back for the next one."""
    said = User('call weather with {"city": "Rome"}')
    first = cell.ask(said, tools=(WEATHER,), thinks=True)
    equal(len(first.calls), 1, "the calls")
    # Chat Completions tells no thoughts.
    if cell.upstream != "openai-chat":
        holds(first.thinking, "I know what to do.", "the thoughts")
    equal(cell.arrived().thinks(), True, "thinking upstream")
    history = (said, Model(first.turn), Results(((first.calls[0], "sunny"),)))
    second = cell.ask(*history, tools=(WEATHER,), thinks=True)
    holds(second.text, 'The tools said: "sunny".', "the second answer")
    arrived = cell.arrived(2)
    equal(arrived.results(), [("weather", "sunny")], "results upstream")
    if cell.client.protocol == cell.upstream and cell.upstream != "openai-chat":
        equal(len(arrived.seals()), 1, "sealed thoughts upstream")
    third = cell.ask(*history, Model(second.turn), User("thanks"), tools=(WEATHER,), thinks=True)
    holds(third.text, 'You said: "thanks"', "the third answer")
    cell.arrived(3)


def structured(cell: Cell) -> None:
    answer = cell.ask(User("the weather in Bergen"), schema=SCHEMA)
    found = json.loads(answer.text)
    kinds = {key: type(value) for key, value in found.items()}
    equal(kinds, {"city": str, "warm": bool, "degrees": int}, "the members")
    schema = cell.arrived().schema()
    equal(list(schema["properties"]), list(SCHEMA["properties"]), "properties upstream")
    equal(schema["required"], SCHEMA["required"], "required properties upstream")


def stop(cell: Cell) -> None:
    answer = cell.ask(User("repeat 20 words"), stops=("amet", "never"))
    arrived = cell.arrived()
    # Responses has no stop sequences: the answer is whole, and the loss is in the report.
    if cell.upstream == "openai-responses":
        equal(len(answer.text.split()), 20, "words")
        return
    equal(arrived.stops(), ["amet", "never"], "stop sequences upstream")
    equal(answer.text, "lorem ipsum dolor sit ", "the answer")
    is_told = cell.client.protocol == cell.upstream == "anthropic-messages"
    equal(answer.finish, "stop sequence" if is_told else "stop", "the end")


def max_tokens(cell: Cell) -> None:
    answer = cell.ask(User("repeat 100 words"), max_tokens=20)
    equal(cell.arrived().max_tokens(), 20, "the limit upstream")
    equal(answer.finish, "length", "the end")
    equal(1 < len(answer.text.split()) < 50, True, f"a short answer ({answer.text!r})")


def usage(cell: Cell) -> None:
    answer = cell.ask(User("count this"), system=("Be exact.",), thinks=True)
    expected = TOKENS[cell.upstream](cell.simulators.again(cell.arrived()))
    found = (answer.usage.input, answer.usage.output, answer.usage.thinking or 0)
    equal(found, expected, "tokens in, out and thought")
    equal(all(found), True, "nothing is zero")


def unicode(cell: Cell) -> None:
    answer = cell.ask(User(UNICODE))
    holds(answer.text, UNICODE, "the answer")
    holds(answer.text, "\U0001f469\u200d\U0001f469\u200d\U0001f467", "the answer")
    holds(answer.text, '\u2028\u2029 \U00010348 "quoted" \\ tab\t end', "the answer")
    equal(cell.arrived().users(), [UNICODE], "user texts upstream")


def refusal(cell: Cell) -> None:
    answer = cell.ask(User("please refuse"))
    equal((answer.finish, answer.text), ("refusal", "I can't help with that."), "the end")
    cell.arrived()


def long_stream(cell: Cell) -> None:
    answer = cell.ask(User("repeat 400 words"))
    words = answer.text.split()
    equal((len(words), words[0], words[-1]), (400, "lorem", "eiusmod"), "the answer")
    cell.arrived()


TOKENS: dict[str, Callable[[dict], tuple]] = {
    "openai-chat": lambda it: (
        it["usage"]["prompt_tokens"],
        it["usage"]["completion_tokens"],
        it["usage"]["completion_tokens_details"]["reasoning_tokens"],
    ),
    "openai-responses": lambda it: (
        it["usage"]["input_tokens"],
        it["usage"]["output_tokens"],
        it["usage"]["output_tokens_details"]["reasoning_tokens"],
    ),
    "anthropic-messages": lambda it: (
        it["usage"]["input_tokens"],
        it["usage"]["output_tokens"],
        it["usage"].get("output_tokens_details", {}).get("thinking_tokens", 0),
    ),
    "gemini": lambda it: (
        it["usageMetadata"]["promptTokenCount"],
        it["usageMetadata"]["candidatesTokenCount"] + it["usageMetadata"].get("thoughtsTokenCount", 0),
        it["usageMetadata"].get("thoughtsTokenCount", 0),
    ),
}

EVERYONE = ("openai-chat", "openai-responses", "anthropic-messages", "gemini")

# Each scenario with the clients that can ask it.
TABLE: tuple[tuple[Callable[[Cell], None], tuple[str, ...]], ...] = (
    (text, EVERYONE),
    (several_systems, EVERYONE),
    (late_system, ("openai-chat", "openai-responses")),
    (turns, EVERYONE),
    (parallel_tools, EVERYONE),
    (rounds_of_tools, EVERYONE),
    (choice_none, EVERYONE),
    (choice_required, EVERYONE),
    (choice_named, EVERYONE),
    (images, EVERYONE),
    (thinking, EVERYONE),
    (structured, EVERYONE),
    (stop, ("openai-chat", "anthropic-messages", "gemini")),
    (max_tokens, EVERYONE),
    (usage, EVERYONE),
    (unicode, EVERYONE),
    (refusal, EVERYONE),
    (long_stream, EVERYONE),
)
