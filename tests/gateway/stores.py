"""What becomes of calls while the store fails, and afterwards: a disk that is full or turns read-only, a locked or damaged file, a
database server that goes and comes back, connections that break; two gateways over one database; and what is never in the files."""

import argparse
import contextlib
import json
import os
import random
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Optional
from urllib.parse import urlsplit

import raw
from servers import PROVIDERS, USUAL, Gateway, Simulators, config

# Behind this the store must work again by itself.
RECOVERY_S = 15.0
SECRET = "gateway-key-that-nobody-may-read"
MODEL = "chat/m"


class Skipped(Exception):
    """The machine cannot do what a test needs."""


class Bench:
    """The simulators and a folder for the gateways of one test."""

    def __init__(self, binary: Path, folder: Path, simulators: Simulators) -> None:
        self.binary, self.folder, self.simulators = binary, folder, simulators

    @contextlib.contextmanager
    def gateway(
        self, name: str, store: str = "", key: str = "", variables: Optional[dict[str, str]] = None
    ) -> Iterator[Gateway]:
        text = config(self.simulators.base, USUAL, {name: name for name in PROVIDERS})
        if store:
            text += f"[store]\n{store}\n"
        if key:
            text += f'[auth]\nrequired = true\n[[auth.key]]\nname = "ci"\nadmin = true\nvalue = {{ value = "{key}" }}\n'
        credentials = {"authorization": f"Bearer {key}"} if key else None
        gateway = Gateway(self.binary, self.folder, name, text, variables, credentials)
        try:
            yield gateway
        finally:
            gateway.end()

    def file(self, name: str) -> Path:
        return self.folder / f"{name}-data" / "sabir.db"

    def arrived(self, text: str) -> list[dict]:
        return json.loads(self.simulators.get(f"/_sim/requests?holds={text}"))


def word() -> str:
    return f"w{random.getrandbits(48):012x}"


def say(gateway: Gateway, text: str, conversation: str, protocol: str = "openai-chat", model: str = MODEL) -> raw.Reply:
    return raw.ask(gateway.base, protocol, model, text, headers={"sabir-conversation": conversation})


def equal(found: object, expected: object, what: str) -> None:
    if found != expected:
        raise AssertionError(f"{what}: {found!r}, expected {expected!r}")


def served(reply: raw.Reply, what: str) -> raw.Reply:
    equal(reply.status, 200, f"{what}: {reply.body[:300]}")
    return reply


def fails(bench: Bench, gateway: Gateway) -> None:
    """While the store fails: state is refused in the client's shape and unsent, everything else is served."""
    # One call may be under way when the trouble shows; it is told at its end.
    first = say(gateway, word(), word())
    equal(first.status, 503, f"a call at the moment of the failure: {first.body[:300]}")
    for protocol in raw.PROTOCOLS:
        text = word()
        refused = say(gateway, text, word(), protocol)
        equal(refused.status, 503, f"{protocol} with state: {refused.body[:300]}")
        shaped(protocol, refused)
        equal(bench.arrived(text), [], f"{protocol}: what was sent upstream")
    for protocol in raw.PROTOCOLS:
        if protocol != "openai-responses":
            served(raw.ask(gateway.base, protocol, MODEL, word()), f"{protocol} without state")
    path, body = raw.request("openai-responses", MODEL, word())
    body["store"] = False
    reply = raw.send(gateway.base, "POST", path, json.dumps(body).encode(), {"content-type": "application/json"})
    served(reply, "openai-responses without state")


def shaped(protocol: str, reply: raw.Reply) -> None:
    error = reply.json()["error"]
    member = {"anthropic-messages": "type", "gemini": "status"}.get(protocol, "code")
    equal(isinstance(error[member], str) and "store" in error["message"], True, f"{protocol}: {error}")


