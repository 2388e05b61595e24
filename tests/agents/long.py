"""Real agent CLIs over sessions that are longer than the model's window, and what their turns have in common.

Usage: long.py SABIR PROGRAMS [--grid | --prefix TURNS | --cost TURNS | --unwarned] [CELL…], where SABIR is the binary, PROGRAMS the
folder with the CLIs and a CELL such as `codex-openai/gemini` picks one. Without a flag one cell of each kind runs.
"""

import argparse
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from agents import Claude, Codex, Gemini
from run import UPSTREAMS
from sizes import fetched, listening, server
from upstream import FACT, Model, Server

SESSION_SECONDS_MAX = 900

AT_ONCE = 2
"""How many sessions run at the same time."""

PREFIX_LEAST = 0.999
"""How much of a turn the next one begins with, between two summaries."""

COST_MOST = 1.05
"""How many times the tokens that the agent's own vendor bills in full another one may."""

SUMMARIES_LEAST = 2

PROMPT = "Read the files that you are told to, one after the other, and say at last what you know. {fact}"
GO_ON = "Go on."


@dataclass(frozen=True)
class Manner:
    """A CLI, and how its user tells it of the window."""

    title: str
    agent: object
    window: int
    """Of the model, in tokens of four bytes: what the CLI begins with, and room for some files."""
    steps: int
    file_bytes: int
    variables: tuple = ()
    options: tuple = ()
    settings: tuple = ()
    """Of Gemini CLI."""
    meets_error: bool = False
    """Whether the CLI learns of the window by the model's error."""
    states_usage: bool = True
    """Whether the model tells what an answer cost."""
    turns: int = 1
    """How often the user speaks at most."""
    pause_every: int = 0
    """After so many files the model waits for the user: Gemini CLI compresses nothing but what stands before a user's turn."""
    own: str = ""
    """The upstream of its own vendor."""
    is_told: bool = False
    """Whether `sabir run` tells the CLI of the window, which stands in the configuration."""

    def arguments(self, folder, prompt, turn):
        if isinstance(self.agent, Codex) and turn:
            return self.agent.go_on(prompt)
        if isinstance(self.agent, Codex):
            command, *rest = self.agent.exec(folder, prompt)
            return [command, *(word for option in self.options for word in ("-c", option)), *rest]
        return [*(["--resume=latest"] if turn else []), *self.agent.print(prompt)]


CODEX_OPENAI = 'model_providers.sabir.name="OpenAI"'
CODEX_SOCKET = "model_providers.sabir.supports_websockets=true"

CLAUDE_WINDOW = ("CLAUDE_CODE_MAX_CONTEXT_TOKENS", "80000")
CODEX_WINDOW = "model_context_window=40000"
GEMINI_THRESHOLD = ("compressionThreshold", 0.04)

MANNERS = (
    Manner("claude", Claude(), 80_000, 56, 12_000, variables=(CLAUDE_WINDOW,), own="anthropic"),
    Manner("claude-unknown", Claude(), 60_000, 42, 12_000, meets_error=True),
    Manner("claude-silent", Claude(), 80_000, 56, 12_000, variables=(CLAUDE_WINDOW,), states_usage=False),
    Manner("codex", Codex(), 40_000, 44, 8_000, options=(CODEX_WINDOW,), own="responses"),
    Manner("codex-openai", Codex(), 40_000, 44, 8_000, options=(CODEX_WINDOW, CODEX_OPENAI)),
    Manner("codex-socket", Codex(), 40_000, 44, 8_000, options=(CODEX_WINDOW, CODEX_SOCKET)),
    Manner("codex-silent", Codex(), 40_000, 44, 8_000, options=(CODEX_WINDOW,), states_usage=False),
    Manner("gemini", Gemini(), 60_000, 32, 16_000, settings=(GEMINI_THRESHOLD,), turns=8, pause_every=6, own="gemini"),
    Manner("claude-told", Claude(), 80_000, 56, 12_000, is_told=True),
    Manner("codex-told", Codex(), 40_000, 44, 8_000, is_told=True),
    Manner("gemini-told", Gemini(), 60_000, 32, 16_000, turns=8, pause_every=6, is_told=True),
)

