"""Sessions of the agent CLIs: what a CLI writes of a session is the conversation that its traffic made.

Each CLI looks at a picture and runs a command on a gateway that keeps everything. Its session file, imported, must add nothing
to what was recorded; imported where nothing is known, it must say the same. And a session that goes on after its import stays one
conversation.
"""

import glob
import json
import os
import struct
import subprocess
import zlib

CLOCK_MS = 1000
"""What a line may be written later than it says."""

IMPORT_SECONDS_MAX = 60


def picture(path):
    """Writes a red square."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress(b"".join(b"\0" + b"\xff\0\0" * 16 for _ in range(16)))
    size = struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))


def check(bench, agent, folder, model):
    """Compares what was recorded of a session with what its file says."""
    home = os.path.join(os.path.dirname(folder), "home")
    session = only(glob.glob(agent.sessions, root_dir=home, recursive=True, include_hidden=True), home)
    fresh = ["--config", bench.empty_config(), "--data", os.path.join(bench.root, f"fresh-{agent.name}")]
    first = import_file(bench, session, fresh)
    again = import_file(bench, session, fresh)
    assert (again["id"], again["added"]) == (first["id"], 0), f"imported twice: {again}"
    check_times(bench, first["id"], session, fresh)
    alone = json.loads(run(bench, "export", first["id"], "--as", agent.protocol, *fresh))
    for needed in agent.holds:
        assert needed in json.dumps(alone), f"the conversation lacks {needed}"
    check_chat(bench, agent, first["id"], model, fresh)
    compare(bench, agent, session, alone, bench.wait_for_conversation(model, "This is Sabir's "))
    return f"{first['added']} messages"


def check_chat(bench, agent, conversation, model, place):
    """Goes on with an imported session by its id: its own API, which is strict, takes all of it back."""
    command = [bench.sabir, "chat", "--conversation", conversation, "--model", model, *place]
    done = subprocess.run(command, input="Say quince.", capture_output=True, text=True, timeout=IMPORT_SECONDS_MAX)
    assert done.returncode == 0 and "quince" in done.stdout, f"{' '.join(command)}: {done.stderr}"
    told = run(bench, "export", conversation, "--as", agent.protocol, *place)
    for needed in [*agent.holds, "quince"]:
        assert needed in told, f"the conversation lacks {needed} since it went on"


def check_going_on(bench, agent, folder, model, holds):
    """Imports a session on a gateway that knows nothing of it, and has the CLI go on with it there."""
    home = os.path.join(os.path.dirname(folder), "home")
    session = only(glob.glob(agent.sessions, root_dir=home, recursive=True, include_hidden=True), home)
    with bench.serving():
        imported = import_file(bench, session, ["--config", bench.config, "--data", bench.data])
        word = "quince"
        run = bench.start(agent, folder, ["--config", bench.config, "--model", model], agent.go_on(f"Say {word}."))
        assert run.returncode == 0, f"exit code {run.returncode}: {run.stdout}\n{run.stderr}"
        joined = bench.wait_for_conversation(model, word)
        assert joined == imported["id"], f"the session went on as {joined} beside {imported['id']}"
        told = json.dumps(messages(bench, joined, agent.protocol))
        for needed in holds:
            assert needed in told, f"the conversation lacks {needed} since it went on"


def compare(bench, agent, session, alone, recorded):
    """The file adds nothing to the conversation that was recorded, and says what it says."""
    before = messages(bench, recorded, agent.protocol)
    imported = import_file(bench, session, ["--config", bench.config, "--data", bench.data])
    assert imported["id"] == recorded, f"{imported['id']} instead of {recorded}"
    assert imported["added"] == 0, f"{imported['added']} messages were added to what was recorded"
    assert messages(bench, recorded, agent.protocol) == before, "the conversation has changed"
    missing = [it for it in meanings(alone) if it not in meanings(before)]
    assert not missing, f"the file says what was not recorded: {missing}"
    context = [it for it in meanings(before) if it not in meanings(alone)]
    assert len(context) <= agent.context, f"the file lacks what was recorded: {context}"


def check_times(bench, conversation, session, place):
    """Everything was said before the file was written last, and not all of it when it was imported."""
    transcript = json.loads(run(bench, "export", conversation, *place))
    times = [it["timestamp"] for it in transcript if it["role"] != "system"]
    written = os.path.getmtime(session) * 1000
    late = [time for time in times if time > written + CLOCK_MS]
    assert not late, f"{late} are later than the file of {written}"
    assert times == sorted(times) and len(set(times)) > 1, f"the times are not the file's: {times}"


def messages(bench, conversation, protocol):
    """All that was said, as `export` has it."""
    return json.loads(bench.ask(f"/sabir/v1/conversations/{conversation}/messages?as={protocol}&whole=true"))


def import_file(bench, file, place):
    return json.loads(run(bench, "import", file, "--json", *place))


def run(bench, *arguments):
    command = [bench.sabir, "conversations", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=IMPORT_SECONDS_MAX)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout


def meanings(history):
    """What each text, call, result and picture says, apart from instructions, thinking and ids."""
    elements = history.get("messages") or history.get("input") or history.get("contents")
    parts = [(element, part) for element in elements for part in parts_of(element)]
    return [it for it in (meaning(element, part) for element, part in parts) if it]


def parts_of(element):
    content = element.get("content", element.get("parts", element))
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else [element]


def meaning(element, part):
    if element.get("role") in ("system", "developer") or part.get("type") in ("thinking", "reasoning") or part.get("thought"):
        return None
    kept = {key: value for key, value in part.items() if key in MEANT}
    return json.dumps(kept, sort_keys=True) if any(kept.values()) else None


MEANT = {
    *("text", "source", "name", "input", "content", "image_url", "arguments", "output"),
    *("functionCall", "functionResponse", "inlineData"),
}


def only(found, folder):
    assert len(found) == 1, f"expected one session file in {folder}, found {found}"
    return os.path.join(folder, found[0])
