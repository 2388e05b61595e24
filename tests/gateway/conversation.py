"""What a scenario asks and what an SDK gave back, in words that the four clients share."""

from dataclasses import dataclass, field
from typing import Any, Optional, Union


@dataclass(frozen=True)
class Tool:
    name: str
    description: str
    parameters: dict


@dataclass(frozen=True)
class Call:
    id: Optional[str]
    name: str
    arguments: dict


@dataclass(frozen=True)
class User:
    text: str
    images: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class System:
    """A system prompt between other turns; only the OpenAI clients can say it."""

    text: str


@dataclass(frozen=True)
class Model:
    """An earlier answer, as the SDK itself would send it back."""

    turn: Any


@dataclass(frozen=True)
class Results:
    """What the tools of the last answer said, in the order of the calls."""

    outputs: tuple[tuple[Call, str], ...]


Turn = Union[User, System, Model, Results]


@dataclass(frozen=True)
class Ask:
    model: str
    turns: tuple[Turn, ...]
    system: tuple[str, ...] = ()
    tools: tuple[Tool, ...] = ()
    # "auto", "none", "required", or a tool's name behind "tool:".
    choice: Optional[str] = None
    thinks: bool = False
    schema: Optional[dict] = None
    stops: tuple[str, ...] = ()
    max_tokens: Optional[int] = None


@dataclass(frozen=True)
class Usage:
    input: Optional[int]
    output: Optional[int]
    thinking: Optional[int] = None


@dataclass(frozen=True)
class Answer:
    model: str
    text: str
    # "stop", "stop sequence", "length", "tools", "refusal" or the SDK's own word for anything else.
    finish: str
    usage: Usage
    turn: Any
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    # How many pieces of text a stream brought; a whole answer has none.
    pieces: int = 0


@dataclass(frozen=True)
class Failure:
    """An exception of an SDK, read."""

    kind: str
    status: Optional[int]
    message: str
    retry_after: Optional[str] = None
    details: dict = field(default_factory=dict)
