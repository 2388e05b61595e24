"""Compaction by software that asks for it: the `openai` SDK, the Agents SDK's session and the `anthropic` SDK, on every upstream.

The model of a case has two targets, so that the gateway writes the summary itself whoever is behind it.
"""

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import agents
import anthropic
import openai
from agents.memory import OpenAIResponsesCompactionSession

from scenarios import equal, holds
from servers import PROVIDERS
from switching import TIMEOUT_S, Place

TOLD = [
    {"role": "user", "content": "my name is Ada"},
    {"role": "assistant", "content": "Hello Ada."},
    {"role": "user", "content": "I like tea"},
]
SUMMARIZE, EDIT = "compact-2026-09-04", "compact-2026-01-12"
THRESHOLD = 1000
"""Tokens from which the conversation of an edit is compacted."""


def models() -> str:
    """The models as a configuration has them. The Agents SDK compacts with models of OpenAI's names alone."""
    return "".join(
        f'[[model]]\nname = "gpt-{name}"\ntargets = [{{ provider = "{name}", model = "summing" }}, '
        f'{{ provider = "{name}", model = "standing-in" }}]\n'
        for name in PROVIDERS
    )


def named(provider: str) -> str:
    return f"gpt-{provider}"


def client(place: Place) -> openai.OpenAI:
    return openai.OpenAI(api_key="none", base_url=f"{place.base}/v1", max_retries=0, timeout=TIMEOUT_S)


def check_item(items: list) -> Any:
    """The one compaction of an output, which stands last."""
    equal([item.type for item in items].count("compaction"), 1, "compactions")
    item = items[-1]
    equal((item.type, item.id.startswith("cmp_"), bool(item.encrypted_content)), ("compaction", True, True), "the item")
    return item


def go_on(place: Place, sdk: openai.OpenAI, step: str, items: list) -> None:
    """What was compacted is known on every other upstream."""
    for provider in PROVIDERS:
        model = place.model(provider, f"{step}-{provider}")
        answer = sdk.responses.create(model=model, input=[*items, {"role": "user", "content": "who am I?"}], store=False)
        holds(answer.output_text, 'You said: "who am I?"', "the answer")
        arrived = place.arrived(f"{step}-{provider}")
        equal(arrived.users()[-1], "who am I?", "the newest text upstream")
        holds(str(arrived.body), "my name is Ada", "the conversation upstream")


def by_input(place: Place, provider: str) -> None:
    with client(place) as sdk:
        made = sdk.responses.compact(model=named(provider), input=TOLD)
        equal(made.object, "response.compaction", "the object")
        equal(made.usage.input_tokens > 0, True, "the usage of the summary")
        item = check_item(made.output)
        said = [part.text for it in made.output[:-1] for part in it.content]
        equal(said, ["my name is Ada", "I like tea"], "what the user said")
        go_on(place, sdk, "b", [it.model_dump(exclude_none=True) for it in made.output])
        go_on(place, sdk, "c", [{"type": "compaction", "encrypted_content": item.encrypted_content}])


def by_stored_id(place: Place, provider: str) -> None:
    with client(place) as sdk:
        first = sdk.responses.create(model=place.model("gemini", "a"), input="my name is Ada")
        second = sdk.responses.create(model=place.model("chat", "a2"), input="I like tea", previous_response_id=first.id)
        made = sdk.responses.compact(model=named(provider), previous_response_id=second.id)
        check_item(made.output)
        go_on(place, sdk, "b", [it.model_dump(exclude_none=True) for it in made.output])


def by_trigger(place: Place, provider: str) -> None:
    """As Codex asks: a last item, and an answer that is the compaction alone; whole and streamed."""
    with client(place) as sdk:
        ask = {"model": named(provider), "input": [*TOLD, {"type": "compaction_trigger"}], "store": False}
        whole = sdk.responses.create(**ask)
        equal((whole.status, len(whole.output)), ("completed", 1), "the answer")
        events = list(sdk.responses.create(stream=True, **ask))
        equal(events[-1].type, "response.completed", "the last event")
        done = [event.item for event in events if event.type == "response.output_item.done"]
        equal(check_item(done).id, check_item(events[-1].response.output).id, "the item")
        go_on(place, sdk, "b", [{"role": "user", "content": "I like tea"}, {**whole.output[0].to_dict()}])


