"""Real agent CLIs as models: the vendors' SDKs ask a gateway, the gateway starts the CLI, and a simulator plays the model behind it.

Usage: models.py SABIR PROGRAMS [CELL…], where SABIR is the binary, PROGRAMS the folder with the CLIs and a CELL such as `claude/chat`
picks one. Needs a Python with the vendors' SDKs: `$(scripts/sdk-venv)`.
"""

import json
import os
import subprocess
import time
import urllib.request

from cells import free_port, main, verdict
from clients import CLIENTS, Failed, status_of
from fake import Fake, serve

SECONDS_MAX = 60

# When a client leaves that waits for a whole answer: the CLI has begun by then.
LEAVING_S = 4

KINDS = "text, history, tools, faults, no login, overflow, leaving; each whole and streamed"

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d4944415478da63f8cfc0"
    "f01f00050001ff56c72f0d0000000049454e44ae426082"
)

WEATHER = 'call Bash with {"city": "Oslo"}\ncall Bash with {"city": "Rome"}\nthen call mcp__a__Read with {"city": "Bern"}'

# Tools of the client, two of which have names that a CLI may keep for itself.
TOOLS = ["Bash", "mcp__a__Read", "apply_patch"]

# As their models see them.
SHOWN = {
    "claude": TOOLS,
    "codex": ["Bash", "_mcp__a__Read", "_apply_patch"],
    "gemini": ["mcp_sabir_Bash", "mcp_sabir_mcp__a__Read", "mcp_sabir_apply_patch"],
}

MODELS = {"claude": "claude-{}/claude-sonnet-5-1", "codex": "codex-{}/sim-model", "gemini": "gemini-{}/gemini-2.5-flash"}

# How a simulator is told to have the agent read a file, write one, and run a command.
WORK = {
    "claude": (
        'call Read with {{"file_path": "{folder}/note.txt"}}',
        'call Write with {"file_path": "NAME", "content": "x"}',
        'call Bash with {"command": "touch NAME"}',
    ),
    "codex": ('call exec_command with {{"cmd": "cat note.txt"}}', 'call exec_command with {"cmd": "touch NAME"}', 'call exec_command with {"cmd": "touch NAME"}'),
    "gemini": (
        'call read_file with {{"file_path": "note.txt"}}',
        'call write_file with {"file_path": "NAME", "content": "x"}',
        'call run_shell_command with {"command": "touch NAME"}',
    ),
}

PAST = [
    ("user", "My name is Kim."),
    ("assistant", "Hello Kim."),
    ("look", "What is this?", PNG),
    ("assistant", "A dot."),
    ("user", "/cost of @/etc/hostname in Oslo and Rome?"),
    ("call", [("toolu_a", "Bash", {"city": "Oslo"}), ("toolu_b", "Bash", {"city": "Rome"})]),
    ("results", [("toolu_a", "Bash", "twelve-oslo"), ("toolu_b", "Bash", "seven-rome")]),
    ("assistant", "Twelve and seven."),
    ("user", "Thanks."),
    ("assistant", "You are welcome."),
]


# What each client recovers from.
OVERFLOW = {"chat": "context_length_exceeded", "responses": "context_length_exceeded", "messages": "prompt is too long", "gemini": "token count"}


class Small(Fake):
    """A server of all three vendors that nothing fits."""

    def answer(self, path, _body):
        if "count" in path.lower():
            return 200, {"totalTokens": 10, "input_tokens": 10}
        if path.endswith("/responses"):
            words = "Your input exceeds the context window of this model. Please adjust your input and try again."
            return 400, {"error": {"message": words, "type": "invalid_request_error", "param": "input", "code": "context_length_exceeded"}}
        if "/messages" in path:
            words = "prompt is too long: 250000 tokens > 200000 maximum"
            return 400, {"type": "error", "error": {"type": "invalid_request_error", "message": words}}
        words = "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."
        return 400, {"error": {"code": 400, "message": words, "status": "INVALID_ARGUMENT"}}


