"""The simulators and a gateway before them, each a process of its own on a free port of the loopback."""

import contextlib
import json
import os
import re
import subprocess
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from arrived import Arrived, camel

PROVIDERS = {
    "chat": ("openai-chat", "/openai/v1"),
    "responses": ("openai-responses", "/openai/v1"),
    "anthropic": ("anthropic-messages", "/anthropic"),
    "gemini": ("gemini", "/gemini"),
}
START_S = 20
END_S = 10


@dataclass(frozen=True)
class Patience:
    """How long a gateway waits for the next byte of an upstream, and how long an answer may take altogether."""

    byte_s: int
    answer_s: int


USUAL = Patience(byte_s=60, answer_s=600)
SHORT = Patience(byte_s=3, answer_s=6)


class Process:
    """A command of the binary that listens; the first line that names its address says that it does."""

    headers: dict[str, str] = {}

    def __init__(self, arguments: list[str], log: Path, variables: Optional[dict[str, str]] = None) -> None:
        self.log = log.open("ab")
        self.process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            # Neither a configuration of this folder's nor one of the user's may play a part.
            cwd=log.parent,
            env=clean_environment() | {"HOME": str(log.parent)} | (variables or {}),
        )
        self.base = self._base()
        # What is printed later is read too, or the process would block on a full pipe.
        threading.Thread(target=self._drain, daemon=True).start()

    def _base(self) -> str:
        timer = threading.Timer(START_S, self.process.kill)
        timer.start()
        try:
            for line in self.process.stdout:
                found = re.search(r"http://127\.0\.0\.1:\d+", line)
                if found:
                    return found.group()
        finally:
            timer.cancel()
        raise RuntimeError(f"{self.process.args} did not start; see {self.log.name}")

    def _drain(self) -> None:
        for _ in self.process.stdout:
            pass

    def is_running(self) -> bool:
        return self.process.poll() is None

    def end(self) -> None:
        """Ends the process; a second time does nothing."""
        if self.log.closed:
            return
        self.process.terminate()
        try:
            self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def get(self, path: str) -> str:
        asked = urllib.request.Request(self.base + path, headers=self.headers)
        with urllib.request.urlopen(asked, timeout=10) as reply:
            return reply.read().decode()

    def open_files(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def sockets(self) -> int:
        """How many sockets the process holds, its listening ones included."""
        links = Path(f"/proc/{self.process.pid}/fd").iterdir()
        return sum(_target(link).startswith("socket:") for link in links)

    def threads(self) -> int:
        """How many threads it has, without those of the runtime's pool: they come with work that blocks, and end ten seconds behind it."""
        return sum(name != "tokio-rt-worker" for name in self.thread_names())

    def thread_names(self) -> list[str]:
        names = []
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            # Some end while they are looked at.
            with contextlib.suppress(OSError):
                names.append((task / "comm").read_text().strip())
        return names

    def resident_bytes(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) * 1024


def clean_environment() -> dict[str, str]:
    """This process's own variables without those that would make a gateway behave otherwise."""
    ours = re.compile(r"(?i).*_API_KEY|.*_PROXY|SABIR_.*|SSL_CERT_.*|XDG_CONFIG_HOME")
    return {name: value for name, value in os.environ.items() if not ours.fullmatch(name)}


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except FileNotFoundError:
        return ""


class Simulators(Process):
    def __init__(self, binary: Path, folder: Path) -> None:
        super().__init__([str(binary.resolve()), "sim", "--listen", "127.0.0.1:0"], folder / "sim.log")

    def arrived(self, model: str) -> list[Arrived]:
        """The requests for a model, in the order of their arrival."""
        # What is no object was sent by a test of bad bodies.
        found = [it for it in json.loads(self.get(f"/_sim/requests?holds={model}")) if isinstance(it["body"], dict)]
        return [_arrived(it) for it in found if model in (_last(it["body"].get("model")), _model_in(it["path"]))]

    def again(self, request: Arrived) -> dict:
        """Sends a request that arrived once more, for a whole answer: what the upstream itself says to it."""
        root = {protocol: root for protocol, root in PROVIDERS.values()}[request.protocol].removesuffix("/v1")
        path = request.path.replace("streamGenerateContent", "generateContent").replace("?alt=sse", "")
        body = {key: value for key, value in request.body.items() if key not in ("stream", "stream_options")}
        headers = {"content-type": "application/json", "authorization": "Bearer none"}
        headers["anthropic-version"] = "2023-06-01"
        asked = urllib.request.Request(self.base + root + path, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(asked, timeout=10) as reply:
            return json.load(reply)


def _arrived(found: dict) -> Arrived:
    return Arrived(
        protocol=found["protocol"],
        path=found["path"],
        headers=found["headers"],
        body=camel(found["body"]) if found["protocol"] == "gemini" else found["body"],
        status=found["status"],
        is_valid=found["valid"],
    )


def _last(model: Optional[str]) -> str:
    return (model or "").removeprefix("models/")


def _model_in(path: str) -> str:
    found = re.search(r"/models/([^:?]+):", path)
    return found.group(1) if found else ""


class Gateway(Process):
    """A gateway with a configuration or without any, in an environment that says nothing but `variables`."""

    def __init__(
        self,
        binary: Path,
        folder: Path,
        name: str,
        config: Optional[str],
        variables: Optional[dict[str, str]] = None,
        credentials: Optional[dict[str, str]] = None,
        port: int = 0,
    ) -> None:
        # What its own pages are asked with.
        self.headers = credentials or {}
        arguments = [str(binary.resolve()), "serve", "--listen", f"127.0.0.1:{port}"]
        # A store of its own: what one gateway keeps is not for the others.
        arguments += ["--data", str(folder / f"{name}-data")]
        if config is not None:
            file = folder / f"{name}.toml"
            file.write_text(config)
            arguments += ["--config", str(file)]
        self.log_file = folder / f"{name}.log"
        super().__init__(arguments, self.log_file, variables)
        # What it needs when nothing is under way; its threads begin behind the line that says where it listens.
        time.sleep(0.2)
        self.settled(START_S)
        # One of them asks agent CLIs for their versions and ends.
        deadline = time.monotonic() + START_S
        while "sabir-advice" in self.thread_names() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.files, self.threads_before = self.open_files(), self.threads()

    def metrics(self) -> dict[str, float]:
        lines = [line for line in self.get("/metrics").splitlines() if line and not line.startswith("#")]
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}

    def settled(self, deadline_s: float) -> dict[str, float]:
        """The metrics once nothing is under way but the reading of them, or the last ones before the deadline."""
        end = time.monotonic() + deadline_s
        while True:
            metrics = self.metrics()
            is_quiet = metrics["sabir_requests_in_flight"] == 0 and metrics["sabir_connections"] <= 1
            if is_quiet or time.monotonic() > end:
                return metrics
            time.sleep(0.05)


def config(upstream: str, patience: Patience, providers: dict[str, str]) -> str:
    """A configuration with providers of the given names, each before the simulator of one of `PROVIDERS`."""
    head = f'env_providers = false\n[log]\nlevel = "warn"\n[limits]\nmax_stream_duration = "{patience.answer_s}s"\n'
    return head + "".join(
        f'[[provider]]\nname = "{name}"\nprotocol = "{protocol}"\nbase_url = "{upstream}{root}"\n'
        f'api_key = {{ value = "only-for-tests" }}\n'
        f'idle_timeout = "{patience.byte_s}s"\nfirst_byte_timeout = "{patience.byte_s}s"\n'
        for name, (protocol, root) in ((name, PROVIDERS[simulator]) for name, simulator in providers.items())
    )
