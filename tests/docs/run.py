"""The commands of a page of the documentation, run in their order, and what the page shows of them held against what they print.

A `console` block has commands behind `$ ` and what they print; a `terminal` block has one command, what is typed behind `> `,
and what is then on the screen; a `python` block is a program. `…` stands for anything, on a line of its own for any lines.

usage: run.py BINARY PYTHON PAGE…"""

import contextlib
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "terminal"))
from terminal import PATIENCE_S, Terminal  # noqa: E402

BLOCK = re.compile(r"^```(console|terminal|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# What the pages call the gateway, which listens elsewhere here.
ADDRESS = "127.0.0.1:4747"


class Page:
    """A folder in which the commands of one page are run."""

    def __init__(self, binary: Path, python: str, folder: Path) -> None:
        self.folder, self.interpreter, self.background = folder, python, []
        self.address = f"127.0.0.1:{free_port()}"
        (folder / "sabir.toml").write_text(f'listen = "{self.address}"\nenv_providers = false\n')
        path = f"{binary.parent}:{os.environ['PATH']}"
        self.env = {"PATH": path, "HOME": str(folder), "SABIR_DATA_DIR": str(folder), "LC_ALL": "C.UTF-8"}

    def run(self, text: str) -> int:
        blocks = BLOCK.findall(text)
        for kind, block in blocks:
            run = {"console": self.console, "terminal": self.terminal, "python": self.program}[kind]
            run(block.replace(ADDRESS, self.address))
        return len(blocks)

    def console(self, block: str) -> None:
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = step.partition("\n")
            if command.endswith(" &"):
                self.start(command.removesuffix(" &"))
            else:
                self.check(command, expected)

    def start(self, command: str) -> None:
        shell = ["bash", "-c", f"exec {command}"]
        self.background.append(subprocess.Popen(shell, cwd=self.folder, env=self.env))
        host, port = self.address.split(":")
        until = time.monotonic() + PATIENCE_S
        while True:
            with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 1):
                return
            assert time.monotonic() < until, f"{command}: nobody listens at {self.address}"
            time.sleep(0.05)

    def check(self, command: str, expected: str) -> None:
        until = time.monotonic() + PATIENCE_S
        while True:
            shell = ["bash", "-c", f"exec 2>&1; {command}"]
            ran = subprocess.run(shell, cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=PATIENCE_S)
            is_right = ran.returncode == 0 and fits(expected, ran.stdout)
            # A call is counted within a second of its end.
            if is_right or not command.startswith("sabir usage") or time.monotonic() > until:
                break
            time.sleep(0.2)
        assert is_right, f"$ {command}\nthe page shows\n{expected}\nit prints ({ran.returncode})\n{ran.stdout}"

    def terminal(self, block: str) -> None:
        first, *lines = block.splitlines()
        with Terminal(["bash", "-c", first.removeprefix("$ ")], self.folder, {**self.env, "TERM": "tmux-256color"}, 120) as terminal:
            for line in lines:
                if line.startswith("> "):
                    terminal.answer(line.removeprefix("> "))
                else:
                    terminal.wait(line)
            terminal.wait_for_end()

    def program(self, block: str) -> None:
        ran = subprocess.run([self.interpreter, "-c", block], cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=60)
        assert ran.returncode == 0 and ran.stdout, f"{block}\n{ran.stdout}{ran.stderr}"

    def end(self) -> None:
        for process in self.background:
            process.terminate()
            process.wait(PATIENCE_S)


def fits(expected: str, printed: str) -> bool:
    """Whether what was printed is what is shown, whatever the width of its columns."""
    lines = plain(expected).splitlines()
    patterns = (r"(?:.*\n)*" if line == "…" else re.escape(line).replace("…", ".*") + r"\n" for line in lines)
    return re.fullmatch("".join(patterns), plain(printed)) is not None


def plain(text: str) -> str:
    lines = (" ".join(line.split()) for line in text.strip().splitlines())
    return "\n".join(lines) + "\n"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main() -> None:
    binary, python, *pages = sys.argv[1:]
    for name in pages:
        with tempfile.TemporaryDirectory(prefix="sabir-docs-") as folder:
            page = Page(Path(binary).resolve(), python, Path(folder))
            try:
                count = page.run(Path(name).read_text())
            finally:
                page.end()
        assert count, f"{name} has no blocks to run"
        print(f"{name}: {count} blocks ran and printed what the page shows")


if __name__ == "__main__":
    main()
