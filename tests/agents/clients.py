"""The vendors' own SDKs as clients of a gateway, each with the same face: a conversation in, text and calls out.

A conversation is a list of turns: ("user", text), ("look", text, png), ("assistant", text), ("call", [(id, name, arguments)], said) and
("results", [(id, name, text)]). Where a client has what was said in its own form, thinking and all, it sends that back.
"""

import base64
import json

import anthropic
import openai
from google import genai
from google.genai import types

SYSTEM = "You are terse."


class Failed(Exception):
    """A stream that began and says that it failed."""

    def __init__(self, error):
        super().__init__(f"{error.code}: {error.message}")


class Answer:
    def __init__(self, text="", calls=(), said=()):
        self.text, self.calls = text, list(calls)
        self.said = [it.model_dump(exclude_none=True) for it in said]

    def turn(self):
        """The answer as a turn of the conversation."""
        return ("call", self.calls, self.said)


def tools_of(names):
    return {name: {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]} for name in names}


class Client:
    """What all clients have in common: the gateway, and the conversation that their calls name, if they do."""

    def __init__(self, base, conversation=None, seconds=600):
        self.base, self.seconds = base, seconds
        self.headers = {"sabir-conversation": conversation} if conversation else {}
        self.connect()

    def named(self, conversation):
        """A client whose calls belong to a conversation."""
        return type(self)(self.base, conversation)

    def give_up(self, model, turns, seconds):
        """Asks for a whole answer, and leaves before it is there."""
        hasty = type(self)(self.base, seconds=seconds)
        try:
            answer = hasty.ask(model, turns)
        except Exception as error:  # Each SDK has its own.
            assert "time" in type(error).__name__.lower() + str(error).lower(), f"{type(error).__name__}: {error}"
            return
        raise AssertionError(f"it answered in time: {answer.text!r}")


