"""What may stand between a gateway and its upstreams: servers with certificates of their own, and proxies."""

import asyncio
import base64
import datetime
import ssl
import threading
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Optional

# Comes with `google-genai`.
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

DAY = datetime.timedelta(days=1)
START_S = 10
Address = tuple[str, int]


class Authority:
    """A certificate authority of the tests: nobody trusts it who is not told to."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        self.certificate = self._sign(self.key.public_key(), self.name, DAY, [])
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))

    def context(self, *names: str, until: datetime.timedelta = DAY) -> ssl.SSLContext:
        """A server's TLS with a certificate for these names, signed by this authority."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._sign(key.public_key(), x509.Name([]), until, list(names))
        file = self.folder / f"{'-'.join(names)}.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _sign(
        self, public: ec.EllipticCurvePublicKey, subject: x509.Name, until: datetime.timedelta, names: list[str]
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = x509.CertificateBuilder(self.name, subject, public, x509.random_serial_number())
        builder = builder.not_valid_before(now - 3 * DAY).not_valid_after(now + until)
        builder = builder.add_extension(x509.BasicConstraints(ca=not names, path_length=None), critical=True)
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName([_name(it) for it in names]), critical=True)
        return builder.sign(self.key, hashes.SHA256())


def _name(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(text))
    except ValueError:
        return x509.DNSName(text)


class Listener:
    """A server on a free port of the loopback, in a thread of its own."""

    def __init__(self, context: Optional[ssl.SSLContext] = None) -> None:
        self.context = context
        self.port = 0
        # How many connections were accepted; one whose handshake failed is none.
        self.connections = 0
        self.loop = asyncio.new_event_loop()
        self.has_started = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()
        assert self.has_started.wait(START_S), "the listener did not start"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise NotImplementedError

    def end(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(START_S)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        # Clients that refuse a certificate make the handshake fail, which is what some tests want.
        self.loop.set_exception_handler(lambda *_: None)
        server = self.loop.run_until_complete(asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self.context))
        self.port = server.sockets[0].getsockname()[1]
        self.has_started.set()
        self.loop.run_forever()
        server.close()
        left = asyncio.all_tasks(self.loop)
        for task in left:
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self.loop.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            await self.handle(reader, writer)
        except (OSError, EOFError):
            pass
        finally:
            writer.close()


class Front(Listener):
    """Takes TLS off and hands everything on."""

    def __init__(self, context: Optional[ssl.SSLContext], behind: Address) -> None:
        self.behind = behind
        super().__init__(context)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _join(reader, writer, self.behind, b"")


class Script(Listener):
    """Reads a request and answers with fixed bytes, or not at all."""

    def __init__(self, answer: Optional[bytes], context: Optional[ssl.SSLContext] = None) -> None:
        self.answer = answer
        super().__init__(context)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = Asked.of(await reader.readuntil(b"\r\n\r\n"))
        if self.answer is None:
            await reader.read()
        else:
            # Closing with a body unread resets the connection, and the answer may go with it.
            await reader.readexactly(int(asked.headers.get("content-length", 0)))
            writer.write(self.answer)
            await writer.drain()
            # Whoever is hung up on without a TLS farewell cannot know whether that was all.
            writer.transport.abort() if self.context else writer.close()


@dataclass(frozen=True)
class Asked:
    """A request that came to a proxy or a witness."""

    line: str
    headers: dict[str, str]
    body: bytes = b""

    @classmethod
    def of(cls, head: bytes) -> "Asked":
        line, *rest = head.decode().strip().split("\r\n")
        headers: dict[str, str] = {}
        for name, value in (it.split(": ", 1) for it in rest):
            before = headers.get(name.lower())
            headers[name.lower()] = value if before is None else f"{before}, {value}"
        return cls(line, headers)


class Witness(Listener):
    """Writes down what it is asked, and has nothing to say to it."""

    def __init__(self, context: Optional[ssl.SSLContext] = None) -> None:
        self.asked: list[Asked] = []
        super().__init__(context)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = Asked.of(await reader.readuntil(b"\r\n\r\n"))
        body = await reader.readexactly(int(asked.headers.get("content-length", 0)))
        self.asked.append(replace(asked, body=body))
        writer.write(b"HTTP/1.1 403 No\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}")
        await writer.drain()


class Proxy(Listener):
    """A forward proxy: tunnels by `CONNECT`, and plain requests by their whole address, to where its table says."""

    def __init__(
        self,
        table: dict[str, Address],
        credentials: str = "",
        status: int = 0,
        context: Optional[ssl.SSLContext] = None,
    ) -> None:
        self.table = table
        self.wanted = f"Basic {base64.b64encode(credentials.encode()).decode()}" if credentials else None
        self.status = status
        self.asked: list[Asked] = []
        super().__init__(context)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = Asked.of(await reader.readuntil(b"\r\n\r\n"))
        self.asked.append(asked)
        method, target, _ = asked.line.split()
        status = self.status
        if self.wanted is not None and asked.headers.get("proxy-authorization") != self.wanted:
            status = 407
        host = target if method == "CONNECT" else target.removeprefix("http://").split("/")[0]
        if status or host not in self.table:
            writer.write(f"HTTP/1.1 {status or 502} No\r\ncontent-length: 10\r\n\r\nproxy says".encode())
            return await writer.drain()
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            return await _join(reader, writer, self.table[host], b"")
        # One request for each connection, as the table is looked at only once.
        hop = ("proxy-authorization", "connection")
        kept = [f"{name}: {value}" for name, value in asked.headers.items() if name not in hop]
        path = target.removeprefix(f"http://{host}")
        forwarded = "\r\n".join([f"{method} {path} HTTP/1.1", "connection: close", *kept, "", ""])
        await _join(reader, writer, self.table[host], forwarded.encode())


class Socks(Listener):
    """A SOCKS 5 proxy: connects to where its table says, for those who have the credentials."""

    def __init__(self, table: dict[str, Address], credentials: str = "") -> None:
        self.table = table
        self.credentials = credentials
        self.asked: list[str] = []
        super().__init__()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, count = await reader.readexactly(2)
        ways = await reader.readexactly(count)
        way = 2 if self.credentials else 0
        writer.write(bytes([5, way if way in ways else 0xFF]))
        if way not in ways:
            return await writer.drain()
        if way == 2:
            await reader.readexactly(1)
            is_known = f"{await self._word(reader)}:{await self._word(reader)}" == self.credentials
            writer.write(bytes([1, 0 if is_known else 1]))
            if not is_known:
                return await writer.drain()
        _, _, _, kind = await reader.readexactly(4)
        host = await self._word(reader) if kind == 3 else str(ip_address(await reader.readexactly({1: 4, 4: 16}[kind])))
        target = f"{host}:{int.from_bytes(await reader.readexactly(2), 'big')}"
        self.asked.append(target)
        writer.write(bytes([5, 0 if target in self.table else 2, 0, 1, 0, 0, 0, 0, 0, 0]))
        await writer.drain()
        if target in self.table:
            await _join(reader, writer, self.table[target], b"")

    async def _word(self, reader: asyncio.StreamReader) -> str:
        (length,) = await reader.readexactly(1)
        return (await reader.readexactly(length)).decode()


async def _join(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, behind: Address, first: bytes
) -> None:
    """Carries bytes both ways until either side has said its last."""
    far_reader, far_writer = await asyncio.open_connection(*behind)
    far_writer.write(first)
    ways = [asyncio.ensure_future(_carry(reader, far_writer)), asyncio.ensure_future(_carry(far_reader, writer))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        far_writer.close()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(1 << 16):
        writer.write(piece)
        await writer.drain()
