"""Answers of the four provider APIs: whole, streamed, and the words by which each refuses a request that does not fit."""

import itertools
import json

from upstream.reading import sealed

NUMBERS = itertools.count(1)
WORDS = 40
"""How many letters a piece of a stream has."""


def pieces(text):
    return [text[at : at + WORDS] for at in range(0, len(text), WORDS)]


def frame(value, name=None):
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value)}\n\n"


class Chat:
    protocol = "openai-chat"

    def usage(self, answer):
        if not answer.is_counted:
            return None
        output = answer.output()
        return {
            "prompt_tokens": answer.input,
            "completion_tokens": output,
            "total_tokens": answer.input + output,
            "prompt_tokens_details": {"cached_tokens": answer.cached},
        }

    def head(self, kind):
        return {"id": f"chatcmpl-{next(NUMBERS)}", "object": kind, "created": 1_700_000_000, "model": "local"}

    def calls(self, answer):
        name, arguments = answer.call
        function = {"name": name, "arguments": json.dumps(arguments)}
        return [{"index": 0, "id": f"call_{next(NUMBERS)}", "type": "function", "function": function}]

    def whole(self, answer):
        message = {"role": "assistant", "content": answer.text or None}
        if answer.call:
            calls = self.calls(answer)
            message["tool_calls"] = [{key: it for key, it in call.items() if key != "index"} for call in calls]
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if answer.call else "stop"}
        return self.head("chat.completion") | {"choices": [choice], "usage": self.usage(answer)}

    def stream(self, answer, received):
        head = self.head("chat.completion.chunk")

        def chunk(delta, reason=None):
            return frame(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

        yield chunk({"role": "assistant", "content": ""})
        if answer.call:
            yield chunk({"tool_calls": self.calls(answer)})
        for piece in pieces(answer.text):
            yield chunk({"content": piece})
        yield chunk({}, "tool_calls" if answer.call else "stop")
        if received.includes_usage and answer.is_counted:
            yield frame(head | {"choices": [], "usage": self.usage(answer)})
        yield "data: [DONE]\n\n"

    def overflow(self, problem, _):
        message = (
            f"This model's maximum context length is {problem.window} tokens. However, your messages resulted in "
            f"{problem.tokens} tokens. Please reduce the length of the messages."
        )
        return 400, self.invalid(message, "context_length_exceeded")

    def invalid(self, problem, code=None):
        error = {"message": str(problem), "type": "invalid_request_error", "param": None, "code": code}
        return json.dumps({"error": error})


class Responses(Chat):
    protocol = "openai-responses"

    def usage(self, answer):
        if not answer.is_counted:
            return None
        output = answer.output()
        return {
            "input_tokens": answer.input,
            "input_tokens_details": {"cached_tokens": answer.cached},
            "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": answer.input + output,
        }

    def items(self, answer):
        number = next(NUMBERS)
        if answer.sealed:
            return [{"type": "compaction", "id": f"cmp_{number}", "encrypted_content": sealed(answer.sealed)}]
        if answer.call:
            name, arguments = answer.call
            call = {"name": name, "arguments": json.dumps(arguments), "call_id": f"call_{number}", "status": "completed"}
            return [{"type": "function_call", "id": f"fc_{number}", **call}]
        content = [{"type": "output_text", "text": answer.text, "annotations": []}]
        return [{"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": content}]

    def response(self, status, output, usage):
        head = {"id": f"resp_{next(NUMBERS)}", "object": "response", "created_at": 1_700_000_000, "model": "local"}
        return head | {"status": status, "output": output, "usage": usage, "error": None, "incomplete_details": None}

    def whole(self, answer):
        return self.response("completed", self.items(answer), self.usage(answer))

    def stream(self, answer, _):
        done = self.whole(answer)
        begun = done | {"status": "in_progress", "output": [], "usage": None}
        item = done["output"][0]
        place = {"item_id": item["id"], "output_index": 0}
        events = [("response.created", {"response": begun})]
        match item["type"]:
            case "message":
                part, at = item["content"][0], place | {"content_index": 0}
                opened = item | {"status": "in_progress", "content": []}
                events.append(("response.output_item.added", {"output_index": 0, "item": opened}))
                events.append(("response.content_part.added", at | {"part": part | {"text": ""}}))
                deltas = [at | {"delta": piece, "logprobs": []} for piece in pieces(part["text"])]
                events += [("response.output_text.delta", delta) for delta in deltas]
                events.append(("response.output_text.done", at | {"text": part["text"], "logprobs": []}))
                events.append(("response.content_part.done", at | {"part": part}))
            case "function_call":
                opened = item | {"status": "in_progress", "arguments": ""}
                events.append(("response.output_item.added", {"output_index": 0, "item": opened}))
                events.append(("response.function_call_arguments.delta", place | {"delta": item["arguments"]}))
                events.append(("response.function_call_arguments.done", place | {"arguments": item["arguments"]}))
            case _:
                events.append(("response.output_item.added", {"output_index": 0, "item": item}))
        events.append(("response.output_item.done", {"output_index": 0, "item": item}))
        events.append(("response.completed", {"response": done}))
        return numbered(events)

    def overflow(self, problem, is_streamed):
        code = "context_length_exceeded"
        message = "Your input exceeds the context window of this model. Please adjust your input and try again."
        if not is_streamed:
            return 400, self.invalid(message, code)
        begun = self.response("in_progress", [], None)
        failed = begun | {"status": "failed", "error": {"code": code, "message": message}}
        events = [("response.created", {"response": begun}), ("response.failed", {"response": failed})]
        return 200, "".join(numbered(events))

    def counted(self, received):
        return {"object": "response.input_tokens", "input_tokens": received.tokens()}


def numbered(events):
    for number, (name, members) in enumerate(events):
        yield frame({"type": name, "sequence_number": number, **members}, name)


class Messages:
    protocol = "anthropic-messages"

    def usage(self, answer, output):
        if not answer.is_counted:
            return {"input_tokens": 0, "output_tokens": 0}
        fresh = answer.input - answer.cached
        counts = {"input_tokens": fresh, "cache_read_input_tokens": answer.cached, "cache_creation_input_tokens": 0}
        return counts | {"output_tokens": output}

    def block(self, answer):
        if not answer.call:
            return {"type": "text", "text": answer.text or answer.sealed}
        name, arguments = answer.call
        return {"type": "tool_use", "id": f"toolu_{next(NUMBERS)}", "name": name, "input": arguments}

    def head(self, answer, output):
        return {
            "id": f"msg_{next(NUMBERS)}",
            "type": "message",
            "role": "assistant",
            "model": "local",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": self.usage(answer, output),
        }

    def reason(self, answer):
        return "tool_use" if answer.call else "end_turn"

    def whole(self, answer):
        return self.head(answer, answer.output()) | {"content": [self.block(answer)], "stop_reason": self.reason(answer)}

    def stream(self, answer, _):
        block = self.block(answer)
        empty = block | ({"input": {}} if answer.call else {"text": ""})
        if answer.call:
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        else:
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]

        def event(name, **members):
            return frame({"type": name, **members}, name)

        yield event("message_start", message=self.head(answer, 1))
        yield event("content_block_start", index=0, content_block=empty)
        for delta in deltas:
            yield event("content_block_delta", index=0, delta=delta)
        yield event("content_block_stop", index=0)
        delta = {"stop_reason": self.reason(answer), "stop_sequence": None}
        output = answer.output() if answer.is_counted else 0
        yield event("message_delta", delta=delta, usage={"output_tokens": output})
        yield event("message_stop")

    def overflow(self, problem, _):
        return 400, self.invalid(f"prompt is too long: {problem.tokens} tokens > {problem.window} maximum")

    def invalid(self, problem):
        return json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": str(problem)}})

    def counted(self, received):
        return {"input_tokens": received.tokens()}


