"""Frameworks that keep their conversations on the server, by default or by one argument, on every upstream."""

import asyncio
import json
import os
from collections.abc import Callable
from typing import Any

import anthropic
import openai

from scenarios import equal, holds
from switching import Place

# Nothing is told to anybody but the gateway.
os.environ["LANGSMITH_TRACING"] = "false"
os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"

import agents  # noqa: E402
import langchain_openai  # noqa: E402
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage  # noqa: E402

ROUNDS = 'I am Ada\ncall weather with {"city": "Rome"}\nthen call clock with {"zone": "CET"}'
CALLS = [("weather", {"city": "Rome"}), ("clock", {"zone": "CET"})]
RESULTS = [("weather", "sunny in Rome"), ("clock", "five in CET")]
TIMEOUT_S = 30.0


def weather(city: str) -> str:
    """The weather in a city."""
    return f"sunny in {city}"


def clock(zone: str) -> str:
    """The time in a zone."""
    return f"five in {zone}"


def complete(place: Place, provider: str, step: object, requests: int) -> None:
    """Two rounds of tools came to the upstream whole, in as many requests as there were steps."""
    found = place.simulators.arrived(f"{place.name}-{step}")
    equal([(it.is_valid, it.status) for it in found], [(True, 200)] * requests, "requests upstream")
    last = found[-1]
    equal(set(last.tools()), {"weather", "clock"}, "tools upstream")
    if provider == "responses" and last.body.get("previous_response_id"):
        equal(last.users(), [], "what the provider has is not sent again")
        return
    equal((last.users(), last.calls(), last.results()), ([ROUNDS], CALLS, RESULTS), "texts, calls and results upstream")
    holds("\n".join(last.systems()), "Be brief.", "the system prompt upstream")


def tool_runner(place: Place, provider: str, is_streamed: bool) -> None:
    """Anthropic's loop opens a thread by itself and sends only what is new; it would send all again if it were refused."""
    threads: list[dict] = []

    def note(request: Any) -> None:
        threads.append(json.loads(request.content))

    # The client closes what it was given.
    web = anthropic.DefaultHttpxClient(event_hooks={"request": [note]}, timeout=TIMEOUT_S)
    with anthropic.Anthropic(api_key="none", base_url=place.base, max_retries=0, http_client=web) as sdk:
        runner = sdk.beta.messages.tool_runner(
            model=place.model(provider, 0),
            max_tokens=1000,
            system="Be brief.",
            tools=[anthropic.beta_tool(weather), anthropic.beta_tool(clock)],
            messages=[{"role": "user", "content": ROUNDS}],
            stream=is_streamed,
        )
        last = runner.until_done()
    holds("".join(block.text for block in last.content if block.type == "text"), 'The tools said: "five in CET"', "the answer")
    equal([it["thread"]["type"] for it in threads], ["create", "continue", "continue"], "the threads")
    equal([("tools" in it, "system" in it) for it in threads[1:]], [(False, False)] * 2, "what is sent again")
    complete(place, provider, 0, 3)


def langchain(place: Place, provider: str, is_streamed: bool) -> None:
    chat = langchain_openai.ChatOpenAI(
        model=place.model(provider, 0),
        base_url=f"{place.base}/v1",
        api_key="none",
        max_retries=0,
        timeout=TIMEOUT_S,
        use_responses_api=True,
        use_previous_response_id=True,
    )
    model = chat.bind_tools([weather, clock])

    def say(history: list) -> Any:
        if not is_streamed:
            return model.invoke(history)
        pieces = list(model.stream(history))
        return sum(pieces[1:], pieces[0])

    history: list = [SystemMessage("Be brief."), HumanMessage(ROUNDS)]
    for name, output in RESULTS:
        answer = say(history)
        equal([it["name"] for it in answer.tool_calls], [name], "the calls")
        history += [answer, ToolMessage(output, tool_call_id=answer.tool_calls[0]["id"])]
    last = say(history)
    holds(last.text, 'The tools said: "five in CET"', "the answer")
    # It says the system prompt once, as the first of its messages, which the chain carries over.
    complete(place, provider, 0, 3)
    history += [last, HumanMessage("who am I?")]
    holds(say(history).text, 'You said: "who am I?"', "the answer")


