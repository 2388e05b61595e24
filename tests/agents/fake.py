"""Servers of a few lines that stand for a vendor's."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Fake(BaseHTTPRequestHandler):
    """Answers each body that is posted by `answer(path, body)`: a status and what is said with it."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        status, answer = self.answer(self.path, body)
        answer = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def serve(fake):
    """Starts a server, which ends with this process, and returns its port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), fake)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port
