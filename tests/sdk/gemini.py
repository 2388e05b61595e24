"""What the official `google-genai` SDK says about generateContent bodies of the Gemini Developer API."""

import json
import warnings
from collections.abc import Iterator
from typing import Any, Optional

from google import genai
from google.genai import errors, types
from pydantic.alias_generators import to_camel
from typing_extensions import Required, TypedDict

from case import Case
from replay import Replay
from shape import UNSEEN_ERROR, Complaint, complaints

REPLAY = Replay()
CLIENT = genai.Client(
    api_key="none",
    vertexai=False,
    http_options=types.HttpOptions(
        base_url="http://replay",
        httpx_client=REPLAY.client,
        retry_options=types.HttpRetryOptions(attempts=1),
    ),
)
URL_SAFE = str.maketrans("+/", "-_")
ASK = {"model": "any", "contents": "any"}


class GenerationConfig(types.GenerationConfig):
    """The SDK lists the image settings only among the arguments of its method."""

    image_config: Optional[types.ImageConfig] = None


class GenerateContentRequest(TypedDict, total=False):
    """The body on the wire, made of the SDK's types; the SDK builds it without a type of its own."""

    contents: Required[list[types.Content]]
    systemInstruction: Optional[types.Content]
    tools: Optional[list[types.Tool]]
    toolConfig: Optional[types.ToolConfig]
    safetySettings: Optional[list[types.SafetySetting]]
    generationConfig: Optional[GenerationConfig]
    cachedContent: Optional[str]
    serviceTier: Optional[types.ServiceTier]
    labels: Optional[dict[str, str]]
    store: Optional[bool]
    continuationToken: Optional[bytes]


def request(case: Case) -> list[Complaint]:
    return complaints(GenerateContentRequest, case.body) or _sent_again(json.loads(case.body))


def response(case: Case) -> list[Complaint]:
    REPLAY.answer_json(case.body)
    with _unknown_names_raise():
        CLIENT.models.generate_content(**ASK)
    return complaints(types.GenerateContentResponse, case.body)


def stream(case: Case) -> Iterator[Complaint]:
    REPLAY.answer_events(case.body)
    texts = (line.removeprefix("data: ") for line in case.body.replace("\r", "").split("\n") if line)
    ended = False
    try:
        with _unknown_names_raise():
            for position, chunk in enumerate(CLIENT.models.generate_content_stream(**ASK)):
                yield from complaints(types.GenerateContentResponse, next(texts), at=f"/{position}")
                ended = ended or _has_ended(chunk)
    except errors.APIError:
        if case.ends_in_error:
            return
        raise
    if case.ends_in_error:
        yield UNSEEN_ERROR
    elif not ended:
        yield Complaint("/", "the stream ends without a finishReason or blockReason")


def error(case: Case) -> list[Complaint]:
    REPLAY.answer_json(case.body, case.status)
    expected = errors.ClientError if case.status < 500 else errors.ServerError
    try:
        CLIENT.models.generate_content(**ASK)
    except expected as raised:
        details = raised.details.get("error", {}) if isinstance(raised.details, dict) else {}
        whole = raised.message and raised.status and details.get("code") == case.status
        return [] if whole else [Complaint("/error", f"code, message or status is missing or wrong: {details}")]
    except errors.APIError as raised:
        return [Complaint("/", f"expected {expected.__name__}, the SDK raised {type(raised).__name__}")]
    return [Complaint("/", f"expected {expected.__name__}, the SDK raised nothing")]


def _unknown_names_raise() -> Any:
    """The SDK only warns of an enum name that it does not know."""
    return warnings.catch_warnings(action="error", category=UserWarning)


def _has_ended(chunk: types.GenerateContentResponse) -> bool:
    blocked = chunk.prompt_feedback and chunk.prompt_feedback.block_reason
    return bool(blocked) or any(candidate.finish_reason for candidate in chunk.candidates or [])


def _sent_again(body: dict) -> list[Complaint]:
    """Asks the SDK for the same call: it refuses what the Developer API lacks, and must send what we would."""
    config = {key: value for key, value in body.items() if key not in ("contents", "generationConfig")}
    config |= body.get("generationConfig") or {}
    config["automaticFunctionCalling"] = {"disable": True}
    REPLAY.answer_json("{}")
    CLIENT.models.generate_content(model="any", contents=body["contents"], config=config)
    return _differences(_with_one_tool(body), _with_one_tool(json.loads(REPLAY.requested)), "")


def _with_one_tool(body: dict) -> dict:
    """The body with all its tools as one object: the SDK gathers the functions of all tools in the last."""
    merged: dict = {}
    for tool in body.get("tools") or []:
        for key, value in tool.items():
            merged[key] = merged.get(key, []) + value if isinstance(value, list) else value
    return body | {"tools": merged}


def _differences(ours: Any, theirs: Any, at: str) -> list[Complaint]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        theirs = {_wire_name(key, ours): value for key, value in theirs.items()}
        keys = ours.keys() | theirs.keys()
        return [found for key in keys for found in _differences(ours.get(key), theirs.get(key), f"{at}/{key}")]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs))
        return [found for index, pair in pairs for found in _differences(*pair, f"{at}/{index}")]
    return [] if _same(ours, theirs) else [Complaint(at, f"the SDK sends {theirs!r} for {ours!r}")]


def _wire_name(key: str, ours: dict) -> str:
    """The SDK sends some settings in snake case, which the service takes too."""
    camel = to_camel(key)
    return camel if camel in ours else key


def _same(ours: Any, theirs: Any) -> bool:
    """Null is as good as absent; the SDK has its own way to write empty settings, enum names, bytes and times."""
    if isinstance(ours, str) and isinstance(theirs, str):
        return theirs in (ours, ours.upper(), ours.replace("Z", "+00:00")) or _bytes(ours) == _bytes(theirs)
    return ours == theirs or (ours is None and theirs == {})


def _bytes(text: str) -> str:
    return text.translate(URL_SAFE).rstrip("=")