class Gemini:
    protocol = "gemini"

    def response(self, part, answer, reason):
        content = {"role": "model", "parts": [part]}
        usage = {"promptTokenCount": answer.input, "totalTokenCount": answer.input}
        if reason:
            output = answer.output()
            usage |= {"candidatesTokenCount": output, "totalTokenCount": answer.input + output}
        if answer.cached:
            usage["cachedContentTokenCount"] = answer.cached
        candidate = {"index": 0, "content": content} | ({"finishReason": reason} if reason else {})
        head = {"modelVersion": "local", "responseId": f"r{next(NUMBERS)}"}
        return head | {"candidates": [candidate]} | ({"usageMetadata": usage} if answer.is_counted else {})

    def parts(self, answer):
        if answer.call:
            name, arguments = answer.call
            return [{"functionCall": {"name": name, "args": arguments}}]
        return [{"text": piece} for piece in pieces(answer.text or answer.sealed)]

    def whole(self, answer):
        joined = self.parts(answer) if answer.call else [{"text": answer.text or answer.sealed}]
        return self.response(joined[0], answer, "STOP")

    def stream(self, answer, _):
        *rest, last = self.parts(answer)
        for part in rest:
            yield frame(self.response(part, answer, None))
        yield frame(self.response(last, answer, "STOP"))

    def overflow(self, problem, _):
        message = (
            f"The input token count ({problem.tokens}) exceeds the maximum number of tokens allowed ({problem.window})."
        )
        return 400, self.invalid(message)

    def invalid(self, problem):
        return json.dumps({"error": {"code": 400, "message": str(problem), "status": "INVALID_ARGUMENT"}})

    def counted(self, received):
        return {"totalTokens": received.tokens()}


WRITERS = {it.protocol: it for it in (Chat(), Responses(), Messages(), Gemini())}
