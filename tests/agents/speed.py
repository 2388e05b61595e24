"""How fast real agent CLIs answer as models: the time to the first words, through a gateway against driving the CLI by hand in the same
way, and with a process that waits against one that is started. By hand means the gateway's own command, environment, folder and lines,
which `recorder.py` notes in one call. Then the gateway's own CPU while nobody asks; what a streamed answer takes beside HTTP is measured by
`cargo xtask bench gateway agents`, at the same pace.

Usage: speed.py SABIR PROGRAMS [--rounds N]. Simulators play the models. The three ways take turns, and medians are compared: on a busy
machine only the ratios mean anything.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

from cells import free_port
from models import SECONDS_MAX, wait_for

MODELS = {"claude": "claude-sonnet-5-1", "codex": "sim-model", "gemini": "gemini-2.5-flash"}


def cpu_s(pid):
    """What a process itself has spent so far, without its children."""
    with open(f"/proc/{pid}/stat") as stat:
        user, system = stat.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def has_begun(line):
    """Whether a line of any of the three has the first words of the answer."""
    if line.get("type") == "stream_event":
        return line["event"]["type"] == "content_block_delta"
    if line.get("method") == "session/update":
        return line["params"]["update"]["sessionUpdate"] in ("agent_message_chunk", "agent_thought_chunk")
    return line.get("method", "").endswith(("/delta", "Delta"))


class Hand:
    """A CLI that is driven by hand."""

    def __init__(self, command, environment, folder):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, cwd=folder, text=True, start_new_session=True
        )

    def send(self, **line):
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()

    def tell(self, lines, own):
        """Tells all lines, and waits for an answer to each that asks for one. Ids that the CLI makes up are put in their places."""
        made_up = {}
        for number, line in enumerate(lines):
            params = line.get("params", {})
            for name in ["threadId", "sessionId"]:
                if name in params:
                    params[name] = made_up.get(name, params[name])
            if "cwd" in params:
                params["cwd"] = os.path.join(own, "work")
            self.send(**line)
            if number == len(lines) - 1:
                self.until(has_begun)
            elif line.get("type") == "control_request":
                self.until(lambda it: it.get("type") == "control_response")
            elif "id" in line and "method" in line:
                result = self.until(lambda it: it.get("id") == line["id"] and "method" not in it).get("result") or {}
                made_up |= {"threadId": (result.get("thread") or {}).get("id", made_up.get("threadId"))}
                made_up |= {"sessionId": result.get("sessionId", made_up.get("sessionId"))}

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
        self.home = os.path.join(root, "home")
        for folder in [self.home, *(self.recorded(name) for name in MODELS)]:
            os.makedirs(folder)
        sim = f'{{name="sim",base_url="http://{self.sim}/openai/v1",wire_api="responses",env_key="SIM_KEY",request_max_retries=0,stream_max_retries=0}}'
        commands = {
            "claude": ("claude-code", [os.path.join(programs, "claude")], ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"]),
            "codex": ("openai-codex", [os.path.join(programs, "codex"), "-c", 'model_provider="sim"', "-c", f"model_providers.sim={sim}"], ["SIM_KEY"]),
            "gemini": ("google-gemini", [os.path.join(programs, "gemini")], ["GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"]),
        }
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
            for name, (agent, command, env) in commands.items():
                watched = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorder.py"), self.recorded(name), *command]
                for way, command, warm in [("cold", command, 0), ("warm", command, 1), ("watched", watched, 0)]:
                    config.write(f'[[provider]]\nname = "{name}-{way}"\nagent = "{agent}"\ncommand = {json.dumps(command)}\nenv = {json.dumps(env)}\nwarm = {warm}\n')

    def by_hand(self, name):
        """Starts the CLI as the gateway did when it was watched, and tells it the same lines."""
        own = tempfile.mkdtemp(dir=self.root)
        shutil.copytree(os.path.join(self.recorded(name), "own"), own, symlinks=True, dirs_exist_ok=True)
        with open(os.path.join(self.recorded(name), "start.json")) as file:
            noted = file.read()
        start = json.loads(noted.replace(json.loads(noted)["own"], own))
        hand = Hand(start["command"], start["environment"], os.path.join(own, "work"))
        with open(os.path.join(self.recorded(name), "input.jsonl")) as lines:
            hand.tell([json.loads(line) for line in lines], own)
        return hand

    def recorded(self, name):
        return os.path.join(self.root, f"recorded-{name}")

    def asked(self, name, way):
        """Asks for an answer and reads it whole: when its first words were there."""
        body = {"model": f"{name}-{way}/{MODELS[name]}", "stream": True, "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}]}
        request = urllib.request.Request(f"http://{self.gateway}/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=SECONDS_MAX) as reply:
            began = None
            for line in reply:
                if began is None and (b'"reasoning_content"' in line or b'"content":"' in line):
                    began = time.monotonic()
            return began

    def measure(self, name, rounds):
        times = {"hand": [], "cold": [], "warm": []}
        # The first call also asks what the CLI can; the watched one is what is done by hand.
        for way in ["cold", "warm", "watched"]:
            self.asked(name, way)
        for _ in range(rounds):
            time.sleep(1)  # What is replaced is replaced.
            for way in times:
                start = time.monotonic()
                if way == "hand":
                    hand = self.by_hand(name)
                    times[way].append(time.monotonic() - start)
                    hand.end()
                else:
                    times[way].append(self.asked(name, way) - start)
        hand, cold, warm = (statistics.median(times[way]) for way in times)
        print(f"{name:<8} by hand {hand:6.2f} s   gateway {cold:6.2f} s ({cold / hand:4.2f})   warm {warm:6.2f} s ({warm / cold:4.2f} of cold)", flush=True)

    def rest(self, process):
        """What the gateway does while processes wait and nobody asks."""
        waiting = len(os.listdir(os.path.join(self.root, "data", "agents", "processes")))
        before = cpu_s(process.pid)
        time.sleep(10)
        print(f"{waiting} processes wait: {(cpu_s(process.pid) - before) * 1000:.0f} ms of the gateway's CPU in 10 s", flush=True)

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
                self.rest(started[1])
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
