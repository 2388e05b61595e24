"""What a simulator received, read out of its own protocol into words that all scenarios share."""

import base64
import json
import re
from dataclasses import dataclass
from typing import Any, Optional


@dataclass(frozen=True)
class Arrived:
    """One request as it came to the upstream."""

    protocol: str
    path: str
    headers: dict
    body: dict
    status: int
    # Whether it kept the rules of the API, whatever fault its model asked for.
    is_valid: bool

    @property
    def reader(self) -> Any:
        return READERS[self.protocol]

    def systems(self) -> list[str]:
        """The system prompts before the conversation."""
        return self.reader.systems(self.body)

    def users(self) -> list[str]:
        return self.reader.users(self.body)

    def models(self) -> str:
        """What the model said before, all in one."""
        return "".join(self.reader.models(self.body))

    def results(self) -> list[tuple[str, str]]:
        """The tool results, each with the name of the tool that was called."""
        return self.reader.results(self.body)

    def calls(self) -> list[tuple[str, dict]]:
        return self.reader.calls(self.body)

    def images(self) -> list[bytes]:
        return self.reader.images(self.body)

    def tools(self) -> dict[str, dict]:
        """The schema of each tool by its name."""
        return self.reader.tools(self.body)

    def choice(self) -> Optional[str]:
        return self.reader.choice(self.body)

    def stops(self) -> list[str]:
        return self.reader.stops(self.body)

    def max_tokens(self) -> Optional[int]:
        return self.reader.max_tokens(self.body)

    def thinks(self) -> bool:
        return self.reader.thinks(self.body)

    def seals(self) -> list[str]:
        """The signatures and encrypted thoughts that came back."""
        return self.reader.seals(self.body)

    def schema(self) -> Optional[dict]:
        return self.reader.schema(self.body)

    def is_streamed(self) -> bool:
        return "streamGenerateContent" in self.path or self.body.get("stream") is True


def texts(content: Any) -> list[str]:
    """The texts of a content that is a string or a list of parts."""
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in content or [] if "text" in part]


def data_url(url: str) -> bytes:
    return base64.b64decode(url.split(",", 1)[1])


class OpenaiChat:
    @staticmethod
    def systems(body: dict) -> list[str]:
        found = []
        for message in body["messages"]:
            if message["role"] not in ("system", "developer"):
                break
            found += texts(message["content"])
        return found

    @staticmethod
    def users(body: dict) -> list[str]:
        return [text for it in body["messages"] if it["role"] == "user" for text in texts(it["content"])]

    @staticmethod
    def models(body: dict) -> list[str]:
        return [text for it in body["messages"] if it["role"] == "assistant" for text in texts(it["content"])]

    @staticmethod
    def results(body: dict) -> list[tuple[str, str]]:
        calls = [call for it in body["messages"] for call in it.get("tool_calls") or []]
        names = {call["id"]: call["function"]["name"] for call in calls}
        tools = [it for it in body["messages"] if it["role"] == "tool"]
        return [(names[it["tool_call_id"]], "".join(texts(it["content"]))) for it in tools]

    @staticmethod
    def calls(body: dict) -> list[tuple[str, dict]]:
        calls = [call["function"] for it in body["messages"] for call in it.get("tool_calls") or []]
        return [(it["name"], json.loads(it["arguments"])) for it in calls]

    @staticmethod
    def images(body: dict) -> list[bytes]:
        lists = [it["content"] for it in body["messages"] if isinstance(it.get("content"), list)]
        return [data_url(part["image_url"]["url"]) for parts in lists for part in parts if "image_url" in part]

    @staticmethod
    def tools(body: dict) -> dict[str, dict]:
        return {it["function"]["name"]: it["function"]["parameters"] for it in body.get("tools") or []}

    @staticmethod
    def choice(body: dict) -> Optional[str]:
        choice = body.get("tool_choice")
        return "tool:" + choice["function"]["name"] if isinstance(choice, dict) else choice

    @staticmethod
    def stops(body: dict) -> list[str]:
        stop = body.get("stop") or []
        return [stop] if isinstance(stop, str) else stop

    @staticmethod
    def max_tokens(body: dict) -> Optional[int]:
        return body.get("max_completion_tokens") or body.get("max_tokens")

    @staticmethod
    def thinks(body: dict) -> bool:
        return body.get("reasoning_effort") not in (None, "none")

    @staticmethod
    def seals(body: dict) -> list[str]:
        return []

    @staticmethod
    def schema(body: dict) -> Optional[dict]:
        return ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")


