"""How fast real agent CLIs answer as models: the time to the first words, through a gateway against driving the CLI by hand in the same
way, and with a process that waits against one that is started.

Usage: speed.py SABIR PROGRAMS [--rounds N]. Simulators play the models. The three ways take turns, and medians are compared: on a busy
machine only the ratios mean anything.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
import urllib.request

from cells import free_port
from models import SECONDS_MAX, wait_for

CLAUDE = """-p --output-format stream-json --input-format stream-json --verbose --include-partial-messages --no-session-persistence
  --strict-mcp-config --disable-slash-commands --model=claude-sonnet-5-1""".split() + ["--setting-sources", "", "--tools", ""]

TAME = {
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "DISABLE_AUTOUPDATER": "1",
    "GEMINI_CLI_NO_RELAUNCH": "true",
}

MODELS = {"claude": "claude-sonnet-5-1", "codex": "sim-model", "gemini": "gemini-2.5-flash"}


class Hand:
    """A CLI that is driven by hand."""

    def __init__(self, command, environment, folder):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, cwd=folder, text=True, start_new_session=True
        )

    def send(self, **line):
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()

    def until(self, fits):
        for line in self.process.stdout:
            line = json.loads(line) if line.startswith("{") else {}
            if fits(line):
                return line
        raise AssertionError("it said nothing")

    def end(self):
        os.killpg(self.process.pid, 15)
        self.process.wait(SECONDS_MAX)


class Bench:
    def __init__(self, sabir, programs, root):
        self.sabir, self.programs, self.root = sabir, programs, root
        self.sim, self.gateway = (f"127.0.0.1:{free_port()}" for _ in range(2))
        self.home, self.empty = os.path.join(root, "home"), os.path.join(root, "empty")
        for folder in [self.home, self.empty, os.path.join(root, "codex"), os.path.join(root, "gemini", ".gemini")]:
            os.makedirs(folder)
        sim = f'{{name="sim",base_url="http://{self.sim}/openai/v1",wire_api="responses",env_key="SIM_KEY",request_max_retries=0,stream_max_retries=0}}'
        self.codex = [os.path.join(programs, "codex"), "-c", 'model_provider="sim"', "-c", f"model_providers.sim={sim}"]
        settings = {"tools": {"core": ["none"]}, "skills": {"enabled": False}, "hooksConfig": {"enabled": False}, "security": {"auth": {"selectedType": "gemini-api-key"}}}
        with open(os.path.join(root, "gemini", ".gemini", "settings.json"), "w") as file:
            json.dump(settings, file)
        self.variables = {
            "PATH": os.environ["PATH"],
            "HOME": self.home,
            "ANTHROPIC_BASE_URL": f"http://{self.sim}/anthropic",
            "ANTHROPIC_API_KEY": "sk-simulated-key",
            "GOOGLE_GEMINI_BASE_URL": f"http://{self.sim}/gemini",
            "GEMINI_API_KEY": "simulated-gemini-key",
            "SIM_KEY": "sk-simulated-key",
        }
        with open(os.path.join(root, "sabir.toml"), "w") as config:
            config.write(f'listen = "{self.gateway}"\nenv_providers = false\n[store]\nurl = "memory:"\n')
            for warm in [0, 1]:
                for name, agent, command, env in [
                    ("claude", "claude-code", os.path.join(programs, "claude"), ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"]),
                    ("codex", "openai-codex", self.codex, ["SIM_KEY"]),
                    ("gemini", "google-gemini", os.path.join(programs, "gemini"), ["GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"]),
                ]:
                    config.write(f'[[provider]]\nname = "{name}-{warm}"\nagent = "{agent}"\ncommand = {json.dumps(command)}\nenv = {json.dumps(env)}\nwarm = {warm}\n')

    def by_hand(self, name):
        environment = self.variables | TAME
        if name == "claude":
            hand = Hand([os.path.join(self.programs, "claude"), *CLAUDE], environment, self.empty)
            hand.send(type="control_request", request_id="1", request={"subtype": "initialize", "systemPrompt": ["Be brief."]})
            hand.until(lambda it: it.get("type") == "control_response")
            hand.send(type="user", message={"role": "user", "content": "hello"})
            hand.until(lambda it: it.get("type") == "stream_event" and it["event"]["type"] == "content_block_delta")
        elif name == "codex":
            hand = Hand([*self.codex, "app-server"], environment | {"CODEX_HOME": os.path.join(self.root, "codex")}, self.empty)
            client = {"clientInfo": {"name": "hand", "title": "Hand", "version": "1"}, "capabilities": {"experimentalApi": True}}
            hand.send(id=1, method="initialize", params=client)
            hand.until(lambda it: it.get("id") == 1)
            hand.send(method="initialized")
            hand.send(id=2, method="thread/start", params={"model": MODELS[name], "ephemeral": True, "approvalPolicy": "never", "environments": [], "baseInstructions": "Be brief."})
            thread = hand.until(lambda it: it.get("id") == 2)["result"]["thread"]["id"]
            hand.send(id=3, method="turn/start", params={"threadId": thread, "input": [{"type": "text", "text": "hello"}], "summary": "auto"})
            hand.until(lambda it: it.get("method", "").endswith(("/delta", "Delta")))
        else:
            command = [os.path.join(self.programs, "gemini"), "--acp", "--skip-trust", f"--model={MODELS[name]}"]
            hand = Hand(command, environment | {"GEMINI_CLI_HOME": os.path.join(self.root, "gemini")}, self.empty)
            hand.send(jsonrpc="2.0", id=1, method="initialize", params={"protocolVersion": 1, "clientCapabilities": {}})
            hand.until(lambda it: it.get("id") == 1)
            hand.send(jsonrpc="2.0", id=2, method="session/new", params={"cwd": self.empty, "mcpServers": []})
            session = hand.until(lambda it: it.get("id") == 2)["result"]["sessionId"]
            hand.send(jsonrpc="2.0", id=3, method="session/prompt", params={"sessionId": session, "prompt": [{"type": "text", "text": "hello"}]})
            hand.until(lambda it: it.get("method") == "session/update" and "chunk" in it["params"]["update"]["sessionUpdate"])
        return hand

    def asked(self, name, warm):
        body = {"model": f"{name}-{warm}/{MODELS[name]}", "stream": True, "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}]}
        request = urllib.request.Request(f"http://{self.gateway}/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=SECONDS_MAX) as reply:
            began = None
            for line in reply:
                if began is None and (b'"reasoning_content"' in line or b'"content":"' in line):
                    began = time.monotonic()
            return began

    def measure(self, name, rounds):
        times = {"hand": [], "cold": [], "warm": []}
        self.asked(name, 0), self.asked(name, 1)  # The first call also asks what the CLI can.
        for _ in range(rounds):
            time.sleep(1)  # What is replaced is replaced.
            for way in times:
                start = time.monotonic()
                if way == "hand":
                    hand = self.by_hand(name)
                    times[way].append(time.monotonic() - start)
                    hand.end()
                else:
                    times[way].append(self.asked(name, int(way == "warm")) - start)
        hand, cold, warm = (statistics.median(times[way]) for way in times)
        print(f"{name:<8} by hand {hand:6.2f} s   gateway {cold:6.2f} s ({cold / hand:4.2f})   warm {warm:6.2f} s ({warm / cold:4.2f} of cold)", flush=True)

    def run(self, rounds):
        serve = [self.sabir, "serve", "--config", os.path.join(self.root, "sabir.toml"), "--data", os.path.join(self.root, "data")]
        with open(os.path.join(self.root, "log"), "w") as log:
            started = [
                subprocess.Popen(it, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.variables, cwd=self.root)
                for it in [[self.sabir, "sim", "--listen", self.sim], serve]
            ]
            try:
                wait_for(f"http://{self.sim}/_sim/requests")
                wait_for(f"http://{self.gateway}/readyz")
                for name in MODELS:
                    self.measure(name, rounds)
            finally:
                for process in reversed(started):
                    process.terminate()
                    process.wait(SECONDS_MAX)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sabir")
    parser.add_argument("programs")
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sabir-speed-", ignore_cleanup_errors=True) as root:
        Bench(os.path.abspath(chosen.sabir), os.path.abspath(chosen.programs), root).run(chosen.rounds)
