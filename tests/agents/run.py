"""Real agent CLIs on the gateway: each does a task with tools on a simulator of each provider API.

Usage: run.py SABIR PROGRAMS [CELL…], where SABIR is the binary, PROGRAMS the folder with the CLIs and a CELL such as
`codex/gemini` picks one of the twelve, `codex/session` one of the three that compare a session's file with its traffic, `codex/governed` one of the
three whose model is chosen by class and whose tools are under rules, `codex/handed` one of the three that go on with a conversation of others.
"""

import contextlib
import json
import os
import secrets
import subprocess
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import sessions
from agents import AGENTS, SOCKETS
from cells import free_port, main, verdict

UPSTREAMS = {
    "chat": "openai-chat",
    "responses": "openai-responses",
    "anthropic": "anthropic-messages",
    "gemini": "gemini",
}

CELL_SECONDS_MAX = 90
START_SECONDS_MAX = 20

AT_ONCE = 3
"""How many cells run at the same time: most of a cell is a CLI that starts."""

FILLER_CHARACTERS = 300_000
"""Each has two bytes: far more than fits into an argument."""

REQUESTS_LEAST = 3
"""Two rounds of tools and an answer."""


def governed_model(agent):
    """A model by class, each with a provider of its own, and rules that all of an agent's calls keep."""
    classes = {"default": "chat", "thinking": "anthropic", "coding": "gemini", "search": "responses", "tools": "responses"}
    targets = [f'{name} = [{{ provider = "sim-{upstream}", model = "sim" }}]\n' for name, upstream in classes.items()]
    rules = 'deny = ["no_such_*"], arguments = "repair", undeclared = "refuse"'
    table = f'[[model]]\nname = "governed-{agent.name}"\nstrategy = "class"\ntools = {{ {rules} }}\n[model.classes]\n'
    return table + "".join(targets)