class OpenaiResponses:
    @staticmethod
    def items(body: dict) -> list[dict]:
        items = body["input"]
        return [{"role": "user", "content": items}] if isinstance(items, str) else items

    @classmethod
    def systems(cls, body: dict) -> list[str]:
        found = texts(body.get("instructions") or [])
        for item in cls.items(body):
            if item.get("role") not in ("system", "developer"):
                break
            found += texts(item["content"])
        return found

    @classmethod
    def users(cls, body: dict) -> list[str]:
        return [text for it in cls.items(body) if it.get("role") == "user" for text in texts(it["content"])]

    @classmethod
    def models(cls, body: dict) -> list[str]:
        return [text for it in cls.items(body) if it.get("role") == "assistant" for text in texts(it["content"])]

    @classmethod
    def results(cls, body: dict) -> list[tuple[str, str]]:
        names = {it["call_id"]: it["name"] for it in cls.items(body) if it.get("type") == "function_call"}
        outputs = [it for it in cls.items(body) if it.get("type") == "function_call_output"]
        return [(names[it["call_id"]], "".join(texts(it["output"]))) for it in outputs]

    @classmethod
    def calls(cls, body: dict) -> list[tuple[str, dict]]:
        calls = [it for it in cls.items(body) if it.get("type") == "function_call"]
        return [(it["name"], json.loads(it["arguments"])) for it in calls]

    @classmethod
    def images(cls, body: dict) -> list[bytes]:
        lists = [it["content"] for it in cls.items(body) if isinstance(it.get("content"), list)]
        return [data_url(part["image_url"]) for parts in lists for part in parts if "image_url" in part]

    @staticmethod
    def tools(body: dict) -> dict[str, dict]:
        return {it["name"]: it["parameters"] for it in body.get("tools") or []}

    @staticmethod
    def choice(body: dict) -> Optional[str]:
        choice = body.get("tool_choice")
        return "tool:" + choice["name"] if isinstance(choice, dict) else choice

    @staticmethod
    def stops(body: dict) -> list[str]:
        return []

    @staticmethod
    def max_tokens(body: dict) -> Optional[int]:
        return body.get("max_output_tokens")

    @staticmethod
    def thinks(body: dict) -> bool:
        return (body.get("reasoning") or {}).get("effort") not in (None, "none")

    @classmethod
    def seals(cls, body: dict) -> list[str]:
        return [it["encrypted_content"] for it in cls.items(body) if it.get("encrypted_content")]

    @staticmethod
    def schema(body: dict) -> Optional[dict]:
        return ((body.get("text") or {}).get("format") or {}).get("schema")


class AnthropicMessages:
    @staticmethod
    def blocks(body: dict, role: str, kind: str) -> list[dict]:
        lists = [it["content"] for it in body["messages"] if it["role"] == role]
        lists = [[{"type": "text", "text": it}] if isinstance(it, str) else it for it in lists]
        return [block for blocks in lists for block in blocks if block["type"] == kind]

    @staticmethod
    def systems(body: dict) -> list[str]:
        return texts(body.get("system") or [])

    @classmethod
    def users(cls, body: dict) -> list[str]:
        return [block["text"] for block in cls.blocks(body, "user", "text")]

    @classmethod
    def models(cls, body: dict) -> list[str]:
        return [block["text"] for block in cls.blocks(body, "assistant", "text")]

    @classmethod
    def results(cls, body: dict) -> list[tuple[str, str]]:
        names = {it["id"]: it["name"] for it in cls.blocks(body, "assistant", "tool_use")}
        outputs = cls.blocks(body, "user", "tool_result")
        return [(names[it["tool_use_id"]], "".join(texts(it["content"]))) for it in outputs]

    @classmethod
    def calls(cls, body: dict) -> list[tuple[str, dict]]:
        return [(it["name"], it["input"]) for it in cls.blocks(body, "assistant", "tool_use")]

    @classmethod
    def images(cls, body: dict) -> list[bytes]:
        return [base64.b64decode(it["source"]["data"]) for it in cls.blocks(body, "user", "image")]

    @staticmethod
    def tools(body: dict) -> dict[str, dict]:
        return {it["name"]: it["input_schema"] for it in body.get("tools") or []}

    @staticmethod
    def choice(body: dict) -> Optional[str]:
        choice = body.get("tool_choice") or {}
        words = {"auto": "auto", "none": "none", "any": "required", "tool": f"tool:{choice.get('name')}"}
        return words.get(choice.get("type"))

    @staticmethod
    def stops(body: dict) -> list[str]:
        return body.get("stop_sequences") or []

    @staticmethod
    def max_tokens(body: dict) -> Optional[int]:
        return body.get("max_tokens")

    @staticmethod
    def thinks(body: dict) -> bool:
        return (body.get("thinking") or {}).get("type") not in (None, "disabled")

    @classmethod
    def seals(cls, body: dict) -> list[str]:
        return [it["signature"] for it in cls.blocks(body, "assistant", "thinking")]

    @staticmethod
    def schema(body: dict) -> Optional[dict]:
        return ((body.get("output_config") or {}).get("format") or {}).get("schema")


