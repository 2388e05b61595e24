"""Complaints that are set aside, each with the reason why the wire is right and the SDK's type too narrow."""

import re
from typing import NamedTuple

from case import Case
from shape import Complaint


UNKNOWN = r"Extra inputs are not permitted"
MISSING = r"Field required"


class Allowance(NamedTuple):
    """Sets aside the complaints about bodies of some kinds whose pointer and message match.

    With `native` only bodies that were not translated are meant: what a client or a server of the same protocol wrote
    is passed on as it was.
    """

    target: str
    kinds: str
    pointer: str
    message: str
    reason: str
    native: bool = False


ALLOWED: list[Allowance] = [
    Allowance(
        "openai-responses", "request", r"/reasoning/effort", r"found \"galactic\"",
        "an effort that is not known yet goes from one protocol of a vendor to the other as it is; the provider decides",
    ),
    Allowance(
        "anthropic-messages", "request", r"/(temperature|top_p|top_k)", UNKNOWN + r" \(found [\d.]+\)",
        "API version 2023-06-01 takes sampling settings; the SDK's types describe the version after it",
    ),
    Allowance(
        "anthropic-messages", "error", r"/error/type", r"found \"(request_too_large|conflict_error)\"",
        "documented for the statuses 413 and 409; the SDK has the statuses, but not these names in its error object",
    ),
    Allowance(
        "gemini", "request", r"/", r"contents are required",
        "a request in which nobody has spoken stays one; mending histories is not the translator's work",
    ),
    Allowance(
        "openai-chat", "stream", r"/\d+/choices/\d+/delta/annotations", UNKNOWN,
        "the service streams the sources of its web search here; the SDK's delta does not know them",
    ),
    Allowance(
        "gemini", "response stream", r"(/\d+)?/usageMetadata/serviceTier", UNKNOWN,
        "the Developer API reports the tier here; the SDK drops it",
    ),
    Allowance(
        "gemini", "request", r"/model", UNKNOWN + r" \(found \"",
        "a field of the service's request message; the SDK puts the model into the URL only",
        native=True,
    ),
    Allowance(
        "openai-chat", "request", r"/messages/\d+/annotations", UNKNOWN,
        "the service takes an assistant message back as it sent it",
        native=True,
    ),
    Allowance(
        "openai-chat", "response stream", r"(/\d+)?/choices/\d+/(message|delta)/reasoning_content", UNKNOWN,
        "the de-facto field for thinking, which clients of other servers read and the official API never sends",
    ),
    Allowance(
        "openai-chat", "request response stream", r".*/tool_calls/\d+/extra_content", UNKNOWN,
        "the field of Google's own Chat endpoint for thought signatures; requests have it for Google's models alone",
    ),
    Allowance(
        "openai-chat", "stream", r"/\d+/choices/\d+/delta/tool_calls/\d+/(type|custom)",
        UNKNOWN + r"|found \"custom\"",
        "the service streams calls of custom tools; the SDK's delta knows functions only",
    ),
    Allowance(
        "openai-responses", "request", r"/input/\d+/content/\d+/annotations", MISSING,
        "the service takes an assistant text back without its annotations",
        native=True,
    ),
    Allowance(
        "openai-responses", "request", r"/tools/\d+/strict", MISSING,
        "the service has a default for it; a translation must say what it means",
        native=True,
    ),
    Allowance(
        "openai-responses", "response stream", r"(/\d+/response)?/(store|(frequency|presence)_penalty)", UNKNOWN,
        "the service reports these settings back",
    ),
    Allowance(
        "openai-responses", "response stream", r".*/usage/input_tokens_details/cache_write_tokens", MISSING,
        "older models and other servers do not report it",
        native=True,
    ),
    *(
        Allowance(
            target, "response stream", r".*", UNKNOWN,
            "what a server says beyond the SDK's types is passed on to a client of the same protocol",
            native=True,
        )
        for target in ("anthropic-messages", "gemini", "openai-chat", "openai-responses")
    ),
]


def is_allowed(case: Case, complaint: Complaint) -> bool:
    return any(_covers(rule, case, complaint) for rule in ALLOWED)


def _covers(rule: Allowance, case: Case, complaint: Complaint) -> bool:
    return (
        rule.target == case.target
        and case.kind in rule.kinds.split()
        and (case.source == case.target or not rule.native)
        and re.fullmatch(rule.pointer, complaint.pointer) is not None
        and re.search(rule.message, complaint.message) is not None
    )
