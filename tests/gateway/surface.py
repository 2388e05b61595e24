"""What the gateway shows on its outside, endpoint by endpoint, without a configuration."""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import raw
from raw import PROTOCOLS, Reply
from scenarios import equal, holds
from servers import Gateway

JSON = {"content-type": "application/json"}
SIMULATORS = {
    "sim-chat": "openai-chat",
    "sim-responses": "openai-responses",
    "sim-anthropic": "anthropic-messages",
    "sim-gemini": "gemini",
}
# Paths that a protocol has, or could have, and this gateway does not: with the protocol that the answer belongs to.
UNSERVED = (
    ("GET", "/v1/nothing", "openai-chat"),
    ("GET", "/v1/chat/completions", "openai-chat"),
    ("GET", "/v1/responses/resp_1", "openai-responses"),
    ("DELETE", "/v1/responses/resp_1", "openai-responses"),
    ("GET", "/v1/responses/resp_1/input_items", "openai-responses"),
    ("POST", "/v1/responses/resp_1/cancel", "openai-responses"),
    ("GET", "/v1/conversations/conv_1", "openai-responses"),
    ("PUT", "/v1/messages", "anthropic-messages"),
    ("POST", "/v1/messages/batches", "anthropic-messages"),
    ("GET", "/v1beta/nothing", "gemini"),
    ("POST", "/v1beta/models/sim:fly", "gemini"),
    ("GET", "/console/", "openai-chat"),
    ("GET", "/passthrough/sim-chat", "openai-chat"),
    ("GET", "/passthrough/nobody/v1/models", "openai-chat"),
)


