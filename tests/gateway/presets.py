"""The providers that keys in the environment bring: every one is asked at its own place, with its own key alone."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import raw
from middlemen import Asked, Authority, Proxy, Witness
from raw import Reply
from scenarios import equal
from servers import Gateway


@dataclass(frozen=True)
class Preset:
    variable: str
    # A name that the provider claims.
    model: str
    host: str
    path: str
    header: str = "authorization"

    @property
    def key(self) -> str:
        return f"key-of-{self.variable.lower()}"


PRESETS = {
    "openai": Preset("OPENAI_API_KEY", "gpt-5.6", "api.openai.com", "/v1/responses"),
    "anthropic": Preset("ANTHROPIC_API_KEY", "claude-x", "api.anthropic.com", "/v1/messages", "x-api-key"),
    "gemini": Preset(
        "GEMINI_API_KEY",
        "gemini-x",
        "generativelanguage.googleapis.com",
        "/v1beta/models/gemini-x:generateContent",
        "x-goog-api-key",
    ),
    "openrouter": Preset("OPENROUTER_API_KEY", "vendor/model", "openrouter.ai", "/api/v1/chat/completions"),
    "deepseek": Preset("DEEPSEEK_API_KEY", "deepseek-x", "api.deepseek.com", "/v1/chat/completions"),
    "groq": Preset("GROQ_API_KEY", "llama-x", "api.groq.com", "/openai/v1/chat/completions"),
    "mistral": Preset("MISTRAL_API_KEY", "mistral-x", "api.mistral.ai", "/v1/chat/completions"),
    "xai": Preset("XAI_API_KEY", "grok-x", "api.x.ai", "/v1/chat/completions"),
}


class Presets:
    """A network in which every provider is one witness, who says no."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.binary = binary
        self.folder = folder
        hosts = [it.host for it in PRESETS.values()]
        self.authority = Authority(folder, "everybody")
        self.witness = Witness(self.authority.context(*hosts))
        self.proxy = Proxy({f"{host}:443": ("127.0.0.1", self.witness.port) for host in hosts})

    def end(self) -> None:
        self.witness.end()
        self.proxy.end()

    def test(self) -> None:
        with self.gateway("presets", None, {it.variable: it.key for it in PRESETS.values()}) as gateway:
            for name, preset in PRESETS.items():
                for client in ("openai-responses", "anthropic-messages", "gemini"):
                    self.check(name, preset, self.ask(gateway, client, preset.model))
        with self.gateway("one-key", None, {"OPENAI_API_KEY": PRESETS["openai"].key}) as gateway:
            reply, asked = self.ask(gateway, "openai-chat", "claude-x")
            equal(reply.headers["sabir-route"], "substituted", "the route of a name that nobody serves")
            equal((asked.line, json.loads(asked.body)["model"]), ("POST /v1/chat/completions HTTP/1.1", "gpt-5.6"), "asked")
        second = {"GOOGLE_API_KEY": PRESETS["gemini"].key}
        with self.gateway("other-key", None, second) as gateway:
            self.check("gemini", PRESETS["gemini"], self.ask(gateway, "openai-chat", "gemini-x"))
        # A file may keep the environment's providers out, and then nobody is asked.
        with self.gateway("no-key", "env_providers = false\n", {"OPENAI_API_KEY": "none"}) as gateway:
            equal(raw.ask(gateway.base, "openai-chat", "gpt-5.6", "hello").status, 404, "a provider that is kept out")

    @contextmanager
    def gateway(self, name: str, config: Optional[str], variables: dict[str, str]) -> Iterator[Gateway]:
        way = {"HTTPS_PROXY": f"http://127.0.0.1:{self.proxy.port}", "SSL_CERT_FILE": str(self.authority.file)}
        gateway = Gateway(self.binary, self.folder, name, config, variables | way)
        try:
            yield gateway
        finally:
            gateway.end()

    def ask(self, gateway: Gateway, client: str, model: str) -> tuple[Reply, Asked]:
        """Asks, and gives the refusal together with what the witness saw."""
        count = len(self.witness.asked)
        reply = raw.ask(gateway.base, client, model, "hello")
        equal((reply.status, len(self.witness.asked)), (403, count + 1), f"{client} for {model} ({reply.body[:200]})")
        return reply, self.witness.asked[-1]

    def check(self, name: str, preset: Preset, found: tuple[Reply, Asked]) -> None:
        reply, asked = found
        equal((reply.headers["sabir-provider"], reply.headers["sabir-route"]), (name, "claim"), "who answered")
        equal(asked.line, f"POST {preset.path} HTTP/1.1", f"what {name} was asked")
        equal(asked.headers["host"], preset.host, "the host")
        prefix = "Bearer " if preset.header == "authorization" else ""
        equal(asked.headers[preset.header], prefix + preset.key, f"the key for {name}")
        everything = f"{asked.line} {asked.headers} {asked.body.decode()}"
        others = [it.key for it in PRESETS.values() if it != preset and it.key in everything]
        equal(others, [], f"other keys at {name}")
        if name == "anthropic":
            equal(asked.headers["anthropic-version"], "2023-06-01", "the version")
        if preset.path.endswith("chat/completions") or name == "anthropic":
            equal(json.loads(asked.body)["model"], preset.model, "the model")
