"""Requests of the four provider APIs, read into what the model sees: tools, then instructions, then the conversation."""

import json
from dataclasses import dataclass, field

BYTES_PER_TOKEN = 4


class Invalid(Exception):
    """A request that a provider refuses."""


@dataclass
class Piece:
    """Something that a model reads."""

    pointer: str
    kind: str
    """tool, system, text, call, result or summary."""
    text: str
    call: str = ""
    """The id of a call or of a result."""
    marked: bool = False
    """Whether a marker of a prompt cache stands behind it."""


@dataclass
class Element:
    """A tool, an instruction or a message."""

    pointer: str
    text: str
    """Its bytes but for the markers of prompt caches."""
    marked: str
    """All of its bytes."""


@dataclass
class Received:
    """A request."""

    pieces: list[Piece]
    elements: list["Element"]
    """Tools, instructions and messages: what a provider's prompt cache compares."""
    is_streamed: bool
    has_trigger: bool = False
    includes_usage: bool = True
    marks_all: bool = False
    tools: list[str] = field(default_factory=list)
    """Those that may be called."""

    def tokens(self):
        return sum(tokens(piece) for piece in self.pieces)

    def text(self):
        return "\n".join(piece.text for piece in self.pieces)

    def last_words(self):
        """The newest text of the user."""
        return next((it.text for it in reversed(self.pieces) if it.kind == "text"), "")

    def check_pairs(self):
        """Every result answers a call before it, and every call is answered before the user speaks again."""
        open_calls, known = set(), set()
        for piece in self.pieces:
            if piece.kind == "call":
                known.add(piece.call)
                open_calls.add(piece.call)
            elif piece.kind == "result":
                if piece.call not in known:
                    raise Invalid(f"{piece.pointer}: no call has the id {piece.call}")
                open_calls.discard(piece.call)
        if open_calls:
            raise Invalid(f"no output for the calls {sorted(open_calls)}")