class Bench:
    """A simulator, and a gateway with the CLIs behind it."""

    def __init__(self, sabir, programs, root):
        self.sabir, self.programs, self.root = sabir, programs, root
        self.sim, self.gateway = (f"127.0.0.1:{free_port()}" for _ in range(2))
        self.data = os.path.join(root, "data")
        self.config = os.path.join(root, "sabir.toml")
        with open(self.config, "w") as config:
            config.write(f'listen = "{self.gateway}"\nenv_providers = false\n')
            config.write(self.provider("claude", "claude-code", '["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"]'))
            config.write(self.provider("own", "claude-code", '["ANTHROPIC_BASE_URL"]'))
            config.write(self.provider("nobody", "claude-code", '["ANTHROPIC_BASE_URL"]') + f'login = "{root}/nobody"\n')
            config.write(self.codex("codex-cli", "SIM_KEY"))
            config.write(self.codex("outsider", None))
            self.write_small(config)
            config.write(self.provider("gemini-cli", "google-gemini", '["GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"]'))
            config.write(self.provider("stranger", "google-gemini", "[]"))
            config.write(self.headless())
            for permissions in ["read", "edit", "full"]:
                work = f'mode = "agent"\nfolder = "{self.folder()}"\npermissions = "{permissions}"\n'
                config.write(self.provider(f"claude-{permissions}", "claude-code", '["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"]') + work)
                config.write(self.codex(f"codex-{permissions}", "SIM_KEY") + work)
                config.write(self.provider(f"gemini-{permissions}", "google-gemini", '["GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"]') + work)

    def provider(self, name, agent, env):
        command = os.path.join(self.programs, "gemini" if agent == "google-gemini" else "claude")
        return f'[[provider]]\nname = "{name}"\nagent = "{agent}"\ncommand = "{command}"\nenv = {env}\nretries = 0\n'

    def headless(self):
        """Gemini CLI by a command that says itself how its output looks, and gets nothing but a prompt."""
        command = json.dumps([os.path.join(self.programs, "gemini"), "--output-format", "stream-json"])
        env = '["GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"]'
        return f'[[provider]]\nname = "headless"\nagent = "google-gemini"\ncommand = {command}\nenv = {env}\nretries = 0\n'

    def codex(self, name, key, base=None):
        """Codex with a simulator in the place of its own provider, and with no login if there is no key."""
        base = base or f"http://{self.sim}/openai/v1"
        login = f'env_key="{key}",' if key else ""
        sim = f'{{name="sim",base_url="{base}",wire_api="responses",{login}request_max_retries=0,stream_max_retries=0}}'
        command = [os.path.join(self.programs, "codex"), "-c", 'model_provider="sim"', "-c", f"model_providers.sim={sim}"]
        env = json.dumps([key] if key else [])
        return f'[[provider]]\nname = "{name}"\nagent = "openai-codex"\ncommand = {json.dumps(command)}\nenv = {env}\nretries = 0\n'

    def write_small(self, config):
        """Each CLI on a server that nothing fits."""
        base = f"http://127.0.0.1:{serve(Small)}"
        config.write(self.codex("codex-small", "SIM_KEY", f"{base}/v1"))
        for name, agent, program, variable, key in [
            ("claude-small", "claude-code", "claude", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
            ("gemini-small", "google-gemini", "gemini", "GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"),
        ]:
            command = json.dumps(["env", f"{variable}={base}", os.path.join(self.programs, program)])
            config.write(f'[[provider]]\nname = "{name}"\nagent = "{agent}"\ncommand = {command}\nenv = ["{key}"]\nretries = 0\n')

    def run(self, chosen):
        home = os.path.join(self.root, "home")
        self.furnish(home)
        before = contents_of(home)
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "ANTHROPIC_BASE_URL": f"http://{self.sim}/anthropic",
            "ANTHROPIC_API_KEY": "sk-simulated-key",
            "GOOGLE_GEMINI_BASE_URL": f"http://{self.sim}/gemini",
            "GEMINI_API_KEY": "simulated-gemini-key",
            "SIM_KEY": "sk-simulated-key",
            "CANARY": "canary-variable",
            "SABIR_LOG": "info,sabir_backend=debug",
        }
        serve = [self.sabir, "serve", "--config", self.config, "--data", self.data]
        commands = [[self.sabir, "sim", "--listen", self.sim], serve]
        with open(os.path.join(self.root, "log"), "w") as log:
            started = [
                subprocess.Popen(it, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=variables, cwd=self.root)
                for it in commands
            ]
            try:
                wait_for(f"http://{self.sim}/_sim/requests")
                wait_for(f"http://{self.gateway}/readyz")
                failures = self.run_cells(chosen)
            finally:
                for process in reversed(started):
                    process.terminate()
                    process.wait(SECONDS_MAX)
        left = os.path.join(self.data, "agents", "processes")
        assert not os.path.isdir(left) or not os.listdir(left), f"left behind: {os.listdir(left)}"
        assert not os.path.exists(os.path.join(self.root, "canary")), "a hook of the user ran"
        after = contents_of(home)
        changed = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
        assert not changed, f"written in the user's home: {changed}"
        return failures

    def furnish(self, home):
        """A home whose hooks, servers and memory files must not be touched."""
        touch = f"touch {self.root}/canary"
        hooks = {"hooks": {event: [{"hooks": [{"type": "command", "command": touch}]}] for event in ["SessionStart", "UserPromptSubmit", "Stop"]}}
        server = {"mcpServers": {"canary": {"command": "sh", "args": ["-c", touch]}}}
        write(os.path.join(self.root, "secret.txt"), "canary-file")
        write(os.path.join(home, ".claude", "settings.json"), json.dumps(hooks))
        write(os.path.join(home, ".claude", "CLAUDE.md"), "canary-memory")
        write(os.path.join(home, ".claude.json"), json.dumps(server | {"userID": "a" * 64}))
        oauth = {"accessToken": "simulated-own-token", "refreshToken": "never", "expiresAt": 4_000_000_000_000, "scopes": ["user:inference", "user:profile"]}
        write(os.path.join(home, ".claude", ".credentials.json"), json.dumps({"claudeAiOauth": oauth | {"subscriptionType": "max"}}))
        write(os.path.join(home, ".codex", "AGENTS.md"), "canary-memory")
        servers = f'[mcp_servers.canary]\ncommand = "sh"\nargs = ["-c", "{touch}"]\n'
        write(os.path.join(home, ".codex", "config.toml"), servers)
        write(os.path.join(home, ".gemini", "settings.json"), json.dumps(hooks | server))
        write(os.path.join(home, ".gemini", "GEMINI.md"), "canary-memory")
        # Gemini CLI looks for variables in every folder above the one that it works in: with these the stranger would have a login.
        login = f"GEMINI_API_KEY=canary-key\nGOOGLE_GEMINI_BASE_URL=http://{self.sim}/gemini\n"
        for folder in [self.root, home, os.path.join(home, ".gemini")]:
            write(os.path.join(folder, ".env"), login)

    def folder(self):
        """A project whose settings, hooks, servers and variables must not be touched by an agent that works there."""
        folder, touch = os.path.join(self.root, "project"), f"touch {self.root}/canary"
        hooks = {"hooks": {event: [{"hooks": [{"type": "command", "command": touch}]}] for event in ["SessionStart", "UserPromptSubmit"]}}
        server = {"mcpServers": {"canary": {"command": "sh", "args": ["-c", touch]}}}
        write(os.path.join(folder, "note.txt"), "pangolin-note\n")
        write(os.path.join(folder, ".claude", "settings.json"), json.dumps(hooks | {"permissions": {"allow": ["Bash", "Write"]}}))
        write(os.path.join(folder, ".mcp.json"), json.dumps(server))
        write(os.path.join(folder, ".codex", "config.toml"), f'[mcp_servers.canary]\ncommand = "sh"\nargs = ["-c", "{touch}"]\n')
        write(os.path.join(folder, ".gemini", "settings.json"), json.dumps(hooks | server | {"tools": {"core": ["run_shell_command"]}}))
        write(os.path.join(folder, ".env"), "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:1\n")
        return folder

    def run_cells(self, chosen):
        failures = 0
        for client in CLIENTS:
            client = client(f"http://{self.gateway}")
            agents = {"claude": self.claude, "codex": self.codex_cell, "gemini": self.gemini}
            cells = {f"{agent}/{client.name}": cell for agent, cell in agents.items()}
            cells |= {f"{agent}-work/{client.name}": lambda client, agent=agent: self.work(client, agent) for agent in agents}
            for name, cell in cells.items():
                if not chosen or name in chosen:
                    failures += verdict(name, cell, client)
        return failures

    def claude(self, client):
        model = "claude/claude-sonnet-5-1"
        for stream in [False, True]:
            self.text(client, model, stream)
            self.history(client, model, stream)
            self.tools(client, model, stream, "claude")
            for bad, status in [("fault-429", 429), ("fault-529", (503, 529)), ("fault-disconnect-first", 502), ("fault-401", 401)]:
                self.fault(client, f"claude/{bad}", status, stream=stream)
            self.fault(client, "nobody/claude-sonnet-5-1", 401, "/login", stream)
            self.fault(client, "claude-small/claude-sonnet-5-1", 400, OVERFLOW[client.name], stream)
            self.cancel(client, "claude/fault-slow-stream-200", stream)
            self.text(client, "own/claude-sonnet-5-1", stream)
        return KINDS

    def codex_cell(self, client):
        model = "codex-cli/gpt-5.6-sol"  # Codex leaves images out for models that it does not know.
        for stream in [False, True]:
            self.text(client, model, stream)
            self.items(client, model, stream)
            self.tools(client, model, stream, "codex")
            for bad, status in [("fault-429", 429), ("fault-503", (502, 503, 529)), ("fault-401", 401)]:
                self.fault(client, f"codex-cli/{bad}", status, stream=stream)
            self.fault(client, "outsider/gpt-5.6-sol", 401, "codex login", stream)
            self.fault(client, "codex-small/gpt-5.6-sol", 400, OVERFLOW[client.name], stream)
            self.cancel(client, "codex-cli/fault-slow-stream-200", stream)
        return KINDS

    def work(self, client, agent):
        """The CLI with its own tools in a folder: it does what it may, tells of it, and goes on in its session."""
        folder, read, edit, run = self.root + "/project", *WORK[agent]
        for stream in [False, True]:
            model = MODELS[agent].format("read")
            answer = client.ask(model, [("user", read.format(folder=folder))], names=["Bash"], stream=stream)
            assert "pangolin-note" in answer.text and not answer.calls, f"{answer.text!r} {answer.calls}"
        for permissions, order, name, may in [("read", edit, "a", False), ("edit", edit, "b", True), ("edit", run, "c", agent == "codex"), ("full", run, "d", True)]:
            made = os.path.join(folder, f"{name}-{agent}-{client.name}")
            client.ask(MODELS[agent].format(permissions), [("user", order.replace("NAME", made))])
            assert os.path.exists(made) == may, f"{permissions}: {order}: {os.path.exists(made)}"
        outside = os.path.join(self.root, f"outside-{agent}-{client.name}")
        client.ask(MODELS[agent].format("edit"), [("user", edit.replace("NAME", outside))])
        assert not os.path.exists(outside), "it wrote outside its folder"
        self.resume(client, agent, read.format(folder=folder))
        return "reading, editing, running, its session"

    def resume(self, client, agent, read):
        named = client.named(f"work-{agent}-{client.name}")
        model = MODELS[agent].format("read")
        first = named.ask(model, [("user", read)])
        for question in ["What did it say?", "And now?"]:
            named.ask(model, [("user", question)])
            body = self.arrived()
            assert "pangolin-note" in body and first.text[:40] in body, f"the session knows nothing: {body[-2000:]}"
            assert "Conversation so far" not in body and "[CONTEXT]" not in body, "it was told the conversation instead"

    def items(self, client, model, stream):
        answer = client.ask(model, [*PAST, ("user", "What is my name?")], names=["Bash"], stream=stream)
        assert "What is my name?" in answer.text, f"{answer.text!r}"
        body = json.loads(self.arrived())
        spoken = json.dumps(body["input"])
        for fact in ["My name is Kim.", "Hello Kim.", "input_image", "A dot.", "twelve-oslo", "seven-rome", "/cost of @/etc/hostname", "You are terse."]:
            assert fact in spoken + json.dumps(body.get("instructions")), f"{fact} is missing: {spoken}"
        calls = [json.loads(it["arguments"]) for it in body["input"] if it["type"] == "function_call"]
        assert calls == [{"city": "Oslo"}, {"city": "Rome"}], f"{calls}"
        assert open("/etc/hostname").read().strip() not in spoken, "a file was read"

    def gemini(self, client):
        model = "gemini-cli/gemini-2.5-flash"
        for stream in [False, True]:
            self.text(client, model, stream)
            self.contents(client, model, stream)
            self.tools(client, model, stream, "gemini")
            for bad, status in [("fault-429", 429), ("fault-503", (502, 503, 529)), ("fault-401", 401)]:
                self.fault(client, f"gemini-cli/{bad}", status, stream=stream)
            self.fault(client, "stranger/gemini-2.5-flash", 401, "log in", stream)
            self.fault(client, "gemini-small/gemini-2.5-flash", 400, OVERFLOW[client.name], stream)
            self.cancel(client, "gemini-cli/fault-slow-stream-200", stream)
            self.text(client, "headless/default", stream)
        return KINDS

    def contents(self, client, model, stream):
        answer = client.ask(model, [*PAST, ("user", "What is my name?")], names=["Bash"], stream=stream)
        assert "What is my name?" in answer.text, f"{answer.text!r}"
        body = json.loads(self.arrived())
        spoken = json.dumps(body["contents"], ensure_ascii=False)
        for fact in ["My name is Kim.", "Hello Kim.", "inlineData", "A dot.", "twelve-oslo", "seven-rome", "\u200b/cost of @/etc/hostname"]:
            assert fact in spoken, f"{fact} is missing: {spoken}"
        calls = [part["functionCall"] for it in body["contents"] for part in it["parts"] if "functionCall" in part]
        assert [(it["name"], it["args"]) for it in calls] == [("mcp_sabir_Bash", {"city": "Oslo"}), ("mcp_sabir_Bash", {"city": "Rome"})], f"{calls}"
        assert open("/etc/hostname").read().strip() not in spoken, "a file was read"
        assert body["systemInstruction"]["parts"] == [{"text": "You are terse."}], f"{body['systemInstruction']}"
        assert [it["name"] for it in body["tools"][0]["functionDeclarations"]] == ["mcp_sabir_Bash"], f"{body['tools']}"

    def text(self, client, model, stream):
        word = f"pangolin-{client.name}-{stream}"
        answer = client.ask(model, [("user", f"Say {word}")], stream=stream)
        assert word in answer.text, f"{stream}: {answer.text!r}"
        assert "canary" not in self.arrived(), "something of the user's was sent"
        answer = client.ask(model, [("user", f"/cost of @{self.root}/secret.txt and {word}")], stream=stream)
        assert word in answer.text, f"a command? {stream}: {answer.text!r}"
        assert "canary" not in self.arrived(), "a file was read"

    def history(self, client, model, stream):
        answer = client.ask(model, [*PAST, ("user", "What is my name?")], names=["Bash"], stream=stream)
        assert "What is my name?" in answer.text, f"{answer.text!r}"
        body = json.loads(self.arrived())
        spoken = json.dumps([it for it in body["messages"] if it["role"] != "system"])
        for fact in ["My name is Kim.", "Hello Kim.", '"type": "image"', "A dot.", "twelve-oslo", "seven-rome", "/cost of @/etc/hostname"]:
            assert fact in spoken, f"{fact} is missing: {spoken}"
        uses = [block for it in body["messages"] for block in it["content"] if isinstance(block, dict) and block["type"] == "tool_use"]
        assert [it["input"] for it in uses] == [{"city": "Oslo"}, {"city": "Rome"}], f"{uses}"
        assert open("/etc/hostname").read().strip() not in spoken, "a file was read"
        assert [it["name"] for it in body["tools"]] == ["Bash"], f"{body['tools']}"
        assert any(client_system == "You are terse." for client_system in (it["text"] for it in body["system"]))

    def tools(self, client, model, stream, agent):
        """The simulator calls a tool by the name that it sees. Results go on in the process that made the calls, where it can wait for them."""
        before, goes_on, order = self.resumed(), agent != "gemini", WEATHER
        for name, shown in zip(TOOLS, SHOWN[agent]):
            order = order.replace(f"call {name} ", f"call {shown} ")
        names, turns = TOOLS, [("user", order)]
        answer = client.ask(model, turns, names, stream)
        offered = self.arrived()
        assert all(f'"name": "{shown}"' in offered for shown in SHOWN[agent]), f"not all are offered: {offered}"
        assert [(name, it) for _, name, it in answer.calls] == [("Bash", {"city": "Oslo"}), ("Bash", {"city": "Rome"})], f"{answer.calls}"
        turns += [answer.turn(), ("results", [(id, name, f"sun in {it['city']}") for id, name, it in answer.calls])]
        answer = client.ask(model, turns, names, stream)
        assert [(name, it) for _, name, it in answer.calls] == [("mcp__a__Read", {"city": "Bern"})], f"{answer.calls}"
        turns += [answer.turn(), ("results", [(id, name, "rain in Bern") for id, name, it in answer.calls])]
        answer = client.ask(model, turns, names, stream)
        assert "rain in Bern" in answer.text and not answer.calls, f"{answer.text!r} {answer.calls}"
        assert self.resumed() - before == (2 if goes_on else 0), f"{self.resumed() - before} of two rounds went on where they were"
        body = self.arrived()
        assert all(body.count(fact) == 1 for fact in ["sun in Oslo", "sun in Rome", "rain in Bern"]), body
        # The same with a word that differs is told anew, and the agent hears no other.
        turns[0] = ("user", turns[0][1] + "\nPlease.")
        answer = client.ask(model, turns, names, stream)
        assert "rain in Bern" in answer.text and self.resumed() - before == (2 if goes_on else 0), f"{answer.text!r}"
        assert "Please." in self.arrived()

    def resumed(self):
        """How many calls went on in the processes that waited for their results, by the log."""
        with open(os.path.join(self.root, "log")) as log:
            return log.read().count("results go to the process that waits")

    def fault(self, client, model, status, words="", stream=False):
        try:
            answer = client.ask(model, [("user", "hello")], stream=stream)
        except Exception as error:  # Each SDK has its own.
            expected = status if isinstance(status, tuple) else (status,)
            # Where a stream that does not fit is one that fails, it begins.
            expected += (None,) if isinstance(error, Failed) and status == 400 else ()
            assert status_of(error) in expected, f"{model}: {status_of(error)} {error}"
            # Some SDKs have the code beside their words.
            assert words in f"{error} {getattr(error, 'code', '')}", f"{model}: {error}"
            return
        raise AssertionError(f"{model} answered: {answer.text!r}")

    def cancel(self, client, model, stream):
        """A process may wait for the next call; the one that answered must not be there."""
        waiting = len(os.listdir(os.path.join(self.data, "agents", "processes")))
        turns = [("user", "repeat 2000 words")]
        if stream:
            client.leave(model, turns)
        else:
            client.give_up(model, turns, LEAVING_S)
        folder, deadline = os.path.join(self.data, "agents", "processes"), time.monotonic() + 5
        while len(os.listdir(folder)) > waiting and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(os.listdir(folder)) <= waiting, "the process is still there"

    def arrived(self):
        """The body of the last request that a simulator got for an answer."""
        with urllib.request.urlopen(f"http://{self.sim}/_sim/requests", timeout=5) as reply:
            body = json.loads(reply.read())[-1]["body"]
        return body if isinstance(body, str) else json.dumps(body)


def contents_of(folder):
    """What is in the files of a folder, by their paths."""
    paths = (os.path.join(root, name) for root, _, names in os.walk(folder) for name in names)
    return {path: open(path, "rb").read() for path in paths}


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def wait_for(url):
    deadline = time.monotonic() + SECONDS_MAX
    while time.monotonic() < deadline:
        try:
            return urllib.request.urlopen(url, timeout=5).read()
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"{url} does not answer")


if __name__ == "__main__":
    main(Bench, __doc__)