class Gemini:
    @staticmethod
    def parts(body: dict, role: str) -> list[dict]:
        return [part for it in body["contents"] if it.get("role", "user") == role for part in it["parts"]]

    @staticmethod
    def systems(body: dict) -> list[str]:
        return texts((body.get("systemInstruction") or {}).get("parts"))

    @classmethod
    def users(cls, body: dict) -> list[str]:
        return texts(cls.parts(body, "user"))

    @classmethod
    def models(cls, body: dict) -> list[str]:
        return texts(cls.parts(body, "model"))

    @classmethod
    def results(cls, body: dict) -> list[tuple[str, str]]:
        found = [part["functionResponse"] for part in cls.parts(body, "user") if "functionResponse" in part]
        return [(it["name"], it["response"].get("output")) for it in found]

    @classmethod
    def calls(cls, body: dict) -> list[tuple[str, dict]]:
        found = [part["functionCall"] for part in cls.parts(body, "model") if "functionCall" in part]
        return [(it["name"], it.get("args") or {}) for it in found]

    @classmethod
    def images(cls, body: dict) -> list[bytes]:
        blobs = [part["inlineData"]["data"] for part in cls.parts(body, "user") if "inlineData" in part]
        return [base64.b64decode(it.replace("-", "+").replace("_", "/")) for it in blobs]

    @staticmethod
    def tools(body: dict) -> dict[str, dict]:
        found = [it for tool in body.get("tools") or [] for it in tool.get("functionDeclarations") or []]
        return {it["name"]: it.get("parametersJsonSchema") or it.get("parameters") for it in found}

    @staticmethod
    def choice(body: dict) -> Optional[str]:
        calling = (body.get("toolConfig") or {}).get("functionCallingConfig") or {}
        names = calling.get("allowedFunctionNames") or []
        if calling.get("mode") == "ANY" and len(names) == 1:
            return f"tool:{names[0]}"
        return {"AUTO": "auto", "NONE": "none", "ANY": "required"}.get(calling.get("mode"))

    @staticmethod
    def settings(body: dict) -> dict:
        return body.get("generationConfig") or {}

    @classmethod
    def stops(cls, body: dict) -> list[str]:
        return cls.settings(body).get("stopSequences") or []

    @classmethod
    def max_tokens(cls, body: dict) -> Optional[int]:
        return cls.settings(body).get("maxOutputTokens")

    @classmethod
    def thinks(cls, body: dict) -> bool:
        thinking = cls.settings(body).get("thinkingConfig") or {}
        return bool(thinking.get("thinkingBudget") or thinking.get("thinkingLevel"))

    @classmethod
    def seals(cls, body: dict) -> list[str]:
        return [part["thoughtSignature"] for part in cls.parts(body, "model") if "thoughtSignature" in part]

    @classmethod
    def schema(cls, body: dict) -> Optional[dict]:
        settings = cls.settings(body)
        return settings.get("responseJsonSchema") or settings.get("responseSchema")


def camel(value: Any) -> Any:
    """The SDK writes some settings of Gemini in snake case, which the service takes too."""
    if isinstance(value, list):
        return [camel(it) for it in value]
    if not isinstance(value, dict):
        return value
    # What is the user's own stays as it is.
    own = ("args", "response", "parametersJsonSchema", "responseJsonSchema")
    named = {re.sub("_([a-z])", lambda it: it.group(1).upper(), key): it for key, it in value.items()}
    return {key: it if key in own else camel(it) for key, it in named.items()}


READERS = {
    "openai-chat": OpenaiChat,
    "openai-responses": OpenaiResponses,
    "anthropic-messages": AnthropicMessages,
    "gemini": Gemini,
}
