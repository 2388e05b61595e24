"""Shows that the harness lets good bodies pass and that each bad one is a complaint."""

import contextlib
import io
import json
import tempfile
import unittest
from copy import deepcopy
from pathlib import Path
from typing import Any

import bodies
from bodies import chat_call, chat_chunk, data_stream, event_stream
from case import Case
from validate import judge, main

CHAT, RESPONSES, ANTHROPIC, GEMINI = "openai-chat", "openai-responses", "anthropic-messages", "gemini"
DONE = "data: [DONE]\n\n"
REQUESTS = {
    CHAT: bodies.CHAT_REQUEST,
    RESPONSES: bodies.RESPONSES_REQUEST,
    ANTHROPIC: bodies.ANTHROPIC_REQUEST,
    GEMINI: bodies.GEMINI_REQUEST,
}
REPLIES = {
    CHAT: bodies.CHAT_RESPONSE,
    RESPONSES: bodies.RESPONSES_RESPONSE,
    ANTHROPIC: bodies.ANTHROPIC_RESPONSE,
    GEMINI: bodies.GEMINI_RESPONSE,
}
STREAMS = {
    CHAT: data_stream(bodies.CHAT_CHUNKS, DONE),
    RESPONSES: event_stream(bodies.RESPONSES_EVENTS),
    ANTHROPIC: event_stream(bodies.ANTHROPIC_EVENTS),
    GEMINI: data_stream([bodies.GEMINI_RESPONSE]),
}
ERRORS = {
    CHAT: bodies.OPENAI_ERROR,
    RESPONSES: bodies.OPENAI_ERROR,
    ANTHROPIC: bodies.ANTHROPIC_ERROR,
    GEMINI: bodies.GEMINI_ERROR,
}
FAILING_STREAMS = {
    CHAT: data_stream([bodies.CHAT_CHUNKS[0], bodies.OPENAI_ERROR]),
    RESPONSES: event_stream(
        [
            bodies.RESPONSES_EVENTS[0],
            {"type": "error", "code": None, "message": "slow down", "param": None, "sequence_number": 1},
        ]
    ),
    ANTHROPIC: event_stream([bodies.ANTHROPIC_EVENTS[0], bodies.ANTHROPIC_ERROR]),
    GEMINI: data_stream([bodies.GEMINI_ERROR]),
}


def spoilt(value: Any, path: str, new: Any = None) -> Any:
    """A copy of `value` with something else at `path`, or nothing there if `new` is not given."""
    copy = deepcopy(value)
    place = copy
    *parents, last = [int(key) if key.isdigit() else key for key in path.split("/")]
    for key in parents:
        place = place[key]
    if new is None:
        del place[last]
    else:
        place[last] = new
    return copy


class Judged(unittest.TestCase):
    """Bodies are judged as if they were translated, so that no allowance for untouched bodies applies."""

    def judge(self, target: str, kind: str, body: Any, **fields: Any) -> list:
        text = body if isinstance(body, str) else json.dumps(body)
        return judge(Case("a case", "elsewhere", target, kind, text, **fields))

    def assert_passes(self, target: str, kind: str, body: Any, **fields: Any) -> None:
        self.assertEqual(self.judge(target, kind, body, **fields), [])

    def assert_complains(self, expected: str, target: str, kind: str, body: Any, **fields: Any) -> None:
        found = self.judge(target, kind, body, **fields)
        self.assertIn(expected, "\n".join(f"{at}: {why}" for at, why in found))


class Good(Judged):
    def test_good_bodies_pass(self) -> None:
        for target in REQUESTS:
            with self.subTest(target):
                self.assert_passes(target, "request", REQUESTS[target])
                self.assert_passes(target, "response", REPLIES[target])
                self.assert_passes(target, "stream", STREAMS[target])
                self.assert_passes(target, "error", ERRORS[target], status=429)
                self.assert_passes(target, "stream", FAILING_STREAMS[target], ends="error")

    def test_cut_answers_are_whole_streams(self) -> None:
        cut = [chat_chunk({"role": "assistant", "content": "Ra"}), chat_chunk({}, "length")]
        self.assert_passes(CHAT, "stream", data_stream(cut, DONE))
        response = bodies.RESPONSES_RESPONSE | {
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
        }
        last = {"type": "response.incomplete", "response": response, "sequence_number": 5}
        self.assert_passes(RESPONSES, "stream", event_stream([*bodies.RESPONSES_EVENTS[:-1], last]))

    def test_stream_with_a_custom_tool_passes(self) -> None:
        call = {"index": 0, "id": "call_0", "type": "custom", "custom": {"name": "shell", "input": "ls"}}
        chunks = [bodies.CHAT_CHUNKS[0], chat_chunk({"tool_calls": [call]}), chat_chunk({}, "tool_calls")]
        self.assert_passes(CHAT, "stream", data_stream(chunks, DONE))

    def test_gemini_functions_in_several_tools_pass(self) -> None:
        tools = [*bodies.GEMINI_REQUEST["tools"], {"googleSearch": {}}]
        self.assert_passes(GEMINI, "request", bodies.GEMINI_REQUEST | {"tools": tools})


