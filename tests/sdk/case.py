"""One translated body to be judged, as the input file holds it."""

import json
from pathlib import Path
from typing import NamedTuple


class Case(NamedTuple):
    """A body that was written in the protocol `target`, translated from the protocol `source`."""

    name: str
    source: str
    target: str
    kind: str
    body: str
    status: int = 200
    ends: str = "normally"

    @property
    def ends_in_error(self) -> bool:
        return self.ends == "error"


def read(path: Path) -> list[Case]:
    """The cases of one JSON-lines file, or of all such files in a folder."""
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    return [parse(line) for file in files for line in file.read_text("utf-8").split("\n") if line.strip()]


def parse(line: str) -> Case:
    fields = json.loads(line)
    return Case(
        name=fields["case"],
        source=fields["from"],
        target=fields["to"],
        kind=fields["kind"],
        body=fields["body"],
        status=fields["status"] if fields["kind"] == "error" else 200,
        ends=fields.get("ends", "normally"),
    )
