"""What an operator decides: who may ask, who answers, how much of everything, and what goes on to the upstreams."""

import datetime
import http.client
import json
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from email.utils import format_datetime
from pathlib import Path
from typing import Optional

import raw
from middlemen import Script, Witness
from raw import PROTOCOLS, Reply
from scenarios import equal, holds
from servers import Gateway, Simulators, clean_environment
from surface import JSON, refusal

GATEWAY_KEY = "gateway-key-51d3"
UPSTREAM_KEY = "upstream-key-9a70"
PROMPT = "a secret recipe for plums"
UPSTREAMS = {
    "chat": ("openai-chat", "/openai/v1"),
    "responses": ("openai-responses", "/openai/v1"),
    "messages": ("anthropic-messages", "/anthropic"),
    "google": ("gemini", "/gemini/v1beta"),
}
KEYS: dict[str, Callable[[str], dict[str, str]]] = {
    "openai-chat": lambda key: {"authorization": f"Bearer {key}"},
    "openai-responses": lambda key: {"authorization": f"bearer {key}"},
    "anthropic-messages": lambda key: {"x-api-key": key},
    "gemini": lambda key: {"x-goog-api-key": key},
}
RULES = """
env_providers = false
allowed_hosts = ["sabir.example", "other.example:8443"]
cors_origins = ["https://app.example"]
[auth]
required = true
[[auth.key]]
name = "test"
value = { env = "GATEWAY_KEY" }
[log]
level = "trace"
format = "json"
[[model]]
name = "smart"
targets = [{ provider = "messages", model = "fault-503" }, { provider = "google", model = "g" }]
[[model]]
name = "gpt-special"
targets = [{ provider = "messages", model = "special" }]
[[model]]
name = "gpt-5*"
targets = [{ provider = "google", model = "five" }]
[[model]]
name = "chat/own"
targets = [{ provider = "google", model = "named" }]
[[model]]
name = "shared"
strategy = "weighted"
targets = [{ provider = "messages", model = "a", weight = 3 }, { provider = "google", model = "b" }]
[[model]]
name = "moves-on"
targets = [{ provider = "single", model = "fault-500" }, { provider = "messages", model = "fault-never-ending" }]
"""
LIMITS = """
env_providers = false
[limits]
max_body_size = "100KB"
max_header_size = "8KiB"
max_answer_size = "50KB"
max_stream_duration = "4s"
max_requests = 4
max_queue = 1
max_queue_wait = "500ms"
"""
# What each name comes to: provider, model and why; none is the protocol's own 404.
RESOLVED = {
    "smart": ("google", "g", "fallback:2"),
    "gpt-special": ("messages", "special", "alias"),
    "gpt-5.6": ("google", "five", "alias"),
    "gpt-4.1": ("chat", "gpt-4.1", "claim"),
    "claude-x": ("messages", "claude-x", "claim"),
    "chat/own": ("google", "named", "alias"),
    "chat/gpt-special": ("chat", "gpt-special", "direct"),
    "chat/a/b": ("chat", "a/b", "direct"),
    "sim": ("sim-anthropic", "sim", "alias"),
    "sim-chat/m": ("sim-chat", "m", "direct"),
    "nobody/m": None,
    "other": None,
}
# Headers that no upstream may see, whoever asks what.
PRIVATE = {"cookie": "a=b", "x-custom": "c", "proxy-authorization": "Basic eDp5", "te": "trailers", "x-forwarded-for": "::1"}
# Headers for the vendor of a protocol, which go on where the upstream speaks it.
VENDORS = {
    "openai-chat": {"openai-organization": "o", "openai-beta": "b"},
    "openai-responses": {"openai-project": "p"},
    "anthropic-messages": {"anthropic-beta": "b"},
    "gemini": {"x-goog-user-project": "u"},
}


