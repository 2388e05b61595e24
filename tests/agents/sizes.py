"""How much a session of a real agent CLI takes on disk where everything is kept: at most so many times the bytes of its last
request, which holds all that was said before, its tools and its instructions.

Usage: sizes.py SABIR PROGRAMS [--turns N], where SABIR is the binary and PROGRAMS the folder with the CLIs.
"""

import argparse
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import urllib.request
from contextlib import closing, contextmanager

from agents import Claude, Codex, dictate

RATIO_MAX = 1.2
"""Of the bytes on disk to those of the last request."""

SESSION_SECONDS_MAX = 1500
START_SECONDS_MAX = 20

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")

LINES = 220
"""Of the output of each call: little more than a kilobyte."""


class Session:
    """One CLI, and the simulator that has it call a tool turn after turn."""

    def __init__(self, agent, provider, protocol, root, order):
        self.agent, self.provider, self.protocol, self.root, self.order = agent, provider, protocol, root, order

    def arguments(self, folder, turns):
        prompt = dictate(*(self.order(f"seq {turn * 1000} {turn * 1000 + LINES}") for turn in range(turns)))
        given = self.agent.arguments(folder)
        return [*given[:-1], prompt]


SESSIONS = (
    Session(Claude(), "anthropic", "anthropic-messages", "/anthropic", lambda command: ("Bash", {"command": command})),
    Session(
        Codex(), "responses", "openai-responses", "/openai/v1", lambda command: ("exec_command", {"cmd": command})
    ),
)


@contextmanager
def server(arguments, log):
    """A process that says where it listens; yields its address."""
    with open(log, "w") as errors:
        process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True)
        timer = threading.Timer(START_SECONDS_MAX, process.kill)
        timer.start()
        try:
            address = next(found.group() for line in process.stdout if (found := ADDRESS.search(line)))
            timer.cancel()
            yield address
        finally:
            timer.cancel()
            process.terminate()
            process.wait(START_SECONDS_MAX)


def measured(sabir, programs, session, turns, root):
    """The bytes of the session on disk and of its last request, and how many requests there were."""
    folder, home, data = (os.path.join(root, name) for name in ("work", "home", "data"))
    for path in (folder, home):
        os.makedirs(path)
    config = os.path.join(root, "sabir.toml")
    with server([sabir, "sim", "--listen", "127.0.0.1:0"], os.path.join(root, "sim.log")) as simulators:
        with open(config, "w") as file:
            file.write(
                f'env_providers = false\n[[provider]]\nname = "{session.provider}"\nprotocol = "{session.protocol}"\n'
                f'base_url = "{simulators}{session.root}"\napi_key = {{ value = "only-for-tests" }}\n[store]\nrecord = "full"\n'
            )
        serve = [sabir, "serve", "--listen", "127.0.0.1:0", "--config", config, "--data", data]
        with server(serve, os.path.join(root, "empty.log")):
            pass
        empty = bytes_of(os.path.join(data, "sabir.db"))
        with server(serve, os.path.join(root, "gateway.log")) as gateway:
            run_session(sabir, programs, session, turns, (folder, home, gateway))
            requests = json.loads(fetched(f"{simulators}/_sim/requests?holds=seq"))
        transcript = max(compact(request["body"]) for request in requests)
    return bytes_of(os.path.join(data, "sabir.db")) - empty, transcript, len(requests)


def run_session(sabir, programs, session, turns, place):
    folder, home, gateway = place
    variables = {"HOME": home, "PATH": os.pathsep.join([programs, os.environ["PATH"]])}
    options = ["--config", listening(folder, gateway), "--model", f"{session.provider}/long"]
    command = [sabir, "run", session.agent.name, *options, "--", *session.arguments(folder, turns)]
    run = subprocess.run(
        command,
        cwd=folder,
        env=variables | session.agent.variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SESSION_SECONDS_MAX,
    )
    assert run.returncode == 0, f"exit code {run.returncode}: {run.stdout[-2000:]}\n{run.stderr[-2000:]}"


def listening(folder, gateway):
    """A configuration from which `sabir run` learns where the gateway is."""
    path = os.path.join(os.path.dirname(folder), "run.toml")
    with open(path, "w") as file:
        file.write(f'listen = "{gateway.removeprefix("http://")}"\nenv_providers = false\n')
    return path


def fetched(url):
    with urllib.request.urlopen(url, timeout=30) as reply:
        return reply.read()


def compact(value):
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def bytes_of(file):
    """What the store takes of its file, the log beside it included."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        pages, free, size = (
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sabir")
    parser.add_argument("programs")
    parser.add_argument("--turns", type=int, default=10)
    chosen = parser.parse_args()
    sabir, programs = os.path.abspath(chosen.sabir), os.path.abspath(chosen.programs)
    failures = 0
    for session in SESSIONS:
        with tempfile.TemporaryDirectory(prefix="sabir-sizes-") as root:
            kept, transcript, requests = measured(sabir, programs, session, chosen.turns, root)
        ratio = kept / transcript
        verdict = "ok" if ratio <= RATIO_MAX and requests > chosen.turns else "FAILED"
        failures += verdict != "ok"
        figures = f"{kept:,} bytes on disk, {transcript:,} of the last request, {ratio:.2f} times"
        print(f"{session.agent.name}: {verdict}, {requests} requests, {figures}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