def recovers(call: Callable[[], raw.Reply], what: str) -> raw.Reply:
    """The first answer that is served, soon."""
    end = time.monotonic() + RECOVERY_S
    while True:
        reply = call()
        if reply.status == 200 or time.monotonic() > end:
            return served(reply, f"{what}, {RECOVERY_S:.0f} s after the store works again")
        time.sleep(0.3)


def goes_on(bench: Bench, gateway: Gateway, conversation: str, known: list[str]) -> None:
    """A conversation has all that was acknowledged, whatever happened to it meanwhile."""
    texts: list[str] = []

    def call() -> raw.Reply:
        texts.append(word())
        return say(gateway, texts[-1], conversation)

    recovers(call, "the conversation")
    sent = json.dumps(bench.arrived(texts[-1])[-1]["body"])
    for text in known:
        equal(sent.count(text), 2, f"{text} in {sent}")


def during(bench: Bench, gateway: Gateway, break_it: Callable[[], None], mend_it: Callable[[], None]) -> None:
    """A conversation before, during and after a failure of the store."""
    conversation, before = word(), word()
    served(say(gateway, before, conversation), "before")
    break_it()
    try:
        fails(bench, gateway)
        lost = say(gateway, word(), conversation)
        equal(lost.status, 503, f"the conversation meanwhile: {lost.body[:300]}")
    finally:
        mend_it()
    goes_on(bench, gateway, conversation, [before])


def at_the_end(bench: Bench, gateway: Gateway, break_it: Callable[[], None], mend_it: Callable[[], None]) -> None:
    """A failure while answers are under way: a stream's terminal event is an error, a whole answer is one, and their
    conversations are free afterwards."""
    conversation, before = word(), word()
    served(say(gateway, before, conversation), "before")
    replies: list[raw.Reply] = []
    whole: list[raw.Reply] = []
    texts = {"openai-chat": word(), "anthropic-messages": word()}
    last = word()

    def stream(protocol: str) -> None:
        name = conversation if protocol == "openai-chat" else word()
        headers = {"sabir-conversation": name}
        replies.append(raw.ask(gateway.base, protocol, "chat/fault-slow-stream-100", texts[protocol], True, headers))

    def wait() -> None:
        whole.append(raw.ask(gateway.base, "openai-responses", "chat/fault-slow-first-byte-1500", last))

    threads = [threading.Thread(target=stream, args=(protocol,)) for protocol in texts]
    threads.append(threading.Thread(target=wait))
    for thread in threads:
        thread.start()
    until(lambda: all(bench.arrived(text) for text in (*texts.values(), last)), "all answers are under way")
    break_it()
    for thread in threads:
        thread.join()
    mend_it()
    equal((whole[0].status, whole[0].json()["error"]["code"]), (503, "storage_error"), whole[0].body[:300])
    for reply in replies:
        served(reply, "a stream whose end cannot be stored")
        equal("storage_error" in reply.body or "could not be stored" in reply.body, True, reply.body[-300:])
        equal("[DONE]" in reply.body or "message_stop" in reply.body, False, f"a terminal event: {reply.body[-300:]}")
    goes_on(bench, gateway, conversation, [before])


def until(holds: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + RECOVERY_S
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"not in time: {what}")
        time.sleep(0.02)


# SQLite


class Locker:
    """Another process's lock on the file."""

    def __init__(self, file: Path) -> None:
        self.connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)

    def take(self) -> None:
        self.connection.execute("PRAGMA busy_timeout = 5000")
        self.connection.execute("BEGIN IMMEDIATE")

    def give_back(self) -> None:
        self.connection.execute("ROLLBACK")
        self.connection.close()