class Surface:
    def __init__(self, binary: Path, folder: Path) -> None:
        self.gateway = Gateway(binary, folder, "surface", None)
        self.base = self.gateway.base

    def end(self) -> None:
        self.gateway.end()

    def tests(self) -> Iterator[tuple[str, Callable[[], None]]]:
        for test in (
            self.own_pages,
            self.first_call,
            self.nobodys_model,
            self.models,
            self.geminis_paths,
            self.token_counts,
            self.embeddings,
            self.own_paths_of_a_provider,
            self.unserved_paths,
            self.unreadable_bodies,
            self.stored_responses,
            self.compressed_bodies,
            self.strange_hosts_and_pages,
        ):
            yield test.__name__, test

    def own_pages(self) -> None:
        for method, path, said in (
            ("GET", "/", "Sabir"),
            ("HEAD", "/", ""),
            ("GET", "/healthz", "ok"),
            ("GET", "/readyz", "ready"),
            ("GET", "/metrics", "sabir_requests_in_flight"),
        ):
            reply = raw.send(self.base, method, path)
            equal(reply.status, 200, f"status of {path}")
            holds(reply.body, said, path)

    def first_call(self) -> None:
        """`sim` is never the client's own protocol; the exchange can be read, and holds nothing of what was said."""
        for protocol in PROTOCOLS:
            for is_streamed in (False, True):
                reply = raw.ask(self.base, protocol, "sim", "zebra crossing", is_streamed)
                equal(reply.status, 200, f"status ({reply.body[:200]})")
                headers = reply.headers
                equal(SIMULATORS[headers["sabir-provider"]] != protocol, True, "another protocol answers")
                equal((headers["sabir-model"], headers["sabir-route"]), ("sim", "alias"), "who answered, and why")
                equal(bool(headers["sabir-loss"]), True, "the losses")
                if protocol == "anthropic-messages":
                    equal(headers["request-id"], headers["x-request-id"], "the id for Anthropic's SDKs")
                seen = raw.send(self.base, "GET", f"/sabir/v1/exchanges/{headers['sabir-exchange']}")
                equal(seen.status, 200, "the exchange")
                equal((seen.json()["client_protocol"], seen.json()["stream"]), (protocol, is_streamed), "the exchange")
                equal("zebra" in seen.body, False, "content in the exchange")

    def nobodys_model(self) -> None:
        for model in ("claude-none", "gpt-none", "nobody/none"):
            reply = raw.ask(self.base, "openai-chat", model, "hello")
            equal((reply.status, reply.headers["sabir-route"]), (200, "substituted"), model)

    def models(self) -> None:
        chat = raw.send(self.base, "GET", "/v1/models").json()["data"]
        messages = raw.send(self.base, "GET", "/v1/models", headers={"anthropic-version": "2023-06-01"}).json()
        gemini = raw.send(self.base, "GET", "/v1/models?key=none").json()["models"]
        names = [it["id"] for it in chat]
        equal([it["id"] for it in messages["data"]], names, "Anthropic's list")
        equal((messages["has_more"], messages["first_id"], messages["last_id"]), (False, names[0], names[-1]), "pages")
        equal([it["name"] for it in gemini], [f"models/{name}" for name in names], "Gemini's list")
        for path, headers in (("/v1beta/models", {}), ("/v1/models", {"x-goog-api-key": "none"})):
            equal(raw.send(self.base, "GET", path, headers=headers).json()["models"], gemini, path)
        equal("sim" in names and all(f"{it}/sim" in names for it in SIMULATORS), True, "what is listed")
        for name in ("sim", "sim-chat/gpt-5.6", "sim-chat%2Fgpt-5.6"):
            plain = name.replace("%2F", "/")
            equal(raw.send(self.base, "GET", f"/v1/models/{name}").json()["id"], plain, name)
            equal(raw.send(self.base, "GET", f"/v1beta/models/{name}").json()["name"], f"models/{plain}", name)

    def geminis_paths(self) -> None:
        body = json.dumps(raw.request("gemini", "m", "hello")[1]).encode()
        for version in ("v1beta", "v1"):
            for model in ("sim-chat/m", "sim-chat%2Fm", "sim-gemini/m"):
                at = f"/{version}/models/{model}"
                whole = raw.send(self.base, "POST", f"{at}:generateContent", body, JSON)
                holds(whole.json()["candidates"][0]["content"]["parts"][0]["text"], "hello", at)
                listed = raw.send(self.base, "POST", f"{at}:streamGenerateContent", body, JSON)
                equal(listed.headers["content-type"].startswith("application/json"), True, "a list")
                equal(len(listed.json()) > 1, True, "pieces of the list")
                events = raw.send(self.base, "POST", f"{at}:streamGenerateContent?alt=sse", body, JSON)
                equal(events.headers["content-type"].startswith("text/event-stream"), True, "events")

    def token_counts(self) -> None:
        """The provider's own counter where it has one; Chat has none, and the answer says so."""
        message = [{"role": "user", "content": "hello there you"}]
        for provider, upstream in SIMULATORS.items():
            model = f"{provider}/m"
            asked = (
                ("/v1/messages/count_tokens", {"model": model, "messages": message}, "input_tokens"),
                ("/v1/responses/input_tokens", {"model": model, "input": "hello there you"}, "input_tokens"),
                (
                    f"/v1beta/models/{model}:countTokens",
                    {"contents": [{"parts": [{"text": "hello there you"}]}]},
                    "totalTokens",
                ),
            )
            for path, body, member in asked:
                reply = raw.send(self.base, "POST", path, json.dumps(body).encode(), JSON)
                equal(reply.status, 200, f"{path} on {provider}")
                is_estimate = upstream == "openai-chat"
                equal(reply.headers.get("sabir-estimate"), "true" if is_estimate else None, f"{path} on {provider}")
                if is_estimate:
                    equal(0 < reply.json()[member] < 40, True, f"the estimate {reply.body}")
                else:
                    equal(reply.json()[member], 4, f"{path} on {provider}")

    def embeddings(self) -> None:
        reply = self._post("/v1/embeddings", {"model": "sim-chat/e", "input": "hello"})
        equal((reply.status, len(reply.json()["data"])), (200, 1), "embeddings")
        told = {name: reply.headers.get(f"sabir-{name}") for name in ("provider", "model", "route")}
        equal(told, {"provider": "sim-chat", "model": "e", "route": "direct"}, "who answered")
        other = self._post("/v1/embeddings", {"model": "sim-gemini/e", "input": "hello"})
        refusal(other, "openai-chat", 404, "no embeddings")
        refusal(self._post("/v1/embeddings", {"input": "hello"}), "openai-chat", 400, "model")

    def own_paths_of_a_provider(self) -> None:
        reply = raw.send(self.base, "GET", "/passthrough/sim-anthropic/v1/models", headers={"x-api-key": "none"})
        equal((reply.status, reply.json()["data"][0]["type"]), (200, "model"), "the provider's own answer")
        body = raw.request("anthropic-messages", "m", "hello")[1]
        reply = self._post("/passthrough/sim-anthropic/v1/messages", body)
        equal((reply.status, reply.json()["type"]), (200, "message"), "the provider's own answer")
        kept = raw.send(self.base, "GET", "/passthrough/sim-anthropic/_sim/requests", headers={"x-api-key": "none"})
        refusal(kept, "anthropic-messages", 404, "")
        reply = self._post("/passthrough/sim-anthropic/v1/messages", {})
        refusal(reply, "anthropic-messages", 400, "")

    def unserved_paths(self) -> None:
        for method, path, protocol in UNSERVED:
            refusal(raw.send(self.base, method, path), protocol, 404, "")

    def unreadable_bodies(self) -> None:
        for protocol in PROTOCOLS:
            path, _ = raw.request(protocol, "sim", "hello")
            for body in (b"", b"{", b"[]", b'"text"', b'{"model": "sim", "messages": 5, "input": 5, "contents": 5}', b"\xff{}"):
                refusal(raw.send(self.base, "POST", path, body, JSON), protocol, 400, "")

    def stored_responses(self) -> None:
        for name, status in (("previous_response_id", 400), ("conversation", 404)):
            body = {"model": "sim-gemini/m", "input": "hello", name: "id_1"}
            reply = self._post("/v1/responses", body)
            refusal(reply, "openai-responses", status, "'id_1' not found.")
            equal(reply.json()["error"]["param"], name, "the parameter")
            # Where the provider could have it, the provider decides.
            own = self._post("/v1/responses", body | {"model": "sim-responses/m"})
            equal(own.headers["sabir-provider"], "sim-responses", name)
        for provider in SIMULATORS:
            reply = self._post("/v1/responses", {"model": f"{provider}/m", "input": "hello", "store": True})
            equal(reply.status, 200, f"`store` on {provider}")

    def compressed_bodies(self) -> None:
        path, body = raw.request("openai-chat", "sim", "hello")
        packed = gzip.compress(json.dumps(body).encode())
        equal(raw.send(self.base, "POST", path, packed, JSON | {"content-encoding": "gzip"}).status, 200, "gzip")
        for coding, status in (("gzip", 400), ("br", 400), ("zstd", 400), ("rot13", 415)):
            reply = raw.send(self.base, "POST", path, b"not packed", JSON | {"content-encoding": coding})
            refusal(reply, "openai-chat", status, "")

    def strange_hosts_and_pages(self) -> None:
        strange = ({"host": "evil.example"}, {"host": "127.0.0.1.evil.example"}, {"origin": "https://evil.example"}, {"origin": "null"})
        for headers in strange:
            for path, protocol in (("/healthz", "openai-chat"), ("/v1/messages", "anthropic-messages"), ("/v1beta/models", "gemini")):
                refusal(raw.send(self.base, "GET", path, headers=headers), protocol, 403, "")
            equal(raw.send(self.base, "OPTIONS", "/v1/messages", headers=headers).status, 403, "a preflight")
        for host in ("localhost", "127.0.0.1:9", "[::1]:9", "LOCALHOST"):
            equal(raw.send(self.base, "GET", "/healthz", headers={"host": host}).status, 200, host)

    def _post(self, path: str, body: dict) -> Reply:
        return raw.send(self.base, "POST", path, json.dumps(body).encode(), JSON)


def refusal(reply: Reply, protocol: str, status: int, words: str) -> None:
    """An error in the shape of a protocol, with words."""
    equal(reply.status, status, f"status ({reply.body[:300]})")
    error = reply.json()["error"]
    match protocol:
        case "openai-chat" | "openai-responses":
            equal(set(error), {"message", "type", "param", "code"}, "the members of OpenAI's error")
        case "anthropic-messages":
            equal((reply.json()["type"], bool(error["type"])), ("error", True), "Anthropic's error")
        case _:
            equal((error["code"], bool(error["status"])), (status, True), "Gemini's error")
    equal(bool(error["message"]), True, "there are words")
    holds(error["message"], words, "the words")
