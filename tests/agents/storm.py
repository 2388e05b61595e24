"""Real agent CLIs as models under attack: killed in mid-stream, asked by fifty clients at once, left by a hundred, and stopped with calls under way.

Usage: storm.py SABIR PROGRAMS [CELL…], where a CELL is `claude`, `codex` or `gemini`. Simulators play the models. Each cell has a gateway of its own.
"""

import json
import os
import random
import signal
import socket
import subprocess
import threading
import time
import urllib.request

from cells import free_port, main, verdict
from models import SECONDS_MAX, wait_for

AT_ONCE, LEAVING, PROCESSES_MAX = 50, 100, 4

# What a gateway has to end all that it started.
STOPPING_S = 5

ANSWERS = {"claude": "claude-sonnet-5-1", "codex": "sim-model", "gemini": "gemini-2.5-flash"}


class Bench:
    def __init__(self, sabir, programs, root):
        self.sabir, self.programs, self.root = sabir, programs, root
        self.sim = f"127.0.0.1:{free_port()}"
        self.variables = {
            "PATH": os.environ["PATH"],
            "HOME": os.path.join(root, "home"),
            "ANTHROPIC_BASE_URL": f"http://{self.sim}/anthropic",
            "ANTHROPIC_API_KEY": "sk-simulated-key",
            "GOOGLE_GEMINI_BASE_URL": f"http://{self.sim}/gemini",
            "GEMINI_API_KEY": "simulated-gemini-key",
            "SIM_KEY": "sk-simulated-key",
        }
        os.makedirs(self.variables["HOME"])

    def config(self, name):
        """A configuration with one CLI, and where it listens."""
        listen = f"127.0.0.1:{free_port()}"
        sim = f'{{name="sim",base_url="http://{self.sim}/openai/v1",wire_api="responses",env_key="SIM_KEY",request_max_retries=0,stream_max_retries=0}}'
        agent, more, env = {
            "claude": ("claude-code", [], ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"]),
            "codex": ("openai-codex", ["-c", 'model_provider="sim"', "-c", f"model_providers.sim={sim}"], ["SIM_KEY"]),
            "gemini": ("google-gemini", [], ["GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"]),
        }[name]
        command = json.dumps([os.path.join(self.programs, name), *more])
        path = os.path.join(self.root, f"{name}.toml")
        with open(path, "w") as config:
            config.write(f'listen = "{listen}"\nenv_providers = false\n[store]\nurl = "memory:"\n[limits]\nshutdown_grace = "1s"\nmax_queue_wait = "10m"\n')
            config.write(f'[[provider]]\nname = "cli"\nagent = "{agent}"\ncommand = {command}\nenv = {json.dumps(env)}\nretries = 0\nprocesses_max = {PROCESSES_MAX}\n')
        return path, listen

    def run(self, chosen):
        with open(os.path.join(self.root, "log"), "w") as log:
            sim = subprocess.Popen([self.sabir, "sim", "--listen", self.sim], stdout=log, stderr=log, env=self.variables)
            try:
                wait_for(f"http://{self.sim}/_sim/requests")
                return sum(verdict(name, self.cell, name, log) for name in ANSWERS if not chosen or name in chosen)
            finally:
                sim.terminate()
                sim.wait(SECONDS_MAX)

    def cell(self, name, log):
        config, self.gateway = self.config(name)
        self.model, self.data = ANSWERS[name], os.path.join(self.root, f"data-{name}")
        serve = [self.sabir, "serve", "--config", config, "--data", self.data]
        gateway = subprocess.Popen(serve, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.variables, cwd=self.root)
        try:
            wait_for(f"http://{self.gateway}/readyz")
            self.kill()
            most = self.crowd()
            self.leave()
            took = self.stop(gateway)
        finally:
            gateway.kill()
            gateway.wait(SECONDS_MAX)
        return f"killed; {AT_ONCE} at once in at most {most} processes; {LEAVING} left; stopped in {took:.1f} s"

    def body(self, model, text, stream):
        return {"model": f"cli/{model}", "stream": stream, "messages": [{"role": "user", "content": text}]}

    def open(self, model, text, stream=True):
        body = json.dumps(self.body(model, text, stream)).encode()
        request = urllib.request.Request(f"http://{self.gateway}/v1/chat/completions", body, {"content-type": "application/json"})
        return urllib.request.urlopen(request, timeout=600)

    def answer(self, text="hello"):
        with self.open(self.model, text, stream=False) as reply:
            return json.loads(reply.read())["choices"][0]["message"]["content"]

    def processes(self):
        folder = os.path.join(self.data, "agents", "processes")
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []

    def groups(self):
        """The processes that the gateway's CLIs are: they work below its folder."""
        found = []
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{entry}/cwd").startswith(os.path.join(self.data, "agents", "processes")):
                    found.append(int(entry))
            except OSError:
                pass
        return found

    def begun(self):
        """A stream in its middle."""
        reply = self.open("fault-slow-stream-100", "repeat 2000 words")
        for line in reply:
            if b'"content":"' in line or b'"reasoning_content"' in line:
                return reply
        raise AssertionError("it said nothing")

    def kill(self):
        reply = self.begun()
        for process in self.groups():
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        rest = reply.read()
        assert b'"error"' in rest and b"[DONE]" not in rest, f"no error: {rest[-500:]}"
        assert self.model in self.answer(), "the next call is not answered"

    def crowd(self):
        answers, most = [], 0

        def ask(number):
            answers.append(f"pangolin-{number}" in self.answer(f"Say pangolin-{number}"))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(AT_ONCE)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            most = max(most, len(self.processes()))
            time.sleep(0.02)
        assert answers == [True] * AT_ONCE, f"{answers.count(True)} of {AT_ONCE}"
        assert most <= PROCESSES_MAX, f"{most} processes"
        return most

    def leave(self):
        """Clients that leave at any moment: in the queue, while the CLI starts, and while it answers."""
        chance = random.Random(17)

        body = json.dumps(self.body("fault-slow-stream-100", "repeat 2000 words", True))
        head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        host, port = self.gateway.split(":")

        def ask(after):
            with socket.create_connection((host, int(port)), SECONDS_MAX) as connection:
                connection.sendall((head + body).encode())
                time.sleep(after)

        threads = [threading.Thread(target=ask, args=(chance.uniform(0.01, 6),)) for _ in range(LEAVING)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS_MAX)
        deadline = time.monotonic() + 10
        # One may wait for the next call.
        while len(self.processes()) > 1 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert len(self.processes()) <= 1, f"left behind: {self.processes()}"
        assert self.model in self.answer(), "the next call is not answered"

    def stop(self, gateway):
        streams = [self.begun() for _ in range(PROCESSES_MAX)]
        assert self.groups(), "nothing runs"
        began = time.monotonic()
        gateway.send_signal(signal.SIGTERM)
        gateway.wait(SECONDS_MAX)
        while self.groups() and time.monotonic() < began + SECONDS_MAX:
            time.sleep(0.05)
        took = time.monotonic() - began
        for stream in streams:
            stream.close()
        assert took < STOPPING_S and not self.groups() and not self.processes(), f"{took:.1f} s, {self.groups()} {self.processes()}"
        return took


if __name__ == "__main__":
    main(Bench, __doc__)