class Rules:
    def __init__(self, binary: Path, folder: Path, simulators: Simulators) -> None:
        self.binary = binary
        self.folder = folder
        self.simulators = simulators
        variables = {"GATEWAY_KEY": GATEWAY_KEY, "UPSTREAM_KEY": UPSTREAM_KEY}
        claims = {"chat": '["gpt-*"]', "messages": '["claude-*"]'}
        self.own_port = free_port()
        config = RULES + "".join(
            f'[[provider]]\nname = "{name}"\nprotocol = "{protocol}"\nbase_url = "{simulators.base}{root}"\n'
            f'api_key = {{ env = "UPSTREAM_KEY" }}\nmodels = {claims.get(name, "[]")}\n'
            for name, (protocol, root) in UPSTREAMS.items()
        )
        config += (
            f'[[provider]]\nname = "single"\nprotocol = "openai-chat"\nbase_url = "{simulators.base}/openai/v1"\n'
            'api_key = { env = "UPSTREAM_KEY" }\nmax_in_flight = 1\n'
        )
        self.gateway = Gateway(binary, folder, "rules", config, variables, KEYS["openai-chat"](GATEWAY_KEY))
        tight = LIMITS + "".join(
            f'[[provider]]\nname = "{name}"\nprotocol = "openai-chat"\nbase_url = "{url}"\napi_key = {{ value = "none" }}\n{more}'
            for name, url, more in (
                ("chat", f"{simulators.base}/openai/v1", ""),
                ("single", f"{simulators.base}/openai/v1", "max_in_flight = 1\n"),
                ("self", f"http://127.0.0.1:{self.own_port}/v1", ""),
            )
        )
        self.tight = Gateway(binary, folder, "tight", tight, port=self.own_port)

    def end(self) -> None:
        self.gateway.end()
        self.tight.end()

    def tests(self) -> Iterator[tuple[str, Callable[[], None]]]:
        for test in (
            self.keys,
            self.resolution,
            self.weights,
            self.listing,
            self.hosts_and_pages,
            self.strict_requests,
            self.headers,
            self.repeated_headers,
            self.two_who_ask_each_other,
            self.retry_after_and_request_ids,
            self.a_place_is_given_back,
            self.tokens_of_left_streams,
            self.nothing_is_fetched,
            self.log_settings,
            self.open_addresses,
            self.limits,
        ):
            yield test.__name__, test

    def silence(self) -> None:
        """After everything else: the log of a gateway that says all it can has no key and no content in it."""
        for protocol in PROTOCOLS:
            for provider in UPSTREAMS:
                for model in ("m", "fault-400", "fault-401", "fault-stream-error", "fault-disconnect", "fault-garbage"):
                    for is_streamed in (False, True):
                        self.ask(protocol, f"{provider}/{model}", PROMPT, is_streamed)
        raw.ask(self.gateway.base, "openai-chat", "chat/m", PROMPT, headers={"authorization": f"Bearer {GATEWAY_KEY}x"})
        self.gateway.end()
        lines = self.gateway.log_file.read_text().splitlines()
        exchanges = [it for it in map(json.loads, lines) if it.get("message") == "exchange"]
        equal(len(exchanges) > 192, True, f"{len(exchanges)} exchanges in the log")
        equal(all(it["id"].startswith("ex_") for it in exchanges), True, "ids in the log")
        for secret in (GATEWAY_KEY, UPSTREAM_KEY, "plums", "Simulated fault"):
            equal([line for line in lines if secret in line][:1], [], f"{secret!r} in the log")

    def ask(
        self, protocol: str, model: str, text: str = "hello", is_streamed: bool = False, headers: Optional[dict] = None
    ) -> Reply:
        headers = KEYS[protocol](GATEWAY_KEY) | (headers or {})
        return raw.ask(self.gateway.base, protocol, model, text, is_streamed, headers)

    def keys(self) -> None:
        base = self.gateway.base
        for protocol in PROTOCOLS:
            equal(self.ask(protocol, "chat/m").status, 200, "the right key")
            for wrong in ("", "x", GATEWAY_KEY[:-1], GATEWAY_KEY + "x", UPSTREAM_KEY):
                reply = raw.ask(base, protocol, "chat/m", "hello", headers=KEYS[protocol](wrong))
                refusal(reply, protocol, 401, "key")
            refusal(raw.ask(base, protocol, "chat/m", "hello"), protocol, 401, "key")
        equal(raw.send(base, "GET", f"/v1beta/models?key={GATEWAY_KEY}").status, 200, "a key in the query")
        for path in ("/metrics", "/sabir/v1/exchanges", "/v1/models", "/passthrough/chat/v1/models", "/nothing"):
            equal(raw.send(base, "GET", path).status, 401, path)
        for path in ("/", "/healthz", "/readyz"):
            equal(raw.send(base, "GET", path).status, 200, path)

    def resolution(self) -> None:
        for model, expected in RESOLVED.items():
            reply = self.ask("openai-chat", model)
            if expected is None:
                refusal(reply, "openai-chat", 404, "GET /v1/models lists what can be asked for")
                equal(reply.json()["error"]["code"], "model_not_found", "the code")
            else:
                found = tuple(reply.headers.get(f"sabir-{name}") for name in ("provider", "model", "route"))
                equal((reply.status, found), (200, expected), model)
        for protocol in PROTOCOLS:
            refusal(self.ask(protocol, "other"), protocol, 404, "other")
        # Of the target that another had to stand in for, the counters tell too.
        name = 'sabir_failed_tries_total{provider="messages",client="openai-chat",upstream="anthropic-messages"}'
        equal(self.gateway.metrics()[name], 2, "failed tries")

    def weights(self) -> None:
        found = Counter(self.ask("openai-chat", "shared").headers["sabir-provider"] for _ in range(8))
        equal(found, Counter(messages=6, google=2), "who answered")

    def listing(self) -> None:
        """Names of the configuration come first, each provider's own behind them; who is silent is waited for once."""
        silent = Script(None)
        config = (
            f'env_providers = false\n[[provider]]\nname = "silent"\nprotocol = "openai-chat"\n'
            f'base_url = "http://127.0.0.1:{silent.port}/v1"\n[[provider]]\nname = "google"\nprotocol = "gemini"\n'
            f'base_url = "{self.simulators.base}/gemini"\napi_key = {{ value = "none" }}\n'
            f'[[model]]\nname = "smart"\ntargets = [{{ provider = "google", model = "g" }}]\n'
        )
        gateway = Gateway(self.binary, self.folder, "listing", config)
        first = raw.send(gateway.base, "GET", "/v1/models")
        started = time.monotonic()
        again = raw.send(gateway.base, "GET", "/v1/models")
        equal(time.monotonic() - started < 2, True, "without waiting again")
        names = [it["id"] for it in first.json()["data"]]
        equal((names[:3], again.body), (["smart", "sim", "google/sim"], first.body), "what is listed")
        gateway.end()
        silent.end()

    def hosts_and_pages(self) -> None:
        base, origin = self.gateway.base, {"origin": "https://app.example"}
        for host, status in (("sabir.example", 200), ("sabir.example:1", 200), ("other.example:8443", 200), ("other.example", 403)):
            equal(raw.send(base, "GET", "/healthz", headers={"host": host}).status, status, host)
        reply = raw.send(base, "GET", "/healthz", headers=origin)
        equal((reply.status, reply.headers["access-control-allow-origin"]), (200, "https://app.example"), "a page")
        reply = raw.send(base, "OPTIONS", "/v1/messages", headers=origin)
        equal((reply.status, reply.headers["access-control-allow-origin"]), (204, "https://app.example"), "a preflight")

    def strict_requests(self) -> None:
        body = raw.request("openai-chat", "messages/strict", "hello")[1] | {"seed": 4, "logit_bias": {"1": 2}}
        sent = json.dumps(body).encode()
        headers = JSON | KEYS["openai-chat"](GATEWAY_KEY)
        reply = raw.send(self.gateway.base, "POST", "/v1/chat/completions", sent, headers | {"sabir-strict": "true"})
        refusal(reply, "openai-chat", 400, "/seed, /logit_bias")
        equal(self.simulators.arrived("strict"), [], "what was sent")
        reply = raw.send(self.gateway.base, "POST", "/v1/chat/completions", sent, headers)
        equal(reply.status, 200, "the same without the header")
        holds(reply.headers["sabir-loss"], "dropped=", "the losses")

    def headers(self) -> None:
        """Headers for the vendor go to the vendor; a client's key, and what concerns its connection, to nobody."""
        for protocol in PROTOCOLS:
            for provider, (upstream, _) in UPSTREAMS.items():
                model = f"headers-{protocol}"
                sent = PRIVATE | VENDORS[protocol] | {"connection": "keep-alive, x-hop", "x-hop": "1"}
                reply = self.ask(protocol, f"{provider}/{model}", headers=sent)
                equal(reply.status, 200, f"{protocol} on {provider} ({reply.body[:200]})")
                found = [it for it in self.simulators.arrived(model) if it.protocol == upstream][-1].headers
                equal([name for name in (*PRIVATE, "x-hop") if name in found], [], f"private headers on {provider}")
                expected = VENDORS[protocol] if protocol == upstream else {}
                passed = {name: found[name] for name in VENDORS[protocol] if name in found}
                equal(passed, expected, f"the vendor's headers, {protocol} on {provider}")
                equal(found["accept-encoding"], "identity", "compression of the answer")
                limits = [name for name in reply.headers if "ratelimit" in name]
                # Gemini has no such headers.
                equal(bool(limits), protocol == upstream != "gemini", f"rate limits, {protocol} on {provider}")

    def repeated_headers(self) -> None:
        """A header for the vendor may come several times, and none of them may get lost."""
        witness = Witness()
        config = (
            f'env_providers = false\n[[provider]]\nname = "witness"\nprotocol = "anthropic-messages"\n'
            f'base_url = "http://127.0.0.1:{witness.port}"\n'
        )
        gateway = Gateway(self.binary, self.folder, "repeated", config)
        path, body = raw.request("anthropic-messages", "witness/m", "hello")
        connection = http.client.HTTPConnection(gateway.base.removeprefix("http://"), timeout=raw.TIMEOUT_S)
        connection.putrequest("POST", path)
        sent = json.dumps(body).encode()
        said = [("anthropic-beta", "one"), ("anthropic-beta", "two"), ("anthropic-version", "2023-01-01")]
        for name, value in (*said, ("content-length", str(len(sent)))):
            connection.putheader(name, value)
        connection.endheaders(sent)
        equal(connection.getresponse().status, 403, "the witness's answer")
        connection.close()
        found = witness.asked[0].headers
        equal((found["anthropic-beta"], found["anthropic-version"]), ("one, two", "2023-01-01"), "what came through")
        gateway.end()
        witness.end()

    def two_who_ask_each_other(self) -> None:
        ports = (free_port(), free_port())
        config = 'env_providers = false\n[[provider]]\nname = "other"\nprotocol = "{}"\nbase_url = "http://127.0.0.1:{}/v1"\nmodels = ["*"]\n'
        both = [
            Gateway(self.binary, self.folder, f"two-{own}", config.format(protocol, other), port=own)
            for own, other, protocol in ((*ports, "openai-chat"), (*reversed(ports), "anthropic-messages"))
        ]
        for protocol in PROTOCOLS:
            refusal(raw.ask(both[0].base, protocol, "m", "hello"), protocol, 508, "its own upstream")
        for gateway in both:
            gateway.end()

    def retry_after_and_request_ids(self) -> None:
        soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=40)
        for value, least, most in (("7", 7, 7), ("1.2", 2, 2), (format_datetime(soon, usegmt=True), 30, 40)):
            body = '{"error":{"message":"slow down","type":"requests","param":null,"code":null}}'
            answer = (
                f"HTTP/1.1 429 Too Many\r\nconnection: close\r\nretry-after: {value}\r\nx-request-id: up-1\r\n"
                f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n{body}"
            )
            upstream = Script(answer.encode())
            config = (
                f'env_providers = false\n[[provider]]\nname = "busy"\nprotocol = "openai-chat"\n'
                f'base_url = "http://127.0.0.1:{upstream.port}/v1"\n'
            )
            gateway = Gateway(self.binary, self.folder, f"busy-{most}", config)
            for protocol in PROTOCOLS:
                reply = raw.ask(gateway.base, protocol, "busy/m", "hello")
                refusal(reply, protocol, 429, "slow down")
                equal(least <= int(reply.headers["retry-after"]) <= most, True, reply.headers["retry-after"])
                equal(reply.headers["x-request-id"], "up-1", "the upstream's id")
            gateway.end()
            upstream.end()

    def a_place_is_given_back(self) -> None:
        """A request that has moved on to its second target takes no place from those of the first."""
        with opened(self.gateway.base, "openai-chat", "moves-on", KEYS["openai-chat"](GATEWAY_KEY)):
            started = time.monotonic()
            equal(self.ask("openai-chat", "single/m").status, 200, "the first target")
            equal(time.monotonic() - started < 5, True, "without waiting in line")

    def tokens_of_left_streams(self) -> None:
        """Anthropic's streams begin with the tokens of the request, which cost money whoever leaves."""
        for client in ("anthropic-messages", "openai-responses"):
            name = f'sabir_tokens_total{{provider="messages",client="{client}",upstream="anthropic-messages",direction="input"}}'
            before = self.gateway.metrics().get(name, 0)
            with opened(self.gateway.base, client, "messages/fault-never-ending", KEYS[client](GATEWAY_KEY)):
                pass
            end = time.monotonic() + 10
            while self.gateway.metrics().get(name, 0) <= before:
                equal(time.monotonic() < end, True, f"tokens of a {client} stream that was left are counted in time")
                time.sleep(0.05)

    def nothing_is_fetched(self) -> None:
        """An address in a request goes to the upstream as it is; nobody but the upstream ever looks there."""
        elsewhere = Script(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        url = f"http://127.0.0.1:{elsewhere.port}/picture.png"
        for protocol in PROTOCOLS:
            for provider in UPSTREAMS:
                path, body = raw.request(protocol, f"{provider}/picture", "what is it?")
                see(protocol, body, url)
                headers = JSON | KEYS[protocol](GATEWAY_KEY)
                reply = raw.send(self.gateway.base, "POST", path, json.dumps(body).encode(), headers)
                equal(reply.status, 200, f"{protocol} on {provider} ({reply.body[:200]})")
        equal(elsewhere.connections, 0, "connections to an address that a client named")
        elsewhere.end()

    def log_settings(self) -> None:
        for level, is_told in (("info", True), ("error", False), ("off", False), ("sabir=info", True)):
            name = f"log-{level.replace('=', '-')}"
            # The variable wins over the file.
            gateway = Gateway(self.binary, self.folder, name, '[log]\nlevel = "debug"\n', {"SABIR_LOG": level})
            equal(raw.ask(gateway.base, "openai-chat", "sim", PROMPT).status, 200, "a call")
            gateway.end()
            log = gateway.log_file.read_text()
            equal('client="openai-chat"' in log and " INFO sabir: exchange " in log, is_told, f"{level}: {log[:300]}")

    def open_addresses(self) -> None:
        arguments = [str(self.binary.resolve()), "serve", "--listen", "0.0.0.0:0"]
        found = subprocess.run(arguments, capture_output=True, text=True, timeout=10, cwd=self.folder, env=clean_environment())
        equal((found.returncode, found.stdout), (1, ""), "exit code and output")
        for words in ("can be reached from other machines", "`required = true`", "`open_bind = true`"):
            holds(found.stderr, words, "the refusal")

    def limits(self) -> None:
        base = self.tight.base
        for protocol in PROTOCOLS:
            refusal(raw.ask(base, protocol, "self/chat/m", "hello"), protocol, 508, "its own upstream")
            refusal(raw.ask(base, protocol, "chat/m", "x" * 150_000), protocol, 413, "max_body_size")
            path, body = raw.request(protocol, "chat/m", "hello")
            deep = json.dumps(body).replace('"hello"', "[" * 400 + "]" * 400).encode()
            reply = raw.send(base, "POST", path, deep, JSON)
            equal(reply.status in (400, 413), True, f"status of a deep body: {reply.status}")
            refusal(raw.ask(base, protocol, "chat/m", "repeat 15000 words"), protocol, 502, "max_answer_size")
        equal(raw.send(base, "GET", "/healthz", headers={"x-long": "x" * 10_000}).status, 431, "headers")
        endless = [Answering(base, protocol, "chat/fault-never-ending", is_streamed=True) for protocol in PROTOCOLS]
        for reply in (it.reply() for it in endless):
            equal(reply.status, 200, "a stream that goes on for too long")
            holds(reply.body, "the answer took longer than this gateway allows", "its end")
        self._line()
        self._crowd()

    def _until_in_flight(self, count: int) -> None:
        end = time.monotonic() + raw.TIMEOUT_S
        while self.tight.metrics()["sabir_requests_in_flight"] < count:
            equal(time.monotonic() < end, True, f"{count} requests in flight in time")
            time.sleep(0.01)

    def _line(self) -> None:
        """One is with the provider, one waits in line and is sent away in time, a third is not even let in."""
        with opened(self.tight.base, "openai-chat", "single/fault-slow-stream-400", {}):
            waiting = Answering(self.tight.base, "openai-chat", "single/m")
            self._until_in_flight(2)
            full = raw.ask(self.tight.base, "anthropic-messages", "single/m", "hello")
            refusal(full, "anthropic-messages", 529, "")
            equal(full.headers["retry-after"], "5", "retry-after")
            refusal(waiting.reply(), "openai-chat", 503, "busy")

    def _crowd(self) -> None:
        """The gateway serves so many at once, and says so to the next; the question whether it lives stays free."""
        crowd = [Answering(self.tight.base, "openai-chat", "chat/fault-slow-first-byte-2000") for _ in range(4)]
        self._until_in_flight(4)
        for protocol in PROTOCOLS:
            reply = raw.ask(self.tight.base, protocol, "chat/m", "hello")
            refusal(reply, protocol, 529 if protocol == "anthropic-messages" else 503, "as many requests as it may")
            equal(reply.headers["retry-after"], "1", "retry-after")
        equal(raw.send(self.tight.base, "GET", "/healthz").status, 200, "health")
        equal([it.reply().status for it in crowd], [200] * 4, "those inside")
        equal(raw.ask(self.tight.base, "openai-chat", "chat/m", "hello").status, 200, "afterwards")


def see(protocol: str, body: dict, url: str) -> None:
    """Adds a picture to what a user says."""
    match protocol:
        case "openai-chat":
            body["messages"][0]["content"] = [{"type": "text", "text": "?"}, {"type": "image_url", "image_url": {"url": url}}]
        case "openai-responses":
            said = [{"type": "input_text", "text": "?"}, {"type": "input_image", "image_url": url, "detail": "auto"}]
            body["input"] = [{"type": "message", "role": "user", "content": said}]
        case "anthropic-messages":
            picture = {"type": "image", "source": {"type": "url", "url": url}}
            body["messages"][0]["content"] = [{"type": "text", "text": "?"}, picture]
        case _:
            body["contents"][0]["parts"].append({"fileData": {"mimeType": "image/png", "fileUri": url}})


class Answering:
    """A request that is being answered in a thread."""

    def __init__(self, base: str, protocol: str, model: str, is_streamed: bool = False) -> None:
        self.found: list[Reply] = []
        ask = lambda: self.found.append(raw.ask(base, protocol, model, "hello", is_streamed))
        self.thread = threading.Thread(target=ask, daemon=True)
        self.thread.start()

    def reply(self) -> Reply:
        self.thread.join(raw.TIMEOUT_S)
        return self.found[0]


class opened:
    """A stream whose beginning has been read, and that is left at the end."""

    def __init__(self, base: str, protocol: str, model: str, headers: dict[str, str]) -> None:
        path, body = raw.request(protocol, model, "repeat 50 words", is_streamed=True)
        self.connection = http.client.HTTPConnection(base.removeprefix("http://"), timeout=raw.TIMEOUT_S)
        self.connection.request("POST", path, json.dumps(body).encode(), JSON | headers)

    def __enter__(self) -> None:
        reply = self.connection.getresponse()
        equal(reply.status, 200, "a stream")
        equal(bool(reply.read(200)), True, "its beginning")

    def __exit__(self, *_: object) -> None:
        self.connection.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