UNWARNED = (
    Manner("codex", Codex(), 30_000, 20, 8_000, turns=3, own="responses"),
    Manner("gemini", Gemini(), 30_000, 20, 16_000, turns=3, own="gemini"),
)
"""Those who do not recover from the words of their own vendor either."""

SPENT = {"codex": "ran out of room in the model's context window", "gemini": "exceeds the maximum number of tokens allowed"}
"""What each tells its user once it knows that its history does not fit."""

SHORT = ("claude/chat", "codex-openai/anthropic", "gemini/responses")
"""One cell of each kind of compaction."""


class Session:
    """A CLI on a gateway with a scripted model behind it."""

    is_direct = False
    """Whether the CLI asks the model itself, without a gateway."""

    def __init__(self, bench, manner, upstream, model):
        self.bench, self.manner, self.upstream, self.model = bench, manner, upstream, model
        self.root = tempfile.mkdtemp(prefix=f"{manner.title}-{upstream}-", dir=bench.root)
        self.folder, self.home = (os.path.join(self.root, name) for name in ("work", "home"))
        for path in (self.folder, self.home):
            os.makedirs(path)
        self.facts = [f"FACT-{step}-{secrets.token_hex(6)}" for step in range(model.steps + 1)]

    def run(self):
        """Runs the session to its end, and returns what the CLI printed last."""
        self.write_files()
        with Server(UPSTREAMS[self.upstream], self.model) as scripted:
            if self.is_direct:
                return self.speak(scripted.base)
            config = os.path.join(self.root, "sabir.toml")
            self.provider = (
                f'[[provider]]\nname = "up"\nprotocol = "{scripted.protocol}"\nbase_url = "{scripted.base}"\n'
                'api_key = { value = "only-for-tests" }\n'
            )
            if self.manner.is_told:
                self.provider += f"context_window = {self.manner.window}\n"
            with open(config, "w") as file:
                file.write("env_providers = false\n" + self.provider)
            data = os.path.join(self.root, "data")
            serve = [self.bench.sabir, "serve", "--listen", "127.0.0.1:0", "--config", config, "--data", data]
            with server(serve, os.path.join(self.root, "gateway.log")) as gateway:
                answer = self.speak(gateway)
                if CODEX_SOCKET in self.manner.options:
                    check_socket(gateway)
                return answer

    def speak(self, gateway):
        """Says one thing after the other until the model knows all that there is to know."""
        prompts = [PROMPT.format(fact=self.facts[0]), *([GO_ON] * (self.manner.turns - 1))]
        answer = ""
        for turn, prompt in enumerate(prompts):
            answer = self.answer(gateway, self.manner.arguments(self.folder, prompt, turn))
            if self.is_all(answer):
                break
        return answer

    def answer(self, gateway, arguments):
        done = subprocess.run(
            self.command(gateway, arguments),
            cwd=self.folder,
            env=self.variables(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SESSION_SECONDS_MAX,
        )
        assert done.returncode == 0, f"exit code {done.returncode}: {done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        self.output = done.stdout
        return self.manner.agent.report(done.stdout).answer

    def check_usage(self):
        """What the CLI believes that it used is what the model counted."""
        used = self.manner.agent.used(self.output)
        assert used == self.model.counted, f"the CLI was told of {used}, the model counted {self.model.counted}"

    def is_all(self, answer):
        return set(self.facts) <= set(FACT.findall(answer))

    def command(self, gateway, arguments):
        if self.is_direct:
            return self.manner.agent.direct(gateway, arguments)
        config = listening(self.folder, gateway)
        with open(config, "a") as file:
            file.write(self.provider)
        options = ["--config", config, "--model", "up/long"]
        return [self.bench.sabir, "run", self.manner.agent.name, *options, "--", *arguments]

    def variables(self):
        variables = {"HOME": self.home, "PATH": os.pathsep.join([self.bench.programs, os.environ["PATH"]])}
        return variables | self.manner.agent.variables | dict(self.manner.variables)

    def write_files(self):
        """A fact in each file, where no CLI cuts its output."""
        for step, fact in enumerate(self.facts[1:], 1):
            lines = [f"{step:04} {secrets.token_hex(32)}\n" for _ in range(self.manner.file_bytes // 70)]
            lines.insert(1, f"{fact}\n")
            with open(os.path.join(self.folder, f"{step}.txt"), "w") as file:
                file.writelines(lines)
        if self.manner.settings:
            settings = os.path.join(self.home, ".gemini", "settings.json")
            os.makedirs(os.path.dirname(settings))
            with open(settings, "w") as file:
                json.dump({"model": dict(self.manner.settings)}, file)


class Unwarned(Session):
    """A session whose CLI does not know of the window: what it does when it meets it."""

    def speak(self, gateway):
        """For each time that the user speaks, whether the CLI gave up with the words that it has for that."""
        prompts = [PROMPT.format(fact=self.facts[0]), *([GO_ON] * (self.manner.turns - 1))]
        met = []
        for turn, prompt in enumerate(prompts):
            command = self.command(gateway, self.manner.arguments(self.folder, prompt, turn))
            done = self.started(command, gateway)
            met.append((done.returncode != 0, SPENT[self.manner.title] in done.stdout + done.stderr))
        return met

    def started(self, command, gateway):
        variables = self.variables()
        if self.is_direct:
            variables |= self.manner.agent.direct_variables(gateway, self.home)
        limits = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": SESSION_SECONDS_MAX}
        return subprocess.run(command, cwd=self.folder, env=variables, **limits)


class Direct(Unwarned):
    """The same on the model itself, which speaks as the CLI's own vendor does."""

    is_direct = True


def check_socket(gateway):
    """Only over a socket is there a call that no provider is asked for."""
    seen = json.loads(fetched(f"{gateway}/sabir/v1/exchanges"))["exchanges"]
    assert any(it.get("upstream_protocol") is None for it in seen), "the CLI did not use a socket"


class Bench:
    def __init__(self, sabir, programs, root):
        self.sabir, self.programs, self.root = sabir, programs, root

    def long(self, manner, upstream):
        """The session passes the window at least twice, and at its end knows all that it learned."""
        model = Model(
            manner.steps, manner.window, pause_every=manner.pause_every, states_usage=manner.states_usage
        )
        session = Session(self, manner, upstream, model)
        answer = session.run()
        figures = figures_of(model)
        assert not model.invalid, f"{model.invalid[:3]}; {figures}"
        missing = set(session.facts) - set(FACT.findall(answer))
        assert not missing, f"lost {sorted(missing)}; {figures}; {answer[-1500:]}"
        read = manner.steps * manner.file_bytes // 4
        assert read > 2 * manner.window, f"{read} tokens of files are fewer than two windows"
        assert model.summaries >= SUMMARIES_LEAST, f"{model.summaries} summaries; {figures}"
        if manner.meets_error:
            assert model.overflows >= SUMMARIES_LEAST, f"the window was met {model.overflows} times; {figures}"
        most = manner.steps * 2 + 12 * model.summaries
        assert model.requests <= most, f"more than {most} requests; {figures}"
        return figures

    def unwarned(self, manner, upstream):
        """A CLI that does not expect the window does on a gateway what it does on its own vendor's model."""
        own = Model(manner.steps, manner.window)
        expected = Direct(self, manner, manner.own, own).run()
        model = Model(manner.steps, manner.window)
        met = Unwarned(self, manner, upstream, model).run()
        assert own.overflows and all(it == (True, True) for it in expected), f"on its own vendor: {expected}, {figures_of(own)}"
        assert met == expected, f"{met} instead of {expected}; {figures_of(model)}"
        assert model.summaries == own.summaries, f"{figures_of(model)}; on its own vendor {figures_of(own)}"
        return f"gives up {len(met)} times as on its own vendor; {figures_of(model)}"

    def prefix(self, manner, upstream, turns):
        """How much each turn has in common with the one before it, without the markers of prompt caches and with them.

        The markers do not count: Claude Code moves its own to the newest block with every call, so that its requests
        differ there before anybody translates them; a provider takes a marker as an order and caches what stands around it. Where
        the markers stand, and that they find what was kept, is what `cost` measures.
        """
        model = Model(turns)
        short = Manner(manner.title, manner.agent, 0, turns, 1_000)
        session = Session(self, short, upstream, model)
        session.run()
        session.check_usage()
        least, pointer = least_common(model.turns, lambda element: element.text)
        marked, first = least_common(model.turns, lambda element: element.marked)
        assert len(model.turns) > turns, f"{len(model.turns)} turns"
        assert least >= PREFIX_LEAST, f"{least:.2%} in common, first changed: {pointer}"
        told = f"{len(model.turns)} turns, at least {least:.3%} in common, first changed: {pointer}"
        return f"{told}; with markers {marked:.3%}, first changed: {first}"

    def cost(self, manner, turns):
        """The tokens that are billed in full, on each upstream against the agent's own vendor."""
        short = Manner(manner.title, manner.agent, 0, turns, 1_000)
        bills = {}
        for upstream in UPSTREAMS:
            model = Model(turns, caches="marked" if upstream == "anthropic" else "automatic")
            session = Session(self, short, upstream, model)
            session.run()
            session.check_usage()
            bills[upstream] = sum(turn.tokens - turn.cached for turn in model.turns)
        own = bills[manner.own]
        told = ", ".join(f"{upstream} {bill:,} ({bill / own:.3f})" for upstream, bill in bills.items())
        assert all(bill <= COST_MOST * own for bill in bills.values()), told
        return told


def figures_of(model):
    counts = f"{model.requests} requests, {model.overflows} overflows, {model.summaries} summaries"
    return f"{counts}, at most {model.largest:,} tokens of {model.window:,}"


def least_common(turns, text_of):
    """The least share of a turn that the next one begins with, byte for byte, and the first place that differs there."""
    texts = [[(element.pointer, text_of(element).encode()) for element in turn.elements] for turn in turns]
    return min((common(*pair) for pair in zip(texts, texts[1:])), default=(1.0, "none"))


def common(before, after):
    total = sum(len(text) for _, text in before)
    alike = 0
    for index, (pointer, text) in enumerate(before):
        other = after[index][1] if index < len(after) else b""
        if other != text:
            pairs = enumerate(zip(text, other))
            alike += next((at for at, (one, two) in pairs if one != two), min(len(text), len(other)))
            return alike / total, pointer
        alike += len(text)
    return 1.0, "none"


def cells(chosen):
    """The cells to run, each with its name."""
    if chosen.prefix:
        agents = [it for it in MANNERS if it.title in ("claude", "codex")]
        made = [(f"{it.title}/{up}", "prefix", it, up, chosen.prefix) for it in agents for up in UPSTREAMS]
    elif chosen.unwarned:
        made = [(f"{it.title}/{up}", "unwarned", it, up) for it in UNWARNED for up in UPSTREAMS]
    elif chosen.cost:
        made = [(it.title, "cost", it, chosen.cost) for it in MANNERS if it.own]
    else:
        made = [(f"{it.title}/{up}", "long", it, up) for it in MANNERS for up in UPSTREAMS if speaks(it, up)]
        if not chosen.grid and not chosen.cells:
            made = [it for it in made if it[0] in SHORT]
    return [it for it in made if not chosen.cells or it[0] in chosen.cells]


def speaks(manner, upstream):
    """Whether a manner is tried on an upstream: what the agent's own vendor does not tell, nobody else does."""
    return manner.states_usage or UPSTREAMS[upstream] != manner.agent.protocol


def verdict(bench, name, kind, *arguments):
    started = time.monotonic()
    try:
        remark, failed = getattr(bench, kind)(*arguments), 0
    except (AssertionError, subprocess.TimeoutExpired) as problem:
        remark, failed = str(problem)[-3000:], 1
    word = "FAILED" if failed else "ok"
    print(f"{name:<24} {word:<7}{time.monotonic() - started:6.1f} s  {remark}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sabir")
    parser.add_argument("programs")
    parser.add_argument("cells", nargs="*")
    parser.add_argument("--grid", action="store_true")
    parser.add_argument("--prefix", type=int)
    parser.add_argument("--cost", type=int)
    parser.add_argument("--unwarned", action="store_true")
    chosen = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory(prefix="sabir-long-") as root:
        bench = Bench(os.path.abspath(chosen.sabir), os.path.abspath(chosen.programs), root)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            done = [pool.submit(verdict, bench, *it) for it in cells(chosen)]
            return 1 if sum(it.result() for it in done) else 0


if __name__ == "__main__":
    sys.exit(main())