class BadRequest(Judged):
    def test_unknown_key_is_refused(self) -> None:
        for target, body in REQUESTS.items():
            with self.subTest(target):
                self.assert_complains("/colour: Extra inputs", target, "request", body | {"colour": 1})

    def test_missing_key_is_refused(self) -> None:
        self.assert_complains("/messages: Field required", CHAT, "request", spoilt(bodies.CHAT_REQUEST, "messages"))
        body = spoilt(bodies.RESPONSES_REQUEST, "input/1/call_id")
        self.assert_complains("/input/1/call_id: Field required", RESPONSES, "request", body)
        body = spoilt(bodies.RESPONSES_REQUEST, "tools/0/strict")
        self.assert_complains("/tools/0/strict: Field required", RESPONSES, "request", body)
        body = spoilt(bodies.ANTHROPIC_REQUEST, "max_tokens")
        self.assert_complains("/max_tokens: Field required", ANTHROPIC, "request", body)
        self.assert_complains("/contents: Field required", GEMINI, "request", spoilt(bodies.GEMINI_REQUEST, "contents"))

    def test_unknown_name_is_refused(self) -> None:
        body = bodies.CHAT_REQUEST | {"reasoning_effort": "huge"}
        self.assert_complains("/reasoning_effort: Input should be", CHAT, "request", body)
        body = spoilt(bodies.CHAT_REQUEST, "messages/0/role", "visitor")
        self.assert_complains("/messages/0/role: no variant", CHAT, "request", body)
        body = spoilt(bodies.ANTHROPIC_REQUEST, "messages/2/content/0/type", "tool_outcome")
        self.assert_complains("/messages/2/content/0/type: no variant", ANTHROPIC, "request", body)
        body = bodies.GEMINI_REQUEST | {"toolConfig": {"functionCallingConfig": {"mode": "SOMETIMES"}}}
        self.assert_complains("/toolConfig/functionCallingConfig/mode", GEMINI, "request", body)

    def test_wrong_type_deep_inside_a_lazy_list_is_refused(self) -> None:
        body = spoilt(bodies.CHAT_REQUEST, "messages/0/content/0/text", 7)
        self.assert_complains("/messages/0/content/0/text: Input should be a valid string", CHAT, "request", body)
        body = spoilt(bodies.RESPONSES_REQUEST, "input/0/content/0/text", 7)
        self.assert_complains("/input/0/content/0/text: Input should be a valid string", RESPONSES, "request", body)
        body = spoilt(bodies.ANTHROPIC_REQUEST, "messages/1/content/0/input", "{}")
        self.assert_complains("/messages/1/content/0/input: Input should be", ANTHROPIC, "request", body)

    def test_gemini_snake_case_and_enterprise_fields_are_refused(self) -> None:
        body = spoilt(bodies.GEMINI_REQUEST, "generationConfig/max_output_tokens", 64)
        self.assert_complains("/generationConfig/max_output_tokens: Extra", GEMINI, "request", body)
        body = spoilt(bodies.GEMINI_REQUEST, "generationConfig/audioTimestamp", True)
        self.assert_complains("audio_timestamp parameter is only supported", GEMINI, "request", body)