class Bench:
    """A gateway, and a folder for all that the CLIs write."""

    def __init__(self, sabir, programs, root):
        self.sabir, self.programs, self.root = sabir, programs, root
        self.address = f"127.0.0.1:{free_port()}"
        self.config, self.data = os.path.join(root, "sabir.toml"), os.path.join(root, "data")
        with open(self.config, "w") as config:
            config.write(f'listen = "{self.address}"\nenv_providers = false\n[store]\nrecord = "full"\n')
            config.write("".join(governed_model(agent) for agent in AGENTS))

    def run(self, chosen):
        """Runs the cells and returns how many failed."""
        with self.serving():
            failures = self.run_cells(chosen)
            failures += 0 if chosen else verdict("claude/hosted", self.hosted)
        return failures

    @contextlib.contextmanager
    def serving(self):
        """Has the gateway run."""
        with open(os.path.join(self.root, "gateway.log"), "w") as log:
            command = [self.sabir, "serve", "--config", self.config, "--data", self.data]
            gateway = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            try:
                self.wait_for(gateway)
                yield
            finally:
                gateway.terminate()
                gateway.wait(START_SECONDS_MAX)

    def wait_for(self, gateway):
        deadline = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < deadline and gateway.poll() is None:
            try:
                return self.ask("/readyz")
            except OSError:
                time.sleep(0.05)
        raise SystemExit("the gateway did not start")

    def ask(self, path):
        with urllib.request.urlopen(f"http://{self.address}{path}", timeout=5) as reply:
            return reply.read()

    def run_cells(self, chosen):
        cells = [(agent, upstream) for agent in AGENTS for upstream in UPSTREAMS]
        # One upstream shows that the socket works; the others are asked for by name.
        cells += [(agent, upstream) for agent in SOCKETS for upstream in UPSTREAMS if chosen or upstream == "anthropic"]
        cells = [it for it in cells if not chosen or f"{it[0].title}/{it[1]}" in chosen]
        cells = [(f"{it[0].title}/{it[1]}", self.cell, *it) for it in cells]
        looks = [(f"{agent.name}/session", self.session, agent) for agent in AGENTS]
        looks += [(f"{agent.name}/governed", self.governed, agent) for agent in AGENTS]
        looks += [(f"{agent.name}/handed", self.handed, agent) for agent in AGENTS]
        cells += [it for it in looks if not chosen or it[0] in chosen]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            done = [pool.submit(verdict, *it) for it in cells]
            return sum(it.result() for it in done)

    def cell(self, agent, upstream):
        """One CLI on the gateway that runs, with one provider API behind it."""
        model = f"sim-{upstream}/with-{agent.title}"
        folder, word = self.scratch(f"{agent.title}-{upstream}")
        run = self.start(agent, folder, ["--config", self.config, "--model", model])
        self.check(agent, folder, word, run)
        return self.check_exchanges(model, UPSTREAMS[upstream], agent.uses_socket)

    def governed(self, agent):
        """One CLI whose model is chosen by class, and whose calls are held against rules."""
        folder, word = self.scratch(f"{agent.name}-governed")
        model = f"governed-{agent.name}"
        run = self.start(agent, folder, ["--config", self.config, "--model", model])
        self.check(agent, folder, word, run)
        seen = [it for it in self.exchanges(model) if it.get("class")]
        assert len(seen) >= REQUESTS_LEAST, f"{len(seen)} requests were classed"
        for exchange in seen:
            assert (exchange["outcome"], exchange["status"]) == ("answered", 200), json.dumps(exchange)
        providers = {exchange["provider"] for exchange in seen}
        assert len(providers) > 1, f"one provider had all classes: {providers}"
        return f"{len(seen)} requests, {', '.join(sorted({it['class'] for it in seen}))}"

    def handed(self, agent):
        """One CLI goes on with a conversation that others had: it begins with a prompt of it, longer than any argument."""
        folder, word = self.scratch(f"{agent.name}-handed")
        told = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": f"FIRST-{word}"}]
        told += [{"role": "assistant", "content": "é" * FILLER_CHARACTERS}, {"role": "user", "content": f"LAST-{word}"}]
        self.post("/sabir/v1/conversations", {"id": f"for-{agent.name}", "transcript": told})
        upstream = next(name for name, protocol in UPSTREAMS.items() if protocol == agent.protocol)
        model = f"sim-{upstream}/handed-{agent.name}"
        data = os.path.join(os.path.dirname(folder), "data")
        options = ["--config", self.config, "--data", data, "--model", model, "--continue", f"for-{agent.name}"]
        run = self.start(agent, folder, options, agent.say("Say pear."))
        assert run.returncode == 0 and "pear" in run.stdout, f"exit code {run.returncode}: {run.stdout}\n{run.stderr}"
        # What it sent is what its gateway recorded: all that was said, in its order, then what it was asked.
        found = self.wait_for_conversation(model, "Say pear.")
        sent = self.ask(f"/sabir/v1/conversations/{found}/messages").decode()
        places = [sent.find(text) for text in (f"FIRST-{word}", "é" * FILLER_CHARACTERS, f"LAST-{word}", "Say pear.")]
        assert -1 not in places and places == sorted(places), f"{places}: {sent[:2000]}"
        assert sent.count(f"FIRST-{word}") == 1, "it is sent twice"
        assert "Be brief." in sent, "the instructions are missing"
        left = [name for _, _, names in os.walk(data) for name in names if name.endswith((".jsonl", ".md"))]
        assert not [it for it in left if not it.startswith("session-")], f"left behind: {left}"
        return f"{len(sent.encode())} bytes"

    def post(self, path, body):
        headers = {"content-type": "application/json"}
        order = urllib.request.Request(f"http://{self.address}{path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(order, timeout=START_SECONDS_MAX) as reply:
            return json.loads(reply.read())

    def exchanges(self, model):
        """What the gateway says of a model's requests."""
        seen = json.loads(self.ask("/sabir/v1/exchanges"))["exchanges"]
        return [it for it in seen if it["requested_model"] == model]

    def session(self, agent):
        """One CLI on a simulator of its own protocol; then its session file is imported."""
        upstream = next(name for name, protocol in UPSTREAMS.items() if protocol == agent.protocol)
        folder, _ = self.scratch(f"{agent.name}-session")
        sessions.picture(os.path.join(folder, "dot.png"))
        model = f"sim-{upstream}/session-of-{agent.name}"
        run = self.start(agent, folder, ["--config", self.config, "--model", model], agent.look(folder))
        assert run.returncode == 0, f"exit code {run.returncode}: {run.stdout}\n{run.stderr}"
        remark = sessions.check(self, agent, folder, model)
        beside = os.path.join(self.root, f"beside-{agent.name}")
        os.makedirs(beside)
        holds = agent.holds
        if not agent.resumes_calls:
            # What its own API refuses is mended on the way to any other.
            options = ["--config", self.config, "--model", f"sim-chat/resumed-{agent.name}"]
            run = self.start(agent, folder, options, agent.go_on("Say plum."))
            assert run.returncode == 0 and "plum" in run.stdout, f"exit code {run.returncode}: {run.stdout}\n{run.stderr}"
            folder, _ = self.scratch(f"{agent.name}-texts")
            run = self.start(agent, folder, ["--config", self.config, "--model", model], agent.print("Say pear."))
            assert run.returncode == 0, f"exit code {run.returncode}: {run.stdout}\n{run.stderr}"
            holds = ["Say pear.", '"thought"']
        sessions.check_going_on(Bench(self.sabir, self.programs, beside), agent, folder, model, holds)
        return remark

    def hosted(self):
        """A CLI on a gateway that lives as long as the CLI, with nothing configured and no model named."""
        agent = AGENTS[0]
        folder, word = self.scratch("hosted")
        run = self.start(agent, folder, ["--config", self.empty_config()])
        self.check(agent, folder, word, run)
        return "on a gateway of its own"

    def empty_config(self):
        """A configuration whose address nobody listens at."""
        path = os.path.join(self.root, "empty.toml")
        with open(path, "w") as config:
            config.write(f'listen = "127.0.0.1:{free_port()}"\nenv_providers = false\n')
        return path

    def scratch(self, name):
        """A folder with a file to read, and a home beside it."""
        folder = os.path.join(self.root, name, "work")
        os.makedirs(folder)
        os.makedirs(os.path.join(self.root, name, "home"))
        word = secrets.token_hex(12)
        with open(os.path.join(folder, "note.txt"), "w") as note:
            note.write(word + "\n")
        return folder, word

    def start(self, agent, folder, options, arguments=None):
        home = os.path.join(os.path.dirname(folder), "home")
        path = os.pathsep.join([self.programs, os.environ["PATH"]])
        # A key that must not be used: the CLI is to send what Sabir gives it.
        variables = {"HOME": home, "PATH": path, "ANTHROPIC_API_KEY": "wrong", "GOOGLE_API_KEY": "wrong"}
        command = [self.sabir, "run", agent.name, *options, "--", *(arguments or agent.arguments(folder))]
        return subprocess.run(
            command,
            cwd=folder,
            env=variables | agent.variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=CELL_SECONDS_MAX,
        )

    def check(self, agent, folder, word, run):
        told = f"{run.stdout}\n{run.stderr}"
        assert run.returncode == 0, f"exit code {run.returncode}: {told}"
        report = agent.report(run.stdout)
        assert not report.errors, f"{report.errors}"
        assert report.tools == agent.tools, f"expected {agent.tools}, ran {report.tools}: {told}"
        copy = os.path.join(folder, "copy.txt")
        assert os.path.exists(copy) and word in open(copy).read(), f"nothing was copied: {told}"
        # The beginning and the end of what a simulator says: an answer in pieces would lack one of them.
        assert report.answer.startswith("This is Sabir's "), f"the answer lacks its beginning: {report.answer!r}"
        assert word in report.answer, f"the answer does not quote the file: {report.answer!r}"

    def wait_for_conversation(self, model, text):
        """The conversation that the traffic of a model made, once a text is in it: nobody waits for what is recorded."""
        deadline = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < deadline:
            listed = json.loads(self.ask("/sabir/v1/conversations?limit=100"))["data"]
            for found in (it["id"] for it in listed if model.split("/")[1] in it["models"]):
                if text in self.ask(f"/sabir/v1/conversations/{found}/messages").decode():
                    return found
            time.sleep(0.05)
        raise AssertionError(f"no conversation of {model} was recorded")

    def check_exchanges(self, model, protocol, uses_socket):
        """What the gateway says of the cell's requests."""
        seen = self.exchanges(model)
        if uses_socket:
            # Only over a socket is there a call that no provider is asked for.
            prepared = [it for it in seen if it.get("upstream_protocol") is None]
            assert prepared, "nothing was prepared: the CLI did not use a socket"
            seen = [it for it in seen if it not in prepared]
        assert len(seen) >= REQUESTS_LEAST, f"{len(seen)} requests reached the gateway"
        for exchange in seen:
            assert exchange["upstream_protocol"] == protocol, f"served by {exchange['upstream_protocol']}"
            assert (exchange["outcome"], exchange["status"]) == ("answered", 200), json.dumps(exchange)
        return f"{len(seen)} requests, {protocol}"


if __name__ == "__main__":
    main(Bench, __doc__)