class Chat(Client):
    name = "chat"

    def connect(self):
        self.client = openai.OpenAI(base_url=f"{self.base}/v1", api_key="x", max_retries=0, timeout=self.seconds, default_headers=self.headers)

    def messages(self, turns):
        spelled = [{"role": "system", "content": SYSTEM}]
        for kind, *rest in turns:
            if kind in ("user", "assistant"):
                spelled.append({"role": kind, "content": rest[0]})
            elif kind == "look":
                url = "data:image/png;base64," + base64.b64encode(rest[1]).decode()
                image = {"type": "image_url", "image_url": {"url": url}}
                spelled.append({"role": "user", "content": [{"type": "text", "text": rest[0]}, image]})
            elif kind == "call":
                calls = [
                    {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
                    for id, name, arguments in rest[0]
                ]
                spelled.append({"role": "assistant", "content": None, "tool_calls": calls})
            else:
                spelled += [{"role": "tool", "tool_call_id": id, "content": text} for id, _, text in rest[0]]
        return spelled

    def ask(self, model, turns, names=(), stream=False):
        tools = [{"type": "function", "function": {"name": n, "parameters": s}} for n, s in tools_of(names).items()]
        asked = {"model": model, "messages": self.messages(turns), "stream": stream}
        answer = self.client.chat.completions.create(**asked | ({"tools": tools} if tools else {}))
        if not stream:
            message = answer.choices[0].message
            calls = [(it.id, it.function.name, json.loads(it.function.arguments)) for it in message.tool_calls or []]
            return Answer(message.content or "", calls)
        text, calls = "", {}
        for chunk in answer:
            for choice in chunk.choices:
                text += choice.delta.content or ""
                for it in choice.delta.tool_calls or []:
                    call = calls.setdefault(it.index, [it.id, it.function.name, ""])
                    call[2] += it.function.arguments or ""
        return Answer(text, [(id, name, json.loads(arguments)) for id, name, arguments in calls.values()])

    def leave(self, model, turns):
        stream = self.client.chat.completions.create(model=model, messages=self.messages(turns), stream=True)
        next(iter(stream))
        stream.close()


class Responses(Client):
    name = "responses"

    def connect(self):
        self.client = openai.OpenAI(base_url=f"{self.base}/v1", api_key="x", max_retries=0, timeout=self.seconds, default_headers=self.headers)

    def input(self, turns):
        spelled = []
        for kind, *rest in turns:
            if kind in ("user", "assistant"):
                spelled.append({"role": kind, "content": rest[0]})
            elif kind == "look":
                url = "data:image/png;base64," + base64.b64encode(rest[1]).decode()
                image = {"type": "input_image", "image_url": url, "detail": "auto"}
                spelled.append({"role": "user", "content": [{"type": "input_text", "text": rest[0]}, image]})
            elif kind == "call" and rest[1:] and rest[1]:
                spelled += rest[1]
            elif kind == "call":
                spelled += [
                    {"type": "function_call", "call_id": id, "name": name, "arguments": json.dumps(arguments)}
                    for id, name, arguments in rest[0]
                ]
            else:
                spelled += [{"type": "function_call_output", "call_id": id, "output": text} for id, _, text in rest[0]]
        return spelled

    def ask(self, model, turns, names=(), stream=False):
        tools = [{"type": "function", "name": n, "parameters": s, "strict": False} for n, s in tools_of(names).items()]
        asked = {"model": model, "instructions": SYSTEM, "input": self.input(turns), "tools": tools}
        if stream:
            with self.client.responses.stream(**asked) as events:
                for event in events:
                    if event.type == "response.failed":
                        raise Failed(event.response.error)
                answer = events.get_final_response()
        else:
            answer = self.client.responses.create(**asked)
        calls = [(it.call_id, it.name, json.loads(it.arguments)) for it in answer.output if it.type == "function_call"]
        return Answer(answer.output_text, calls, answer.output)

    def leave(self, model, turns):
        stream = self.client.responses.create(model=model, input=self.input(turns), stream=True)
        next(iter(stream))
        stream.close()


class Messages(Client):
    name = "messages"

    def connect(self):
        self.client = anthropic.Anthropic(base_url=self.base, api_key="x", max_retries=0, timeout=self.seconds, default_headers=self.headers)

    def messages(self, turns):
        spelled = []
        for kind, *rest in turns:
            if kind in ("user", "assistant"):
                spelled.append({"role": kind, "content": rest[0]})
            elif kind == "look":
                data = base64.b64encode(rest[1]).decode()
                image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
                spelled.append({"role": "user", "content": [{"type": "text", "text": rest[0]}, image]})
            elif kind == "call" and rest[1:] and rest[1]:
                spelled.append({"role": "assistant", "content": rest[1]})
            elif kind == "call":
                uses = [{"type": "tool_use", "id": id, "name": name, "input": it} for id, name, it in rest[0]]
                spelled.append({"role": "assistant", "content": uses})
            else:
                results = [{"type": "tool_result", "tool_use_id": id, "content": text} for id, _, text in rest[0]]
                spelled.append({"role": "user", "content": results})
        return spelled

    def ask(self, model, turns, names=(), stream=False):
        tools = [{"name": n, "input_schema": s} for n, s in tools_of(names).items()]
        asked = {"model": model, "max_tokens": 2000, "system": SYSTEM, "messages": self.messages(turns)}
        asked |= {"tools": tools} if tools else {}
        if stream:
            with self.client.messages.stream(**asked) as events:
                answer = events.get_final_message()
        else:
            answer = self.client.messages.create(**asked)
        text = "".join(it.text for it in answer.content if it.type == "text")
        return Answer(text, [(it.id, it.name, it.input) for it in answer.content if it.type == "tool_use"], answer.content)

    def leave(self, model, turns):
        asked = {"model": model, "max_tokens": 2000, "messages": self.messages(turns)}
        with self.client.messages.stream(**asked) as events:
            next(iter(events))


class Gemini(Client):
    name = "gemini"

    def connect(self):
        retries = types.HttpRetryOptions(attempts=1)
        options = types.HttpOptions(base_url=self.base, headers=self.headers, retry_options=retries, timeout=self.seconds * 1000)
        self.client = genai.Client(api_key="x", http_options=options)

    def contents(self, turns):
        spelled = []
        for kind, *rest in turns:
            if kind == "user":
                spelled.append(types.UserContent(parts=[types.Part(text=rest[0])]))
            elif kind == "look":
                image = types.Part.from_bytes(data=rest[1], mime_type="image/png")
                spelled.append(types.UserContent(parts=[types.Part(text=rest[0]), image]))
            elif kind == "assistant":
                spelled.append(types.ModelContent(parts=[types.Part(text=rest[0])]))
            elif kind == "call":
                calls = [types.FunctionCall(id=id, name=name, args=it) for id, name, it in rest[0]]
                spelled.append(types.ModelContent(parts=[types.Part(function_call=it) for it in calls]))
            else:
                results = [types.FunctionResponse(id=id, name=name, response={"output": it}) for id, name, it in rest[0]]
                spelled.append(types.UserContent(parts=[types.Part(function_response=it) for it in results]))
        return spelled

    def ask(self, model, turns, names=(), stream=False):
        functions = [types.FunctionDeclaration(name=n, parameters_json_schema=s) for n, s in tools_of(names).items()]
        config = types.GenerateContentConfig(
            system_instruction=SYSTEM,
            tools=[types.Tool(function_declarations=functions)] if functions else None,
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )
        asked = {"model": model, "contents": self.contents(turns), "config": config}
        if stream:
            answers = list(self.client.models.generate_content_stream(**asked))
        else:
            answers = [self.client.models.generate_content(**asked)]
        parts = [it for answer in answers for it in (answer.candidates or [None])[0].content.parts or []]
        text = "".join(it.text or "" for it in parts if not it.thought)
        calls = [it.function_call for it in parts if it.function_call]
        return Answer(text, [(it.id, it.name, dict(it.args)) for it in calls])

    def leave(self, model, turns):
        stream = self.client.models.generate_content_stream(model=model, contents=self.contents(turns))
        next(stream)
        stream.close()


CLIENTS = [Chat, Responses, Messages, Gemini]


def status_of(error):
    """The status of an SDK's error."""
    return getattr(error, "status_code", None) or getattr(error, "code", None)