class BadResponse(Judged):
    def test_missing_key_is_refused(self) -> None:
        body = spoilt(bodies.CHAT_RESPONSE, "choices/0/finish_reason")
        self.assert_complains("/choices/0/finish_reason: Field required", CHAT, "response", body)
        body = spoilt(bodies.RESPONSES_RESPONSE, "tools")
        self.assert_complains("/tools: Field required", RESPONSES, "response", body)
        body = spoilt(bodies.ANTHROPIC_RESPONSE, "usage")
        self.assert_complains("/usage: Field required", ANTHROPIC, "response", body)

    def test_unknown_name_is_refused(self) -> None:
        body = spoilt(bodies.CHAT_RESPONSE, "choices/0/finish_reason", "end_turn")
        self.assert_complains("/choices/0/finish_reason", CHAT, "response", body)
        body = bodies.RESPONSES_RESPONSE | {"status": "done"}
        self.assert_complains("/status", RESPONSES, "response", body)
        body = bodies.ANTHROPIC_RESPONSE | {"stop_reason": "stop"}
        self.assert_complains("/stop_reason", ANTHROPIC, "response", body)
        body = spoilt(bodies.GEMINI_RESPONSE, "candidates/0/finishReason", "TOOL_CALLS")
        self.assert_complains("TOOL_CALLS", GEMINI, "response", body)

    def test_wrong_type_is_refused(self) -> None:
        body = spoilt(bodies.CHAT_RESPONSE, "usage/total_tokens", "3")
        self.assert_complains("/usage/total_tokens", CHAT, "response", body)
        body = spoilt(bodies.GEMINI_RESPONSE, "usageMetadata/totalTokenCount", "3")
        self.assert_complains("/usageMetadata/totalTokenCount", GEMINI, "response", body)

    def test_unknown_key_is_refused_unless_it_was_passed_on(self) -> None:
        body = bodies.CHAT_RESPONSE | {"colour": 1}
        self.assert_complains("/colour: Extra inputs", CHAT, "response", body)
        self.assertEqual(judge(Case("a case", CHAT, CHAT, "response", json.dumps(body))), [])


class BadChatStream(Judged):
    def test_gap_in_the_tool_indices_is_refused(self) -> None:
        chunks = [bodies.CHAT_CHUNKS[0], chat_chunk({"tool_calls": [chat_call(1, name="weather")]})]
        self.assert_complains("IndexError", CHAT, "stream", data_stream([*chunks, chat_chunk({}, "tool_calls")], DONE))

    def test_repeated_id_or_role_is_refused(self) -> None:
        chunks = [*bodies.CHAT_CHUNKS[:2], chat_chunk({"tool_calls": [chat_call(0)]}), bodies.CHAT_CHUNKS[-1]]
        self.assert_complains("sent twice", CHAT, "stream", data_stream(chunks, DONE))
        chunks = [bodies.CHAT_CHUNKS[0], bodies.CHAT_CHUNKS[0], chat_chunk({}, "stop")]
        self.assert_complains("assistantassistant", CHAT, "stream", data_stream(chunks, DONE))

    def test_missing_end_is_refused(self) -> None:
        self.assert_complains("/finish_reason", CHAT, "stream", data_stream(bodies.CHAT_CHUNKS[:-1], DONE))

    def test_missing_object_is_refused(self) -> None:
        chunks = [bodies.CHAT_CHUNKS[0], spoilt(bodies.CHAT_CHUNKS[1], "object"), *bodies.CHAT_CHUNKS[2:]]
        self.assert_complains("/1/object: Field required", CHAT, "stream", data_stream(chunks, DONE))


class BadResponsesStream(Judged):
    def test_completed_with_another_item_id_is_refused(self) -> None:
        events = spoilt(bodies.RESPONSES_EVENTS, "5/response/output/0/id", "msg_2")
        self.assertNotEqual(self.judge(RESPONSES, "stream", event_stream(events)), [])

    def test_completed_without_the_items_is_refused(self) -> None:
        events = spoilt(bodies.RESPONSES_EVENTS, "5/response/output", [])
        self.assert_complains("/5/response/output/0: differs", RESPONSES, "stream", event_stream(events))

    def test_delta_without_its_item_is_refused(self) -> None:
        events = [*bodies.RESPONSES_EVENTS[:1], *bodies.RESPONSES_EVENTS[2:]]
        self.assertNotEqual(self.judge(RESPONSES, "stream", event_stream(events)), [])

    def test_missing_end_is_refused(self) -> None:
        events = bodies.RESPONSES_EVENTS[:-1]
        self.assert_complains("the last event is not", RESPONSES, "stream", event_stream(events))

    def test_missing_key_of_an_event_is_refused(self) -> None:
        events = spoilt(bodies.RESPONSES_EVENTS, "3/sequence_number")
        self.assert_complains("/3/sequence_number: Field required", RESPONSES, "stream", event_stream(events))