def locked_file_at_the_end(bench: Bench) -> None:
    with bench.gateway("locked") as gateway:
        locker = Locker(bench.file("locked"))
        at_the_end(bench, gateway, locker.take, locker.give_back)


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    if os.geteuid() != 0:
        raise Skipped("only root can mount a small disk")
    folder.mkdir(exist_ok=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], capture_output=True)
    if mounted.returncode != 0:
        raise Skipped("a small disk cannot be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def fill(folder: Path) -> None:
    with contextlib.suppress(OSError), (folder / "filler").open("wb", buffering=0) as file:
        while file.write(b"x" * 4096) == 4096:
            pass


def full_disk(bench: Bench) -> None:
    folder = bench.folder / "full-data"
    with small_disk(folder), bench.gateway("full") as gateway:
        during(bench, gateway, lambda: fill(folder), (folder / "filler").unlink)


def full_disk_at_the_end(bench: Bench) -> None:
    folder = bench.folder / "filled-data"
    with small_disk(folder), bench.gateway("filled") as gateway:
        at_the_end(bench, gateway, lambda: fill(folder), (folder / "filler").unlink)


def read_only_disk(bench: Bench) -> None:
    """A store that cannot be written stops the start, and says why."""
    folder = bench.folder / "frozen-data"
    with small_disk(folder):
        with bench.gateway("frozen"):
            pass
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        try:
            with bench.gateway("frozen"):
                raise AssertionError("a gateway started on a disk that cannot be written")
        except RuntimeError:
            log = (bench.folder / "frozen.log").read_text()
            equal("cannot be opened" in log and "written" in log, True, log)


class Freezer:
    """A disk that turns read-only while the gateway writes to it, and back."""

    def __init__(self, bench: Bench, name: str) -> None:
        library, self.switch = bench.folder / "frozen.so", bench.folder / f"{name}-frozen"
        source = Path(__file__).with_name("frozen.c")
        compiled = subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], capture_output=True)
        if compiled.returncode != 0:
            raise Skipped("gcc cannot build what makes writing fail")
        folder = bench.folder.resolve() / f"{name}-data"
        self.variables = {
            "LD_PRELOAD": str(library),
            "FROZEN_FOLDER": str(folder),
            "FROZEN_SWITCH": str(self.switch),
        }

    def freeze(self) -> None:
        self.switch.touch()

    def thaw(self) -> None:
        self.switch.unlink()


def disk_turns_read_only(bench: Bench) -> None:
    freezer = Freezer(bench, "cold")
    with bench.gateway("cold", variables=freezer.variables) as gateway:
        during(bench, gateway, freezer.freeze, freezer.thaw)


def disk_turns_read_only_at_the_end(bench: Bench) -> None:
    freezer = Freezer(bench, "colder")
    with bench.gateway("colder", variables=freezer.variables) as gateway:
        at_the_end(bench, gateway, freezer.freeze, freezer.thaw)


def damaged_file(bench: Bench) -> None:
    """A file whose pages are damaged serves no state, or does not start; what asks for none is served."""
    file = bench.file("damaged")
    with bench.gateway("damaged") as gateway:
        for _ in range(20):
            served(say(gateway, word(), "story"), "before")
    damage(file)
    try:
        with bench.gateway("damaged") as gateway:
            reply = say(gateway, word(), "story")
            equal(reply.status, 503, f"a conversation in a damaged file: {reply.body[:300]}")
            shaped("openai-chat", reply)
            served(raw.ask(gateway.base, "openai-chat", MODEL, word()), "a call without state")
    except RuntimeError:
        log = (bench.folder / "damaged.log").read_text()
        equal("cannot be opened" in log and "damaged" in log, True, log)


def damage(file: Path) -> None:
    """Overwrites everything but the first page. The write-ahead log is in the file by now."""
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    size = file.stat().st_size
    with file.open("r+b") as pages:
        pages.seek(4096)
        pages.write(random.Random(1).randbytes(size - 4096))