def openai_agents(place: Place, provider: str, is_streamed: bool) -> None:
    """The Agents SDK chains by itself within a run, and over runs by the last id, here with another provider."""
    asyncio.run(chained_runs(place, provider, is_streamed))


async def chained_runs(place: Place, provider: str, is_streamed: bool) -> None:
    async with openai.AsyncOpenAI(api_key="none", base_url=f"{place.base}/v1", max_retries=0, timeout=TIMEOUT_S) as sdk:
        first = await run(agent(sdk, place.model(provider, 0)), ROUNDS, is_streamed, auto_previous_response_id=True)
        holds(first.final_output, 'The tools said: "five in CET"', "the answer")
        complete(place, provider, 0, 3)
        other = {"anthropic": "gemini"}.get(provider, "anthropic")
        last = first.last_response_id
        second = await run(agent(sdk, place.model(other, 1)), "who am I?", is_streamed, previous_response_id=last)
        holds(second.final_output, 'You said: "who am I?"', "the answer")
    arrived = place.arrived(1)
    equal((arrived.users(), arrived.results()), ([ROUNDS, "who am I?"], RESULTS), "texts and results upstream")
    equal(arrived.models(), first.final_output, "answers upstream")


def agents_conversation(place: Place, provider: str, is_streamed: bool) -> None:
    """The Agents SDK in a conversation of the server's: by its id, and as a session that it reads and writes by itself."""
    asyncio.run(runs_in_conversations(place, provider, is_streamed))


async def runs_in_conversations(place: Place, provider: str, is_streamed: bool) -> None:
    async with openai.AsyncOpenAI(api_key="none", base_url=f"{place.base}/v1", max_retries=0, timeout=TIMEOUT_S) as sdk:
        conversation = await sdk.conversations.create(metadata={"topic": "tools"})
        session = agents.OpenAIConversationsSession(openai_client=sdk)
        other = {"anthropic": "gemini"}.get(provider, "anthropic")
        for step, arguments in (("id", {"conversation_id": conversation.id}), ("session", {"session": session})):
            first = await run(agent(sdk, place.model(provider, step)), ROUNDS, is_streamed, **arguments)
            holds(first.final_output, 'The tools said: "five in CET"', "the answer")
            complete(place, provider, step, 3)
            second = await run(agent(sdk, place.model(other, f"{step}-2")), "who am I?", is_streamed, **arguments)
            holds(second.final_output, 'You said: "who am I?"', "the answer")
            arrived = place.arrived(f"{step}-2")
            equal((arrived.users(), arrived.results()), ([ROUNDS, "who am I?"], RESULTS), "texts and results upstream")
        items = [item async for item in await sdk.conversations.items.list(conversation.id, order="asc", limit=3)]
        kinds = [item.type for item in items]
        called = ["function_call", "function_call_output"]
        equal(kinds, ["message", *called, *called, "message", "message", "message"], "the items")
        await session.clear_session()


def agent(sdk: openai.AsyncOpenAI, model: str) -> agents.Agent:
    return agents.Agent(
        name="helper",
        instructions="Be brief.",
        tools=[agents.function_tool(weather), agents.function_tool(clock)],
        model=agents.OpenAIResponsesModel(model=model, openai_client=sdk),
    )


async def run(agent: agents.Agent, text: str, is_streamed: bool, **arguments: Any) -> Any:
    if not is_streamed:
        return await agents.Runner.run(agent, text, **arguments)
    result = agents.Runner.run_streamed(agent, text, **arguments)
    async for _ in result.stream_events():
        pass
    return result


TABLE: tuple[Callable[[Place, str, bool], None], ...] = (tool_runner, langchain, openai_agents, agents_conversation)
