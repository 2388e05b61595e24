"""A terminal to press keys in and to read the screen of: a window of a tmux server that belongs to one test."""

import itertools
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

# No step takes longer.
PATIENCE_S = 30.0

SERVERS = itertools.count()


class Terminal:
    def __init__(self, command: Sequence[str], folder: Path, env: dict[str, str], columns: int = 100, lines: int = 50) -> None:
        # A server of its own: one that is about to end would take the next window with it.
        self.server = f"sabir-{os.getpid()}-{next(SERVERS)}"
        # The path is that of whoever opens the window, whatever else it is told.
        self.env = {**os.environ, "PATH": env.get("PATH", os.environ["PATH"])}
        variables = [part for name, value in env.items() for part in ("-e", f"{name}={value}")]
        size = ["-x", str(columns), "-y", str(lines)]
        # The window stays when its program has ended, and says so: tmux itself does not always notice the end of a short one.
        shell = ["bash", "-c", 'trap : INT; "$@"; printf "\\n[ended %s]\\n" "$?"; exec cat', "bash"]
        self.tmux("new-session", "-d", *size, "-c", str(folder), *variables, *shell, *command)

    def tmux(self, *arguments: str) -> str:
        command = ["tmux", "-L", self.server, "-f", "/dev/null", *arguments]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, env=self.env, timeout=PATIENCE_S)
        assert ran.returncode == 0, f"tmux {arguments}: {ran.stderr}"
        return ran.stdout

    def type(self, text: str) -> None:
        """Types text and ends its line."""
        self.press("-l", "--", text)
        self.press("Enter")

    def press(self, *keys: str) -> None:
        """Presses keys by their names, such as `C-c` and `Up`."""
        self.tmux("send-keys", *keys)

    def signal(self, name: str) -> None:
        """Sends a signal to the program alone: `KILL` is a crash."""
        shell = self.tmux("display-message", "-p", "#{pane_pid}").strip()
        subprocess.run(["pkill", f"-{name}", "-P", shell], check=True)

    def screen(self, *options: str) -> str:
        return self.tmux("capture-pane", "-p", "-S", "-", *options)

    def wait(self, text: str, count: int = 1) -> str:
        """Waits until the text is on the screen, so often."""
        return self.wait_until(lambda screen: screen.count(text) >= count, f"{text!r} is not on the screen")

    def answer(self, text: str) -> None:
        """Types text once the program asks for it: what is typed before is shown twice."""
        self.ask("-l", "--", text)
        # Until it is shown, the screen still asks: whoever answered next would answer too early.
        self.wait_until(lambda screen: screen.rstrip().endswith(text.rstrip()[-8:]), f"{text!r} is not shown")
        self.press("Enter")

    def ask(self, *keys: str) -> None:
        """Presses keys once the program asks for some."""
        self.wait_until_asked()
        self.press(*keys)

    def wait_until_asked(self) -> None:
        self.wait_until(lambda screen: screen.rstrip().endswith("\n>"), "nothing is asked for")

    def settings(self) -> str:
        """What the system does with keys before the program gets them."""
        terminal = self.tmux("display-message", "-p", "#{pane_tty}").strip()
        return subprocess.run(["stty", "-a", "-F", terminal], capture_output=True, text=True, check=True).stdout

    def leave(self) -> None:
        self.ask("C-d")

    def wait_until(self, is_there: Callable[[str], bool], problem: str) -> str:
        until = time.monotonic() + PATIENCE_S
        while True:
            screen = self.screen()
            if is_there(screen):
                return screen
            assert time.monotonic() < until, f"{problem}:\n{screen}"
            time.sleep(0.05)

    def wait_for_end(self) -> str:
        """Waits until the program has ended, and returns its last screen."""
        return self.wait("[ended ")

    def close(self) -> None:
        subprocess.run(["tmux", "-L", self.server, "kill-server"], capture_output=True, check=False)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