def late_submission(bench: Bench) -> None:
    """Results are taken for half an hour, and once."""
    tool = {"type": "function", "name": "look", "parameters": {"type": "object", "properties": {}}}
    with bench.gateway("late") as gateway:
        json_headers = {"content-type": "application/json", "sabir-requires-action": "true"}

        def asked() -> tuple[str, bytes]:
            body = json.dumps({"model": MODEL, "input": "call look with {}", "tools": [tool]}).encode()
            reply = served(raw.send(gateway.base, "POST", "/v1/responses", body, json_headers), "a call").json()
            call = reply["required_action"]["submit_tool_outputs"]["tool_calls"][0]["id"]
            outputs = {"tool_outputs": [{"tool_call_id": call, "output": "found"}]}
            return f"/v1/responses/{reply['id']}/submit_tool_outputs", json.dumps(outputs).encode()

        for minutes, status in ((29, 200), (31, 404)):
            path, body = asked()
            with contextlib.closing(sqlite3.connect(bench.file("late"))) as connection, connection:
                connection.execute("UPDATE turn SET closed_at = closed_at - ?", (minutes * 60_000,))
            reply = raw.send(gateway.base, "POST", path, body, json_headers)
            equal(reply.status, status, f"after {minutes} minutes: {reply.body[:300]}")
        equal(reply.json()["error"]["message"], "Responses conversation expired or not found", "the error")


def secrets(bench: Bench) -> None:
    """No key is in the files at any level, and no content where only metadata are kept."""
    for level, has_content in (("metadata", False), ("stateful", True), ("full", True)):
        name = f"secret-{level}"
        texts = []
        with bench.gateway(name, f'record = "{level}"', SECRET) as gateway:
            for protocol in raw.PROTOCOLS:
                for is_streamed in (False, True):
                    texts.append(word())
                    headers = dict(gateway.headers)
                    if has_content:
                        headers["sabir-conversation"] = word()
                    reply = raw.ask(gateway.base, protocol, MODEL, texts[-1], is_streamed, headers)
                    served(reply, f"{protocol} at {level}")
            until(lambda: rows(bench.file(name)) >= len(texts), "the rows are written")
            kept = files(bench.file(name).parent)
        kept += files(bench.file(name).parent)
        for secret in (SECRET, "only-for-tests"):
            equal(secret.encode() in kept, False, f"the key {secret} in the files at {level}")
        found = [text for text in texts if text.encode() in kept]
        equal(found, texts if has_content else [], f"texts in the files at {level}")


def rows(file: Path) -> int:
    with contextlib.closing(sqlite3.connect(file)) as connection:
        return connection.execute("SELECT count(*) FROM exchange").fetchone()[0]


def files(folder: Path) -> bytes:
    """Everything on disk, the write-ahead log included."""
    return b"\n".join(path.read_bytes() for path in sorted(folder.iterdir()))


# PostgreSQL


class Cable:
    """What lies between a gateway and its database, and can be cut: half-way through whatever is on it."""

    def __init__(self, host: str, port: int) -> None:
        self.target = (host, port)
        self.is_cut = False
        self.pairs: list[tuple[socket.socket, socket.socket]] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                if self.is_cut:
                    client.close()
                    continue
                pair = (client, socket.create_connection(self.target))
                self.pairs.append(pair)
                for source, sink in (pair, pair[::-1]):
                    threading.Thread(target=_pump, args=(source, sink), daemon=True).start()

    def cut(self) -> None:
        self.is_cut = True
        self.break_connections()

    def break_connections(self) -> None:
        pairs, self.pairs = self.pairs, []
        for pair in pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self.is_cut = False

    def close(self) -> None:
        self.listener.close()
        self.cut()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(65_536):
            sink.sendall(piece)
    # The other direction waits on the same sockets, and would keep them open after a mere close.
    for end in (source, sink):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


