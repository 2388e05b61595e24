"""The manual's own examples, pasted: every `curl` and every line of Python that it says can be tried."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from scenarios import equal, holds

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "docs/gateway.md", "docs/configuration.md", "docs/protocols/*.md")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n(?:\n```json\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
USUAL_ADDRESS = "127.0.0.1:4747"
TIMEOUT_S = 30


@dataclass(frozen=True)
class Example:
    page: str
    language: str
    text: str
    # What the page says that is answered.
    answer: Optional[str]

    def run(self, base: str) -> None:
        text = self.text.replace(USUAL_ADDRESS, base.removeprefix("http://"))
        output = self.in_python(text) if self.language == "python" else self.in_shell(text)
        equal(bool(output.strip()), True, f"output of {self.text!r}")
        if self.answer is not None:
            holds(output, self.answer.strip(), f"output of {self.text!r}")

    def in_python(self, text: str) -> str:
        """In this process, where the SDKs are already loaded: that takes longer than all calls together."""
        output: list[str] = []
        exec(compile(text, self.page, "exec"), {"print": lambda *words, **_: output.append(" ".join(map(str, words)))})
        return "\n".join(output)

    def in_shell(self, text: str) -> str:
        program = ["bash", "-euo", "pipefail", "-c", text]
        found = subprocess.run(program, capture_output=True, text=True, timeout=TIMEOUT_S)
        equal(found.returncode, 0, f"exit code of {self.text!r} ({found.stderr[-300:]})")
        return found.stdout


def examples() -> Iterator[Example]:
    for page in sorted(path for pattern in PAGES for path in ROOT.glob(pattern)):
        for language, text, answer in BLOCK.findall(page.read_text()):
            is_call = language == "python" or language == "sh" and text.startswith("curl ")
            if is_call and USUAL_ADDRESS in text:
                yield Example(str(page.relative_to(ROOT)), language, text, answer or None)


def tests(base: str) -> Iterator[tuple[str, Callable[[], None]]]:
    found = [it for it in examples() if it.language == "python" or shutil.which("curl")]
    equal(len(found) > 0, True, "examples in the manual")
    for number, example in enumerate(found):
        yield f"{example.page} {number}", lambda example=example: example.run(base)