class BadAnthropicStream(Judged):
    def test_events_without_names_are_refused(self) -> None:
        self.assert_complains("named None", ANTHROPIC, "stream", data_stream(bodies.ANTHROPIC_EVENTS))

    def test_block_index_that_is_not_the_next_is_refused(self) -> None:
        events = deepcopy(bodies.ANTHROPIC_EVENTS)
        for event in events[1:4]:
            event["index"] = 1
        self.assert_complains("IndexError", ANTHROPIC, "stream", event_stream(events))

    def test_missing_usage_is_refused(self) -> None:
        events = spoilt(bodies.ANTHROPIC_EVENTS, "4/usage")
        self.assert_complains("/4/usage: Field required", ANTHROPIC, "stream", event_stream(events))

    def test_missing_end_is_refused(self) -> None:
        events = bodies.ANTHROPIC_EVENTS
        self.assert_complains("without a stop_reason", ANTHROPIC, "stream", event_stream(events[:4]))
        self.assert_complains("without a stop_reason", ANTHROPIC, "stream", event_stream(events[:5]))


class BadGeminiStream(Judged):
    def test_lines_other_than_data_are_refused(self) -> None:
        for line in (": ping\n\n", "event: message\n", "data: [DONE]\n\n"):
            with self.subTest(line):
                self.assertNotEqual(self.judge(GEMINI, "stream", line + STREAMS[GEMINI]), [])

    def test_missing_end_is_refused(self) -> None:
        chunk = spoilt(bodies.GEMINI_RESPONSE, "candidates/0/finishReason")
        self.assert_complains("without a finishReason", GEMINI, "stream", data_stream([chunk]))

    def test_unescaped_line_separator_is_refused(self) -> None:
        chunk = spoilt(bodies.GEMINI_RESPONSE, "candidates/0/content/parts/0/text", "a\u2028b")
        text = f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n"
        self.assert_complains("Failed to parse", GEMINI, "stream", text)


class BadError(Judged):
    def test_error_that_no_sdk_sees_is_refused(self) -> None:
        for target, text in STREAMS.items():
            with self.subTest(target):
                self.assert_complains("saw none", target, "stream", text, ends="error")
                self.assert_complains("raised nothing", target, "error", REPLIES[target], status=200)

    def test_error_in_a_stream_that_was_to_end_well_is_refused(self) -> None:
        for target, text in FAILING_STREAMS.items():
            with self.subTest(target):
                self.assertNotEqual(self.judge(target, "stream", text), [])

    def test_name_that_no_status_has_is_refused(self) -> None:
        body = spoilt(bodies.ANTHROPIC_ERROR, "error/type", "busy_error")
        self.assert_complains("/error/type", ANTHROPIC, "error", body, status=429)
        body = spoilt(bodies.GEMINI_ERROR, "error/code", 500)
        self.assert_complains("code, message or status", GEMINI, "error", body, status=429)

    def test_body_of_another_shape_is_refused(self) -> None:
        for target, other in ((CHAT, GEMINI), (RESPONSES, ANTHROPIC), (ANTHROPIC, CHAT), (GEMINI, ANTHROPIC)):
            with self.subTest(target):
                self.assertNotEqual(self.judge(target, "error", ERRORS[other], status=429), [])


class CommandLine(unittest.TestCase):
    def run_with(self, lines: list[dict]) -> tuple[int, list[str]]:
        output = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(output):
            Path(folder, "outputs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
            code = main([folder])
        return code, output.getvalue().splitlines()

    def line(self, body: dict) -> dict:
        return {"case": "a case", "from": GEMINI, "to": CHAT, "kind": "request", "body": json.dumps(body)}

    def test_empty_input_fails(self) -> None:
        self.assertEqual(self.run_with([]), (1, ["0 passed, 0 failed"]))

    def test_counts_are_the_last_line(self) -> None:
        code, lines = self.run_with([self.line(bodies.CHAT_REQUEST), self.line({})])
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed"))
        self.assertEqual(self.run_with([self.line(bodies.CHAT_REQUEST)])[0], 0)

    def test_unknown_protocol_fails(self) -> None:
        code, lines = self.run_with([self.line(bodies.CHAT_REQUEST) | {"to": "elsewhere"}])
        self.assertEqual((code, lines[-1]), (1, "0 passed, 1 failed"))


if __name__ == "__main__":
    unittest.main()