class Database:
    """The server that `scripts/postgres` runs in a folder."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self.script = Path(__file__).parents[2] / "scripts" / "postgres"

    def store(self, port: Optional[int] = None) -> str:
        own = urlsplit(self.url).port
        return f'url = "{self.url.replace(f":{own}/", f":{port or own}/")}"'

    def cable(self) -> Cable:
        return Cable("127.0.0.1", urlsplit(self.url).port)

    def stop(self) -> None:
        subprocess.run([self.script, "stop", self.folder], check=True)

    def start(self) -> None:
        subprocess.run([self.script, "start", self.folder], check=True, stdout=subprocess.DEVNULL)


def server_stopped(bench: Bench, database: Database) -> None:
    with bench.gateway("stopped", database.store()) as gateway:
        during(bench, gateway, database.stop, database.start)


def server_unreachable(bench: Bench, database: Database) -> None:
    cable = database.cable()
    with contextlib.closing(cable), bench.gateway("unreachable", database.store(cable.port)) as gateway:
        during(bench, gateway, cable.cut, cable.mend)


def server_gone_at_the_end(bench: Bench, database: Database) -> None:
    cable = database.cable()
    with contextlib.closing(cable), bench.gateway("gone", database.store(cable.port)) as gateway:
        at_the_end(bench, gateway, cable.cut, cable.mend)


def connections_cut(bench: Bench, database: Database) -> None:
    """Connections that break at any moment: what was acknowledged is there, and what was not may be said again."""
    cable = database.cable()
    with contextlib.closing(cable), bench.gateway("cut", database.store(cable.port)) as gateway:
        stories = [Story(gateway, bench) for _ in range(4)]
        ends = threading.Event()
        threads = [threading.Thread(target=story.tell, args=(ends,)) for story in stories]
        for thread in threads:
            thread.start()
        for pause in random.Random(3).choices((0.1, 0.4, 0.7, 1.0), k=9):
            time.sleep(pause)
            cable.break_connections()
        ends.set()
        for thread in threads:
            thread.join()
        for story in stories:
            equal(story.wrong, [], "answers that are neither served nor refused as they should")
            goes_on(bench, gateway, story.name, story.known)
        equal(sum(len(story.known) for story in stories) > 3, True, "turns were acknowledged meanwhile")


class Story:
    """A conversation under way while connections break."""

    def __init__(self, gateway: Gateway, bench: Bench) -> None:
        self.gateway, self.bench, self.name = gateway, bench, word()
        self.known: list[str] = []
        self.wrong: list[str] = []

    def tell(self, ends: threading.Event) -> None:
        while not ends.is_set():
            text = word()
            reply = say(self.gateway, text, self.name)
            if reply.status == 200:
                self.known.append(text)
            elif reply.status != 503 and "conversation_locked" not in reply.body:
                self.wrong.append(f"{reply.status} {reply.body[:300]}")


def two_gateways(bench: Bench, database: Database) -> None:
    """Two processes serve one conversation turn by turn; what one keeps is there for the other at once."""
    with bench.gateway("left", database.store()) as left, bench.gateway("right", database.store()) as right:
        conversation, known = word(), []
        for number, protocol in enumerate((*raw.PROTOCOLS, *raw.PROTOCOLS)):
            text, model = word(), f"{list(PROVIDERS)[number % 4]}/m"
            served(say((left, right)[number % 2], text, conversation, protocol, model), f"turn {number}")
            sent = json.dumps(bench.arrived(text)[-1]["body"])
            equal([sent.count(it) for it in known], [2] * len(known), "the turns before")
            known.append(text)
        ids_of_one_on_the_other(bench, left, right)
        one_call_at_a_time(bench, left, right)
        until(lambda: is_put_back(bench, left, right), "what one was sealed is put back by the other")


def ids_of_one_on_the_other(bench: Bench, left: Gateway, right: Gateway) -> None:
    first = word()
    made = served(raw.ask(left.base, "openai-responses", MODEL, first), "a response").json()
    read = served(raw.send(right.base, "GET", f"/v1/responses/{made['id']}"), "the response elsewhere").json()
    equal(read["output"], made["output"], "the response elsewhere")
    second = word()
    body = json.dumps({"model": "gemini/m", "input": second, "previous_response_id": made["id"]}).encode()
    served(raw.send(right.base, "POST", "/v1/responses", body, {"content-type": "application/json"}), "a chain")
    sent = json.dumps(bench.arrived(second)[-1]["body"])
    equal(sent.count(first), 2, f"the chain's first turn in {sent}")


def one_call_at_a_time(bench: Bench, left: Gateway, right: Gateway) -> None:
    conversation, first, replies = word(), word(), []
    slow = threading.Thread(
        target=lambda: replies.append(say(left, first, conversation, model="chat/fault-slow-first-byte-1500"))
    )
    slow.start()
    until(lambda: bool(bench.arrived(first)), "the first call is under way")
    busy = say(right, word(), conversation)
    equal((busy.status, busy.json()["error"]["code"]), (400, "conversation_locked"), busy.body)
    equal(busy.headers.get("retry-after"), "1", "retry-after")
    slow.join()
    served(replies[0], "the first call")
    text = word()
    served(say(right, text, conversation), "the conversation on the other gateway")
    equal(json.dumps(bench.arrived(text)[-1]["body"]).count(first), 2, "the first turn")


def is_put_back(bench: Bench, left: Gateway, right: Gateway) -> bool:
    """Whether a call that one gateway was given has its signature again when its result comes to the other: it is on its way to
    the store when the answer ends."""
    text = word()
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    messages = [{"role": "user", "content": f'{text}\ncall look with {{"at": "door"}}'}]

    def asked(gateway: Gateway) -> dict:
        # One that thinks, and so seals its calls.
        model = {"model": "gemini/gemini-3-pro-preview", "reasoning_effort": "high"}
        body = model | {"tools": tools, "messages": messages}
        path, headers = "/v1/chat/completions", {"content-type": "application/json"}
        reply = raw.send(gateway.base, "POST", path, json.dumps(body).encode(), headers)
        return served(reply, "a call").json()["choices"][0]["message"]

    [call] = asked(left)["tool_calls"]
    told = json.dumps(call)
    bare = {name: call[name] for name in ("id", "type", "function")}
    messages += [
        {"role": "assistant", "content": None, "tool_calls": [bare]},
        {"role": "tool", "tool_call_id": call["id"], "content": "nobody there"},
    ]
    asked(right)
    parts = [part for content in bench.arrived(text)[-1]["body"]["contents"] for part in content["parts"]]
    [signature] = [part.get("thoughtSignature") for part in parts if "functionCall" in part]
    return signature is not None and signature in told


POSTGRES = (two_gateways, server_unreachable, server_gone_at_the_end, connections_cut, server_stopped)
SQLITE = (
    locked_file_at_the_end,
    full_disk,
    full_disk_at_the_end,
    read_only_disk,
    disk_turns_read_only,
    disk_turns_read_only_at_the_end,
    damaged_file,
    late_submission,
    secrets,
)


def attempt(test: Callable, *arguments: object) -> Optional[str]:
    started = time.monotonic()
    verdict, complaint = "ok", None
    try:
        test(*arguments)
    except Skipped as reason:
        verdict = f"NOT RUN: {reason}"
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        verdict = complaint = f"FAILED {type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
    print(f"{test.__name__}: {verdict}, {time.monotonic() - started:.1f} s", flush=True)
    return complaint


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", type=Path, help="the binary `sabir`")
    parser.add_argument("--postgres", nargs=2, metavar=("FOLDER", "URL"), help="a server of `scripts/postgres`: its tests instead")
    parser.add_argument("--only", default="", help="run the tests whose name holds this")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        simulators = Simulators(options.binary, Path(folder))
        try:
            bench = Bench(options.binary, Path(folder), simulators)
            tests, arguments = SQLITE, [bench]
            if options.postgres:
                tests, arguments = POSTGRES, [bench, Database(Path(options.postgres[0]), options.postgres[1])]
            chosen = [test for test in tests if options.only in test.__name__]
            failed = sum(attempt(test, *arguments) is not None for test in chosen)
        finally:
            simulators.end()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
