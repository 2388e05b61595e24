"""What the scripted model does: it has the agent read file after file, sums up what it received when it is asked to, and at
last says all that it knows. It knows nothing but what stands in the request before it."""

import re
import threading
from dataclasses import dataclass, field

from upstream.caching import Automatic, Marked
from upstream.reading import Element, Invalid

FACT = re.compile(r"FACT-\d+-[0-9a-f]{12}")

SUMMARY_ASKED = (
    "<analysis>",
    "CONTEXT CHECKPOINT COMPACTION",
    "generate the updated <state_snapshot>",
    "evaluate the <state_snapshot>",
    "Write the summary now.",
)
"""By these words agents, and Sabir for them, ask for a summary."""

COMMANDS = {"Bash": "command", "exec_command": "cmd", "run_shell_command": "command"}
"""The tools that run a command, and the name of the argument that says which."""


class Overflow(Exception):
    """A request that does not fit the window."""

    def __init__(self, tokens, window):
        self.tokens, self.window = tokens, window


@dataclass
class Answer:
    """What the model says: words, a call or a summary that only it can read."""

    text: str = ""
    call: tuple[str, dict] | None = None
    sealed: str = ""
    input: int = 0
    cached: int = 0
    is_counted: bool = True
    """Whether the client is told what it cost."""

    def output(self):
        said = self.text + self.sealed + (str(self.call) if self.call else "")
        return -(-len(said.encode()) // 4)


@dataclass
class Turn:
    """A request of the agent's own work, as it was received."""

    elements: list[Element]
    tokens: int
    cached: int
    follows_summary: bool


@dataclass
class Model:
    """One session's script: `steps` files to read, and a window."""

    steps: int
    window: int | None = None
    caches: str = "automatic"
    pause_every: int = 0
    """After so many steps the model ends its turn, and goes on in the next one."""
    states_usage: bool = True
    requests: int = 0
    overflows: int = 0
    summaries: int = 0
    largest: int = 0
    counted: tuple[int, int] = (0, 0)
    """The tokens of input and of output that it has reported."""
    step: int = 0
    paused_at: int = 0
    turns: list[Turn] = field(default_factory=list)
    invalid: list[str] = field(default_factory=list)
    is_after_summary: bool = False

    def __post_init__(self):
        self.lock = threading.Lock()
        self.cache = Marked() if self.caches == "marked" else Automatic()

    def answer(self, received):
        with self.lock:
            self.requests += 1
            try:
                received.check_pairs()
            except Invalid as problem:
                self.invalid.append(str(problem))
                raise
            tokens = received.tokens()
            if self.window and tokens > self.window:
                self.overflows += 1
                raise Overflow(tokens, self.window)
            self.largest = max(self.largest, tokens)
            cached = self.cache.read(received)
            answer = self.said(received, tokens, cached)
            answer.input, answer.cached, answer.is_counted = tokens, cached, self.states_usage
            self.counted = (self.counted[0] + tokens, self.counted[1] + answer.output())
            return answer

    def said(self, received, tokens, cached):
        asked = received.last_words()
        if received.has_trigger or any(mark in asked for mark in SUMMARY_ASKED):
            self.summaries += 1
            self.is_after_summary = True
            summary = f"<summary>\n{self.known(received)}\n</summary>"
            return Answer(sealed=summary) if received.has_trigger else Answer(text=summary)
        if not received.tools:
            return Answer(text="A title")
        self.turns.append(Turn(received.elements, tokens, cached, self.is_after_summary))
        self.is_after_summary = False
        if self.step == self.steps:
            return Answer(text=self.known(received))
        if self.pause_every and self.step >= self.paused_at + self.pause_every:
            self.paused_at = self.step
            return Answer(text=f"So far I know:\n{self.known(received)}")
        self.step += 1
        return Answer(call=self.call(received))

    def call(self, received):
        tool = next(name for name in received.tools if name in COMMANDS)
        return tool, {COMMANDS[tool]: f"cat {self.step}.txt"}

    def known(self, received):
        """The facts that stand in what was received."""
        facts = dict.fromkeys(FACT.findall(received.text()))
        return "\n".join(facts)