def tokens(piece):
    return -(-len(piece.text.encode()) // BYTES_PER_TOKEN)


MARKERS = ("cache_control", "prompt_cache_breakpoint")


def dump(value):
    """A value as a provider's cache sees it: without the markers that tell it what to keep, and a text that stands alone for
    the list that it needs to be marked."""
    return plain(unmarked(value))


def plain(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def unmarked(value):
    if isinstance(value, dict):
        return {key: unmarked(it) for key, it in value.items() if key not in MARKERS}
    if isinstance(value, list):
        bare = [unmarked(it) for it in value]
        is_text = len(bare) == 1 and isinstance(bare[0], dict) and bare[0].keys() == {"type", "text"}
        return bare[0]["text"] if is_text else bare
    return value


def listed(body, *names):
    """The elements of some lists, and the single values among them, with their pointers."""
    found = []
    for name in names:
        value = body.get(name)
        if isinstance(value, list):
            found += [(f"/{name}/{index}", it) for index, it in enumerate(value)]
        elif value is not None:
            found.append((f"/{name}", value))
    return found


def parts(element, member="content"):
    """The parts of a message, a plain string being one."""
    value = element.get(member)
    if isinstance(value, str):
        return [("", {"type": "text", "text": value})]
    return [(f"/{member}/{index}", it) for index, it in enumerate(value or [])]


def chat(body, _):
    pieces = [Piece(at, "tool", dump(it)) for at, it in listed(body, "tools")]
    for at, message in listed(body, "messages"):
        role = message["role"]
        kind = {"system": "system", "developer": "system", "tool": "result"}.get(role, "text")
        call = message.get("tool_call_id", "")
        if kind == "result" and not call:
            raise Invalid(f"{at}: a tool message needs tool_call_id")
        pieces += [Piece(at + below, kind, it.get("text", dump(it)), call) for below, it in parts(message)]
        for index, made in enumerate(message.get("tool_calls") or []):
            function = made["function"]
            text = function["name"] + function["arguments"]
            pieces.append(Piece(f"{at}/tool_calls/{index}", "call", text, made["id"]))
    usage = (body.get("stream_options") or {}).get("include_usage", not body.get("stream"))
    names = [it["function"]["name"] for it in body.get("tools") or [] if it["type"] == "function"]
    elements = rendered(body, "tools", "messages")
    return Received(pieces, elements, bool(body.get("stream")), includes_usage=usage, tools=names)


def responses(body, _):
    pieces = [Piece(at, "tool", dump(it)) for at, it in listed(body, "tools")]
    pieces += [Piece(at, "system", it) for at, it in listed(body, "instructions")]
    has_trigger = False
    for at, item in listed(body, "input"):
        item = {"type": "message", "role": "user", "content": item} if isinstance(item, str) else item
        match item.get("type", "message"):
            case "message":
                kind = "system" if item["role"] in ("system", "developer") else "text"
                pieces += [Piece(at + below, kind, it.get("text", dump(it))) for below, it in parts(item)]
            case "function_call" | "custom_tool_call":
                text = item["name"] + item.get("arguments", item.get("input", ""))
                pieces.append(Piece(at, "call", text, item["call_id"]))
            case "function_call_output" | "custom_tool_call_output":
                output = item["output"]
                text = output if isinstance(output, str) else "".join(it.get("text", "") for it in output)
                pieces.append(Piece(at, "result", text, item["call_id"]))
            case "compaction":
                pieces.append(Piece(at, "summary", opened(item["encrypted_content"])))
            case "compaction_trigger":
                has_trigger = True
            case "reasoning":
                pass
            case other:
                raise Invalid(f"{at}: unknown item {other}")
    names = [it["name"] for it in body.get("tools") or [] if it["type"] == "function"]
    elements = rendered(body, "tools", "instructions", "input")
    return Received(pieces, elements, bool(body.get("stream")), has_trigger, tools=names)


def messages(body, _):
    if not body.get("max_tokens"):
        raise Invalid("max_tokens: Field required")
    pieces = []

    def add(at, kind, value, text, call=""):
        pieces.append(Piece(at, kind, text, call, bool(value.get("cache_control"))))

    for at, tool in listed(body, "tools"):
        add(at, "tool", tool, dump(tool))
    for at, block in listed(body, "system"):
        block = {"text": block} if isinstance(block, str) else block
        add(at, "system", block, block["text"])
    for at, message in listed(body, "messages"):
        for below, block in parts(message):
            match block["type"]:
                case "text":
                    add(at + below, "system" if message["role"] == "system" else "text", block, block["text"])
                case "tool_use":
                    add(at + below, "call", block, block["name"] + dump(block["input"]), block["id"])
                case "tool_result":
                    text = "".join(it.get("text", "") for _, it in parts(block))
                    add(at + below, "result", block, text, block["tool_use_id"])
                case "thinking" | "redacted_thinking":
                    pass
                case "compaction":
                    add(at + below, "summary", block, block["content"])
                case other:
                    raise Invalid(f"{at + below}: unknown block {other}")
    may_call = (body.get("tool_choice") or {}).get("type") != "none"
    names = [it["name"] for it in body.get("tools") or [] if may_call]
    marks_all = bool(body.get("cache_control"))
    elements = rendered(body, "tools", "system", "messages")
    return Received(pieces, elements, bool(body.get("stream")), marks_all=marks_all, tools=names)


def gemini(body, path):
    functions = [it for tool in body.get("tools") or [] for it in tool.get("functionDeclarations", [])]
    pieces = [Piece(f"/tools/{index}", "tool", dump(it)) for index, it in enumerate(functions)]
    for below, part in parts(body.get("systemInstruction") or {}, "parts"):
        pieces.append(Piece("/systemInstruction" + below, "system", part["text"]))
    for at, content in listed(body, "contents"):
        for below, part in parts(content, "parts"):
            if "functionCall" in part:
                call = part["functionCall"]
                text = call["name"] + dump(call.get("args"))
                pieces.append(Piece(at + below, "call", text, call.get("id") or call["name"]))
            elif "functionResponse" in part:
                result = part["functionResponse"]
                pieces.append(Piece(at + below, "result", dump(result["response"]), result.get("id") or result["name"]))
            elif not part.get("thought"):
                pieces.append(Piece(at + below, "text", part.get("text", "")))
    elements = rendered(body, "tools", "systemInstruction", "contents")
    return Received(pieces, elements, "stream" in path, tools=[it["name"] for it in functions])


def rendered(body, *names):
    """What a provider's cache compares, from the first byte on."""
    return [Element(at, dump(it), plain(it)) for at, it in listed(body, *names)]


def sealed(text):
    return "sealed:" + text.encode().hex()


def opened(sealed_text):
    if not sealed_text.startswith("sealed:"):
        raise Invalid("encrypted_content could not be verified")
    return bytes.fromhex(sealed_text.removeprefix("sealed:")).decode()


READERS = {"openai-chat": chat, "openai-responses": responses, "anthropic-messages": messages, "gemini": gemini}