def without_model(place: Place, _: str) -> None:
    with client(place) as sdk:
        try:
            sdk.post("/responses/compact", body={"input": TOLD}, cast_to=object)
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            equal(error.status_code in (400, 422), True, "the status")
        else:
            raise AssertionError("no model, and no error")


def agents_session(place: Place, provider: str) -> None:
    """The session compacts by itself once it holds enough, and the next run goes on from what came back."""
    asyncio.run(session_of_agents(place, provider))


async def session_of_agents(place: Place, provider: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with openai.AsyncOpenAI(api_key="none", base_url=f"{place.base}/v1", max_retries=0, timeout=TIMEOUT_S) as sdk:
            store = agents.SQLiteSession("s", Path(folder) / "sessions.db")
            session = OpenAIResponsesCompactionSession(
                "s", store, client=sdk, model=named(provider), should_trigger_compaction=lambda it: len(it["session_items"]) >= 6
            )
            texts = ["my name is Ada", "I like tea", "I live in Oslo", "who am I?"]
            for step, text in enumerate(texts):
                model = agents.OpenAIResponsesModel(model=place.model(provider, step), openai_client=sdk)
                agent = agents.Agent(name="helper", instructions="Be brief.", model=model)
                result = await agents.Runner.run(agent, text, session=session)
                holds(result.final_output, f'You said: "{text}"', "the answer")
            items = await store.get_items()
            equal("compaction" in [item.get("type") for item in items], True, f"a compaction among {items}")
            holds(str(place.arrived(3).body), "my name is Ada", "the conversation upstream")
            store.close()


def by_summarize(place: Place, provider: str) -> None:
    """Anthropic's request that only compacts, whole and streamed; its block goes back in the place of what it covers."""
    with anthropic.Anthropic(api_key="none", base_url=place.base, max_retries=0, timeout=TIMEOUT_S) as sdk:
        ask = {"model": named(provider), "max_tokens": 1000, "messages": TOLD, "betas": [SUMMARIZE]}
        whole = sdk.beta.messages.create(compaction={"type": "summarize"}, **ask)
        with sdk.beta.messages.create(compaction={"type": "summarize"}, stream=True, **ask) as events:
            kinds = [event.type for event in events]
        equal((kinds[0], kinds[-1]), ("message_start", "message_stop"), "the stream")
        equal(([block.type for block in whole.content], whole.stop_reason), (["compaction"], "compaction"), "the answer")
        for other in PROVIDERS:
            if other != "anthropic":
                back(place, sdk, f"b-{other}", other, whole.content[0].to_dict())


def by_edit(place: Place, provider: str) -> None:
    """The edit compacts once the conversation is long enough, and the answer follows or waits."""
    edit = {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": THRESHOLD}}
    long = [{"role": "user", "content": "my name is Ada. " + "I like tea. " * THRESHOLD}, *TOLD[1:]]
    with anthropic.Anthropic(api_key="none", base_url=place.base, max_retries=0, timeout=TIMEOUT_S) as sdk:
        for pauses, expected in ((False, ["compaction", "text"]), (True, ["compaction"])):
            edits = {"edits": [edit | {"pause_after_compaction": pauses}]}
            ask = {"model": named(provider), "max_tokens": 1000, "betas": [EDIT], "context_management": edits}
            made = sdk.beta.messages.create(messages=long, **ask)
            equal([block.type for block in made.content if block.type != "thinking"], expected, "the blocks")
            equal(made.stop_reason == "compaction", pauses, f"the end: {made.stop_reason}")
        short = sdk.beta.messages.create(messages=TOLD, **ask)
        equal("compaction" in [block.type for block in short.content], False, "a short conversation")


def back(place: Place, sdk: anthropic.Anthropic, step: str, provider: str, block: dict) -> None:
    messages = [{"role": "assistant", "content": [block]}, {"role": "user", "content": "who am I?"}]
    answer = sdk.beta.messages.create(
        model=place.model(provider, step), max_tokens=1000, messages=messages, betas=[SUMMARIZE]
    )
    holds("".join(it.text for it in answer.content if it.type == "text"), 'You said: "who am I?"', "the answer")
    holds(str(place.arrived(step).body), "my name is Ada", "the conversation upstream")


TABLE: tuple[Callable[[Place, str], None], ...] = (
    by_input,
    by_stored_id,
    by_trigger,
    without_model,
    agents_session,
    by_summarize,
    by_edit,
)
