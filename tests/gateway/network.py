"""The way to upstreams that are not on this machine: certificates, and the proxy variables of the environment."""

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Optional

import raw
from middlemen import DAY, Authority, Front, Proxy, Script, Socks
from scenarios import equal, holds
from servers import Gateway, Simulators

KEY = "sk-upstream-4f1c9d"
PASSWORD = "p%40ss-7e2b"
PASSWORD_READ = "p@ss-7e2b"
FAR = "api.far.test"
LONG = "a rather long text " * 20_000


class Network:
    """The simulators behind servers with good and bad certificates, and what starts gateways and proxies."""

    def __init__(self, binary: Path, folder: Path, simulators: Simulators) -> None:
        self.binary = binary
        self.folder = folder
        self.simulators = simulators
        host, port = simulators.base.removeprefix("http://").split(":")
        self.behind = (host, int(port))
        self.authority = Authority(folder, "authority")
        self.fronts = {
            "sound": Front(self.authority.context("localhost", FAR, "127.0.0.1"), self.behind),
            "misnamed": Front(self.authority.context("elsewhere.test"), self.behind),
            "expired": Front(self.authority.context("localhost", until=-DAY), self.behind),
            "unknown": Front(Authority(folder, "stranger").context("localhost"), self.behind),
        }
        self.number = 0

    def end(self) -> None:
        for front in self.fronts.values():
            front.end()

    def tests(self) -> Iterator[tuple[str, Callable[[], None]]]:
        for test in (
            self.certificates,
            self.certificates_of_a_provider,
            self.tunnel,
            self.plain_through_proxy,
            self.proxy_with_password,
            self.proxy_with_tls,
            self.socks,
            self.socks_with_password,
            self.proxy_refuses,
            self.proxy_is_silent,
            self.proxy_is_gone,
            self.proxy_is_no_proxy,
            self.direct_hosts,
        ):
            yield test.__name__, test

    @contextmanager
    def gateway(self, urls: dict[str, str], keys: Optional[dict[str, str]] = None, **variables: str) -> Iterator[Gateway]:
        """A gateway that logs everything, with more keys for some providers. No secret may be in the log when it ends."""
        self.number += 1
        config = 'env_providers = false\n[log]\nlevel = "trace"\n' + "".join(
            f'[[provider]]\nname = "{name}"\nprotocol = "openai-chat"\nbase_url = "{url}"\n'
            f'api_key = {{ value = "{KEY}" }}\nconnect_timeout = "3s"\n{(keys or {}).get(name, "")}'
            for name, url in urls.items()
        )
        gateway = Gateway(self.binary, self.folder, f"network-{self.number}", config, variables)
        try:
            yield gateway
        finally:
            gateway.end()
        log = gateway.log_file.read_text()
        for secret in (KEY, PASSWORD, PASSWORD_READ, "hello there"):
            equal(secret in log, False, f"{secret!r} in the log")

    def certificates(self) -> None:
        """The authorities of `SSL_CERT_FILE` are believed, for the names that they signed, while it lasts."""
        port = {name: front.port for name, front in self.fronts.items()}
        cut = Script(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {}", self.authority.context("localhost"))
        urls = {name: f"https://localhost:{port[name]}/openai/v1" for name in port}
        urls["by-number"] = f"https://127.0.0.1:{port['sound']}/openai/v1"
        urls["wrong-number"] = f"https://127.0.0.1:{port['expired']}/openai/v1"
        urls["not-tls"] = f"https://localhost:{self.behind[1]}/openai/v1"
        urls["cut"] = f"https://localhost:{cut.port}/v1"
        with self.gateway(urls, SSL_CERT_FILE=str(self.authority.file)) as gateway:
            answered(gateway, "sound")
            answered(gateway, "by-number")
            for name, words in (
                ("misnamed", "not valid for name"),
                ("expired", "expired"),
                ("unknown", "UnknownIssuer"),
                ("not-tls", "TLS"),
            ):
                refused(gateway, name, 502, words)
            raw_reply = raw.ask(gateway.base, "openai-chat", "cut/m", "hello there", is_streamed=True)
            equal(raw_reply.status, 502, "a stream that broke off before its first event")
        cut.end()

    def certificates_of_a_provider(self) -> None:
        """A provider's own authority takes the place of all others, and its client certificate is shown to it alone."""
        folder = self.folder / "private"
        folder.mkdir()
        private = Authority(folder, "private")
        demanding = private.context("localhost")
        demanding.verify_mode = ssl.CERT_REQUIRED
        demanding.load_verify_locations(private.file)
        private.context("gateway.test")
        front = Front(demanding, self.behind)
        trust = f'ca_file = "{private.file}"\n'
        keys = {
            "member": f'{trust}client_certificate = "{folder / "gateway.test.pem"}"\n',
            "anonymous": trust,
            "elsewhere": trust,
        }
        urls = {name: f"https://localhost:{front.port}/openai/v1" for name in ("member", "anonymous", "untrusting")}
        urls["elsewhere"] = f"https://localhost:{self.fronts['sound'].port}/openai/v1"
        with self.gateway(urls, keys, SSL_CERT_FILE=str(self.authority.file)) as gateway:
            answered(gateway, "member")
            refused(gateway, "untrusting", 502, "not signed by an authority that is trusted for it")
            refused(gateway, "elsewhere", 502, "not signed by an authority that is trusted for it")
            reply = raw.ask(gateway.base, "openai-chat", "anonymous/m", "hello there")
            equal(reply.status, 502, f"status without a certificate ({reply.body[:300]})")
        front.end()

    def tunnel(self) -> None:
        """TLS through `CONNECT`: the proxy learns the host and nothing else."""
        proxy = Proxy({f"{FAR}:443": ("127.0.0.1", self.fronts["sound"].port)})
        urls = {"far": f"https://{FAR}/openai/v1", "near": f"http://127.0.0.1:{self.behind[1]}/openai/v1"}
        with self.gateway(urls, SSL_CERT_FILE=str(self.authority.file), HTTPS_PROXY=f"http://127.0.0.1:{proxy.port}") as gateway:
            answered(gateway, "far")
            equal({it.line for it in proxy.asked}, {f"CONNECT {FAR}:443 HTTP/1.1"}, "what the proxy was asked")
            equal({frozenset(it.headers) for it in proxy.asked}, {frozenset({"host"})}, "headers for the proxy")
            count = len(proxy.asked)
            answered(gateway, "near")
            equal(len(proxy.asked), count, "requests of this machine through the proxy")
        proxy.end()

    def plain_through_proxy(self) -> None:
        proxy = Proxy({FAR: self.behind, f"{FAR}:8080": self.behind})
        urls = {"far": f"http://{FAR}/openai/v1", "port": f"http://{FAR}:8080/openai/v1"}
        with self.gateway(urls, http_proxy=f"127.0.0.1:{proxy.port}") as gateway:
            answered(gateway, "far")
            asked = proxy.asked[0]
            equal(asked.line, f"POST http://{FAR}/openai/v1/chat/completions HTTP/1.1", "what the proxy was asked")
            equal((asked.headers["host"], asked.headers["authorization"]), (FAR, f"Bearer {KEY}"), "headers")
            equal("proxy-authorization" in asked.headers, False, "credentials for the proxy")
            answered(gateway, "port")
        proxy.end()

    def proxy_with_password(self) -> None:
        table = {f"{FAR}:443": ("127.0.0.1", self.fronts["sound"].port), FAR: self.behind}
        proxy = Proxy(table, credentials=f"me:{PASSWORD_READ}")
        urls = {"tls": f"https://{FAR}/openai/v1", "plain": f"http://{FAR}/openai/v1"}
        for user, is_right in ((f"me:{PASSWORD}", True), (f"you:{PASSWORD}", False)):
            url = f"http://{user}@127.0.0.1:{proxy.port}"
            with self.gateway(urls, ALL_PROXY=url, SSL_CERT_FILE=str(self.authority.file)) as gateway:
                for name in urls:
                    if is_right:
                        answered(gateway, name)
                    else:
                        refused(gateway, name, 502, "407")
        proxy.end()

    def proxy_with_tls(self) -> None:
        """A proxy that is itself spoken to in TLS: its certificate counts like any other."""
        table = {f"{FAR}:443": ("127.0.0.1", self.fronts["sound"].port), FAR: self.behind}
        sound, unknown = (
            Proxy(table, credentials=f"me:{PASSWORD_READ}", context=authority.context("localhost", "127.0.0.1"))
            for authority in (self.authority, Authority(self.folder, "stranger to proxies"))
        )
        urls = {"tls": f"https://{FAR}/openai/v1", "plain": f"http://{FAR}/openai/v1"}
        trust = {"SSL_CERT_FILE": str(self.authority.file)}
        for host in ("localhost", "127.0.0.1"):
            with self.gateway(urls, ALL_PROXY=f"https://me:{PASSWORD}@{host}:{sound.port}", **trust) as gateway:
                for name in urls:
                    answered(gateway, name)
        with self.gateway(urls, ALL_PROXY=f"https://me:{PASSWORD}@localhost:{unknown.port}", **trust) as gateway:
            for name in urls:
                refused(gateway, name, 502, f"the proxy localhost:{unknown.port} gives no connection to {FAR}")
        equal(unknown.asked, [], "what a proxy was asked that nobody vouches for")
        sound.end()
        unknown.end()

    def socks(self) -> None:
        """A SOCKS proxy is asked for connections, by name or by number as its scheme says."""
        number = "192.0.2.7"
        table = {
            f"{FAR}:443": ("127.0.0.1", self.fronts["sound"].port),
            f"{FAR}:80": self.behind,
            f"{number}:80": self.behind,
        }
        proxy = Socks(table)
        urls = {"tls": f"https://{FAR}/openai/v1", "plain": f"http://{FAR}/openai/v1"}
        urls["number"] = f"http://{number}/openai/v1"
        urls["forbidden"] = "http://elsewhere.test/openai/v1"
        trust = {"SSL_CERT_FILE": str(self.authority.file)}
        with self.gateway(urls, all_proxy=f"socks5h://127.0.0.1:{proxy.port}", **trust) as gateway:
            for name in ("tls", "plain", "number"):
                answered(gateway, name)
            equal(set(proxy.asked), set(table), "what the proxy was asked")
            refused(gateway, "forbidden", 502, "its rules do not allow it")
        proxy.asked.clear()
        # The name is to be looked up here, where nobody knows it.
        with self.gateway(urls, ALL_PROXY=f"socks5://127.0.0.1:{proxy.port}", **trust) as gateway:
            answered(gateway, "number")
            refused(gateway, "plain", 502, f"gives no connection to {FAR}")
        equal(set(proxy.asked), {f"{number}:80"}, "what the proxy was asked")
        proxy.end()

    def socks_with_password(self) -> None:
        proxy = Socks({f"{FAR}:80": self.behind}, credentials=f"me:{PASSWORD_READ}")
        urls = {"plain": f"http://{FAR}/openai/v1"}
        for user, words in (
            (f"me:{PASSWORD}@", ""),
            (f"you:{PASSWORD}@", "it does not take its user and password"),
            ("", "it wants credentials"),
        ):
            with self.gateway(urls, HTTP_PROXY=f"socks5h://{user}127.0.0.1:{proxy.port}") as gateway:
                if words:
                    refused(gateway, "plain", 502, words)
                else:
                    answered(gateway, "plain")
        proxy.end()

    def proxy_refuses(self) -> None:
        for status in (403, 502, 503):
            proxy = Proxy({}, status=status)
            with self.gateway({"tls": f"https://{FAR}/openai/v1"}, HTTPS_PROXY=f"http://127.0.0.1:{proxy.port}") as gateway:
                refused(gateway, "tls", 502, f"the proxy 127.0.0.1:{proxy.port} gives no connection to {FAR}: status {status}")
            proxy.end()

    def proxy_is_silent(self) -> None:
        proxy = Script(None)
        with self.gateway({"tls": f"https://{FAR}/openai/v1"}, HTTPS_PROXY=f"http://127.0.0.1:{proxy.port}") as gateway:
            refused(gateway, "tls", 504, "within 3s")
        proxy.end()

    def proxy_is_gone(self) -> None:
        proxy = Script(None)
        proxy.end()
        with self.gateway({"tls": f"https://{FAR}/openai/v1"}, HTTPS_PROXY=f"http://127.0.0.1:{proxy.port}") as gateway:
            refused(gateway, "tls", 502, f"127.0.0.1:{proxy.port}")

    def proxy_is_no_proxy(self) -> None:
        """A variable that cannot be followed is told of, not gone around."""
        urls = {"tls": f"https://{FAR}/openai/v1", "near": f"http://127.0.0.1:{self.behind[1]}/openai/v1"}
        with self.gateway(urls, ALL_PROXY=f"socks4://me:{PASSWORD}@127.0.0.1:1080") as gateway:
            refused(gateway, "tls", 502, "the proxy of ALL_PROXY cannot be used")
            answered(gateway, "near")

    def direct_hosts(self) -> None:
        """Hosts of `NO_PROXY` are asked directly, and nobody else is: such a name does not exist here."""
        proxy = Proxy({FAR: self.behind, "notfar.test": self.behind})
        port = self.behind[1]
        urls = {
            "name": "http://api.near.test/openai/v1",
            "domain": "http://a.b.near.test/openai/v1",
            "other": f"http://{FAR}/openai/v1",
            "alike": "http://notfar.test/openai/v1",
            # Other spellings of this machine's address, which only the variable makes direct.
            "spelt": f"http://127.1:{port}/openai/v1",
            "range": f"http://0.0.0.0:{port}/openai/v1",
        }
        direct = f"127.1:{port}, .near.test,api.near.test:80,far.example, 0.0.0.0/8,{FAR}:8080"
        variables = {"HTTP_PROXY": f"http://127.0.0.1:{proxy.port}", "NO_PROXY": direct}
        with self.gateway(urls, **variables) as gateway:
            for name in ("name", "domain"):
                refused(gateway, name, 502, "near.test")
            equal(proxy.asked, [], "what the proxy was asked")
            answered(gateway, "spelt")
            answered(gateway, "range")
            equal(proxy.asked, [], "what the proxy was asked")
            for name in ("other", "alike"):
                answered(gateway, name)
        proxy.end()


def answered(gateway: Gateway, provider: str) -> None:
    """Whole and streamed, short and long, over connections that are used again."""
    for protocol in ("openai-chat", "anthropic-messages"):
        for is_streamed in (False, True):
            reply = raw.ask(gateway.base, protocol, f"{provider}/m", "hello there", is_streamed)
            equal(reply.status, 200, f"status of {provider} ({reply.body[:300]})")
            holds(reply.body, "hello", "the answer")
    reply = raw.ask(gateway.base, "openai-chat", f"{provider}/m", LONG)
    equal(reply.status, 200, f"status of {provider} for a long text ({reply.body[:300]})")
    reply = raw.ask(gateway.base, "openai-chat", f"{provider}/m", "repeat 3000 words", is_streamed=True)
    holds(reply.body, "[DONE]", "the end of a long stream")


def refused(gateway: Gateway, provider: str, status: int, words: str) -> None:
    """An error of the upstream's, in the client's shape, with words that help and no secret."""
    for protocol in ("openai-chat", "anthropic-messages"):
        for is_streamed in (False, True):
            reply = raw.ask(gateway.base, protocol, f"{provider}/m", "hello there", is_streamed)
            equal(reply.status, status, f"status of {provider} ({reply.body[:300]})")
            holds(reply.json()["error"]["message"], words, "the message")
            for secret in (KEY, PASSWORD, PASSWORD_READ):
                equal(secret in f"{reply.body}{reply.headers}", False, f"{secret!r} in the answer")
    for client in ("openai-chat", "anthropic-messages"):
        name = f'sabir_errors_total{{provider="{provider}",client="{client}",upstream="openai-chat",fault="upstream"}}'
        equal(gateway.metrics()[name], 2, "errors of the upstream")
