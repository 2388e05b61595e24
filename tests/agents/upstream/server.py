"""A scripted model behind an address of the loopback, by the API of one provider."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from upstream.model import Overflow
from upstream.reading import READERS, Invalid
from upstream.writing import WRITERS

ANSWERS = ("/chat/completions", "/responses", "/messages", ":generateContent", ":streamGenerateContent")
COUNTS = ("/input_tokens", "/count_tokens", ":countTokens")


class Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A client that leaves is no error; what goes wrong here, the agent tells."""


class Server:
    """Answers until it is closed."""

    def __init__(self, protocol, model):
        self.protocol, self.model = protocol, model
        self.http = Quiet(("127.0.0.1", 0), handler(protocol, model))
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()

    @property
    def base(self):
        root = "/v1" if self.protocol.startswith("openai") else ""
        return f"http://127.0.0.1:{self.http.server_port}{root}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()


def handler(protocol, model):
    read, writer = READERS[protocol], WRITERS[protocol]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            path = self.path.split("?")[0]
            try:
                received = read(body, path)
                if path.endswith(COUNTS):
                    return self.reply(200, json.dumps(writer.counted(received)))
                if not path.endswith(ANSWERS):
                    return self.reply(404, writer.invalid(f"no such path: {path}"))
                answer = model.answer(received)
            except Overflow as problem:
                return self.refuse(*writer.overflow(problem, received.is_streamed))
            except (Invalid, KeyError) as problem:
                return self.reply(400, writer.invalid(problem))
            if received.is_streamed:
                return self.stream(writer.stream(answer, received))
            self.reply(200, json.dumps(writer.whole(answer)))

        def refuse(self, status, body):
            kind = "text/event-stream" if status == 200 else "application/json"
            self.reply(status, body, kind)

        def reply(self, status, body, kind="application/json"):
            data = body.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def stream(self, frames):
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for text in frames:
                data = text.encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.write(b"0\r\n\r\n")

    return Handler
