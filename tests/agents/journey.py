"""One conversation through everything: begun on OpenAI with a round of tools, compressed, continued on Anthropic, then on Gemini, then through the
real Gemini CLI as a model, then by Responses with a submission. Every earlier fact must be in each payload, and every loss in a report.
And a team of the three real CLIs: each must be shown what the one before it said.

Usage: journey.py SABIR PROGRAMS, where SABIR is the binary and PROGRAMS the folder with the CLIs.
"""

import json
import os
import re
import subprocess
import time
import urllib.request

from cells import free_port, main, verdict
from fake import Fake, serve

SECONDS_MAX = 60

WINDOW_WORDS = 1500
"""What the simulated OpenAI reads at most."""

TOOL = {"name": "look", "parameters": {"type": "object", "properties": {}}}


def facts(text):
    return sorted({int(it) for it in re.findall(r"FACT(\d+)", text)})


class OpenAI(Fake):
    """A provider with a window, whose summaries hold the facts that it was sent."""

    sent = []

    def answer(self, _path, body):
        self.sent.append(body)
        if "Write the summary now." in body:
            return self.message({"content": " ".join(f"FACT{it}" for it in facts(body))})
        if len(body.split()) > WINDOW_WORDS:
            message = f"This model's maximum context length is {WINDOW_WORDS} tokens. However, your messages resulted in 9999 tokens."
            error = {"message": message, "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}
            return 400, {"error": error}
        if body.count("please look") > body.count("LOOKED"):
            call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
            return self.message({"content": None, "tool_calls": [call]}, "tool_calls")
        return self.message({"content": "Noted."})

    def message(self, message, reason="stop"):
        choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return 200, {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}


class Bench:
    """A simulator, a gateway, and a provider that has a window."""

    def __init__(self, sabir, programs, root):
        self.sabir, self.programs, self.root = sabir, programs, root
        self.sim, self.gateway = (f"127.0.0.1:{free_port()}" for _ in range(2))
        self.openai_port = serve(OpenAI)
        self.newest = 0

    def config(self):
        def provider(name, protocol, url):
            return f'[[provider]]\nname = "{name}"\nprotocol = "{protocol}"\nbase_url = "{url}"\napi_key = {{ value = "key" }}\n'

        yield f'listen = "{self.gateway}"\nenv_providers = false\n'
        yield provider("openai", "openai-chat", f"http://127.0.0.1:{self.openai_port}/v1")
        yield provider("anthropic", "anthropic-messages", f"http://{self.sim}/anthropic")
        yield provider("google", "gemini", f"http://{self.sim}/gemini")
        command = os.path.join(self.programs, "gemini")
        env = '["GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"]'
        yield f'[[provider]]\nname = "gemini-cli"\nagent = "google-gemini"\ncommand = "{command}"\nenv = {env}\n'
        command, env = os.path.join(self.programs, "claude"), '["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"]'
        yield f'[[provider]]\nname = "claude-cli"\nagent = "claude-code"\ncommand = "{command}"\nenv = {env}\n'
        sim = f'{{name="sim",base_url="http://{self.sim}/openai/v1",wire_api="responses",env_key="SIM_KEY"}}'
        command = [os.path.join(self.programs, "codex"), "-c", 'model_provider="sim"', "-c", f"model_providers.sim={sim}"]
        yield f'[[provider]]\nname = "codex-cli"\nagent = "openai-codex"\ncommand = {json.dumps(command)}\nenv = ["SIM_KEY"]\n'

    def run(self, _chosen):
        path, home = os.path.join(self.root, "sabir.toml"), os.path.join(self.root, "home")
        os.makedirs(home)
        with open(path, "w") as file:
            file.write("".join(self.config()))
        login = {"GOOGLE_GEMINI_BASE_URL": f"http://{self.sim}/gemini", "GEMINI_API_KEY": "simulated-key"}
        login |= {"ANTHROPIC_BASE_URL": f"http://{self.sim}/anthropic", "ANTHROPIC_API_KEY": "simulated-key", "SIM_KEY": "simulated-key"}
        variables = {"PATH": os.environ["PATH"], "HOME": home} | login
        serve = [self.sabir, "serve", "--config", path, "--data", os.path.join(self.root, "data")]
        with open(os.path.join(self.root, "log"), "w") as log:
            started = [
                subprocess.Popen(it, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=variables, cwd=self.root)
                for it in ([self.sabir, "sim", "--listen", self.sim], serve)
            ]
            try:
                self.wait_for(f"http://{self.sim}/_sim/requests")
                self.wait_for(f"http://{self.gateway}/readyz")
                return verdict("journey", self.journey) + verdict("team", self.team, path, variables)
            finally:
                for process in reversed(started):
                    process.terminate()
                    process.wait(SECONDS_MAX)

    def journey(self):
        chat, tools = "/v1/chat/completions", [{"type": "function", "function": TOOL}]
        asked, _ = self.step(chat, {"model": "openai/m", "tools": tools, "messages": [{"role": "user", "content": self.say("please look")}]})
        call = asked["choices"][0]["message"]["tool_calls"][0]["id"]
        self.step(chat, {"model": "openai/m", "messages": [{"role": "tool", "tool_call_id": call, "content": self.say("LOOKED")}]})
        headers = {}
        while "sabir-compacted" not in headers:
            assert self.newest < 40, "nothing was compressed"
            _, headers = self.step(chat, self.user("openai/m"))
        self.step("/v1/messages", self.user("anthropic/m") | {"max_tokens": 100})
        self.step("/v1beta/models/google/m:generateContent", {"contents": [{"role": "user", "parts": [{"text": self.say()}]}]})
        # Through the CLI, which has no place for a temperature.
        _, headers = self.step(chat, self.user("gemini-cli/gemini-2.5-pro") | {"temperature": 0.5})
        assert headers["sabir-provider"] == "gemini-cli", headers
        losses = json.loads(self.get(f"/sabir/v1/exchanges/{headers['sabir-exchange']}"))["losses"]
        assert any(it["pointer"] == "/temperature" and it["kind"] == "dropped" for it in losses), losses
        order = {"model": "anthropic/m", "input": self.say("please look"), "tools": [{"type": "function", **TOOL}]}
        asked, _ = self.step("/v1/responses", order)
        assert asked["status"] == "requires_action", asked
        call = asked["required_action"]["submit_tool_outputs"]["tool_calls"][0]["id"]
        outputs = {"tool_outputs": [{"tool_call_id": call, "output": self.say("LOOKED")}]}
        done, _ = self.step(f"/v1/responses/{asked['id']}/submit_tool_outputs", outputs)
        assert done["status"] == "completed", done
        kept = json.loads(self.get("/sabir/v1/conversations/w1/messages"))
        assert facts(json.dumps(kept)) == list(range(1, self.newest + 1)), kept
        assert all(set(it) <= {"role", "content", "timestamp", "tool_calls", "tool_call_id"} for it in kept), kept
        return f"{self.newest} facts"

    def team(self, config, variables):
        """A team of the real CLIs, whose models are simulators."""
        members = [("ann", "claude", "claude-sonnet-5-1"), ("bob", "codex", "gpt-5.6-sol"), ("eve", "gemini", "gemini-2.5-pro")]
        path = os.path.join(self.root, "team.toml")
        with open(path, "w") as file:
            file.write('task = "TASK-1"\n')
            for name, agent, model in members:
                file.write(f'[[member]]\nname = "{name}"\nagent = "{agent}"\nmodel = "{model}"\ninstructions = "RULE-{name}"\n')
        self.forget()
        command = [self.sabir, "team", path, "--rounds", "1", "--config", config, "FIRST-WORD"]
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=variables, timeout=SECONDS_MAX)
        assert ran.returncode == 0, ran.stderr
        speakers = [line[:-1] for line in ran.stdout.splitlines() if line in ("ann:", "bob:", "eve:")]
        assert speakers == ["ann", "bob", "eve"], ran.stdout
        bodies = [json.dumps(it["body"]) for it in json.loads(get(f"http://{self.sim}/_sim/requests")) if it["method"] == "POST"]
        for name, before in [("ann", []), ("bob", ["ann"]), ("eve", ["ann", "bob"])]:
            [*_, shown] = [body for body in bodies if f"RULE-{name}" in body]
            wanted = ["TASK-1", "FIRST-WORD", f"You are {name}."] + [f"- {it}" for it in before[:-1]]
            assert all(it in shown for it in wanted), f"{name}: {shown[-2000:]}"
            assert not before or "This is Sabir's" in shown, f"{name} is not shown what was said: {shown[-2000:]}"
        [kept] = [line.removeprefix("conversation: ") for line in ran.stderr.splitlines() if line.startswith("conversation: ")]
        messages = json.loads(self.get(f"/sabir/v1/conversations/{kept}/messages"))
        heads = [it["content"].splitlines()[0] for it in messages]
        expected = [("user", "ann"), ("ann", "bob"), ("bob", "eve"), ("eve", "ann")]
        assert heads == [f"[FROM: {one}] [NEXT: {other}]" for one, other in expected], heads
        return "Claude Code, Codex and Gemini CLI"

    def forget(self):
        OpenAI.sent.clear()
        urllib.request.urlopen(urllib.request.Request(f"http://{self.sim}/_sim/requests", method="DELETE")).read()

    def say(self, words=""):
        self.newest += 1
        return f"FACT{self.newest} {words} " + "and so on " * 40

    def user(self, model):
        return {"model": model, "messages": [{"role": "user", "content": self.say()}]}

    def step(self, path, body):
        """One call, and whether its payload has every fact, and its turn every loss."""
        self.forget()
        headers = {"content-type": "application/json", "sabir-requires-action": "true"}
        headers |= {} if "submit" in path else {"sabir-conversation": "w1"}
        request = urllib.request.Request(f"http://{self.gateway}{path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=SECONDS_MAX) as reply:
            answer, headers = json.loads(reply.read()), {name.lower(): value for name, value in reply.headers.items()}
        arrived = OpenAI.sent or [json.dumps(it["body"]) for it in json.loads(get(f"http://{self.sim}/_sim/requests"))]
        assert facts(arrived[-1]) == list(range(1, self.newest + 1)), f"{path}: {facts(arrived[-1])} of {self.newest}"
        turn = json.loads(self.get("/sabir/v1/conversations/w1"))["turns"][-1]
        exchange = json.loads(self.get(f"/sabir/v1/exchanges/{headers['sabir-exchange']}"))
        assert (turn["id"], turn["losses"]) == (headers["sabir-turn"], exchange["losses"]), turn
        return answer, headers

    def get(self, path):
        return get(f"http://{self.gateway}{path}")

    def wait_for(self, url):
        until = time.monotonic() + SECONDS_MAX
        while True:
            try:
                return get(url)
            except OSError:
                assert time.monotonic() < until, f"nobody answers at {url}"
                time.sleep(0.05)


def get(url):
    with urllib.request.urlopen(url, timeout=SECONDS_MAX) as reply:
        return reply.read()


if __name__ == "__main__":
    main(Bench, __doc__)
