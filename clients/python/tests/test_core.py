# SPDX-License-Identifier: Apache-2.0
"""Retries, streams and pages against a server that fails as told."""

import json
import os
import sys
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import locus  # noqa: E402
from locus import _core  # noqa: E402

_core.FIRST_PAUSE = 0.001


class Scripted(BaseHTTPRequestHandler):
    """Answers with the server's replies, one after the other: None closes the connection."""

    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with self.server.lock:  # type: ignore[attr-defined]
            self.server.seen.append((self.path, dict(self.headers), body))  # type: ignore[attr-defined]
            reply = self.server.replies.pop(0)  # type: ignore[attr-defined]
        if reply is None:
            self.close_connection = True
            return
        status, text = reply
        data = text.encode() if isinstance(text, str) else json.dumps(text).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_DELETE = answer

    def log_message(self, *_: Any) -> None:
        pass


REFUSED = (503, {"code": "overloaded", "detail": "later", "outcome": "not_applied"})
UNKNOWN = (503, {"code": "commit_unknown", "detail": "lost", "outcome": "unknown"})


class CoreTest(unittest.TestCase):
    def setUp(self) -> None:
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
        self.server.lock, self.server.seen, self.server.replies = threading.Lock(), [], []  # type: ignore[attr-defined]
        thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        self.client = locus.Client(f"http://127.0.0.1:{self.server.server_port}", patience=10)
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.addCleanup(self.client.close)

    def script(self, *replies: Any) -> list[Any]:
        self.server.replies[:] = replies  # type: ignore[attr-defined]
        self.server.seen.clear()  # type: ignore[attr-defined]
        return self.server.seen  # type: ignore[attr-defined]

    def test_repeats_what_is_safe(self) -> None:
        ok = (200, {"results": []})
        seen = self.script(REFUSED, UNKNOWN, None, ok)
        self.assertEqual(self.client.put_records({"records": []}), {"results": []})
        self.assertEqual(len(seen), 4)
        seen = self.script(REFUSED, ok)
        self.client.create_token({"name": "x", "role": "reader"})  # type: ignore[typeddict-item]
        self.assertEqual(len(seen), 2)
        for reply, code in ((UNKNOWN, "commit_unknown"), (None, "lost")):
            self.client.close()
            seen = self.script(reply, ok)
            with self.assertRaises(locus.Unavailable) as caught:
                self.client.create_token({"name": "x", "role": "reader"})  # type: ignore[typeddict-item]
            self.assertEqual((caught.exception.code, len(seen)), (code, 1))

    def test_errors_have_classes(self) -> None:
        for status, code, kind in ((404, "not_found", locus.NotFound), (410, "erased", locus.NotFound), (422, "invalid", locus.Invalid), (409, "conflict", locus.Conflict), (401, "unauthenticated", locus.Denied)):
            self.script((status, {"code": code, "detail": "no", "outcome": "not_applied"}))
            with self.assertRaises(kind) as caught:
                self.client.get_entity("x")
            self.assertEqual(caught.exception.code, code)

    def test_hits_have_one_key(self) -> None:
        seen = self.script(None, REFUSED, (200, {"results": [{}]}))
        self.client.add_hits({"hits": [{"metric": "m"}]})
        self.assertEqual(len({(h["Idempotency-Key"], b) for _, h, b in seen}), 1)
        self.assertIn("at", json.loads(seen[0][2])["hits"][0])

    def test_pages(self) -> None:
        seen = self.script((200, {"entities": [{"id": "a"}, {"id": "b"}], "cursor": "2"}), (200, {"entities": [{"id": "c"}]}))
        self.assertEqual([e["id"] for e in self.client.all_entities(q="x y", has=["name", "city"])], ["a", "b", "c"])
        self.assertEqual([p for p, _, _ in seen], ["/v1/entities?q=x%20y&has=name&has=city", "/v1/entities?q=x%20y&has=name&has=city&cursor=2"])

    def test_lines(self) -> None:
        lines: list[Any] = []
        self.script((200, '{"type":"progress","done":1}\n{"type":"result","cells":3}\n'))
        self.assertEqual(self.client.check_installation({}, progress=lines.append), {"cells": 3})
        self.assertEqual(lines, [{"type": "progress", "done": 1}])
        self.script((200, '{"type":"progress"}\n'))
        with self.assertRaisesRegex(locus.LocusError, "cut off"):
            self.client.check_installation({})
        self.script((200, '{"type":"error","code":"conflict","detail":"no","status":409,"outcome":"not_applied"}\n'))
        with self.assertRaises(locus.Conflict):
            self.client.check_installation({})

    def test_feed_resumes(self) -> None:
        change = 'event: change\nid: g0-0:{0}\ndata: {{"entity":"e{0}"}}\n\n'
        end = 'event: end\ndata: {"code":"trimmed","detail":"gone","outcome":"not_applied","status":410}\n\n'
        seen = self.script((200, "event: start\nid: g0-0:1\ndata: {}\n\n" + change.format(2)), (200, "event: start\nid: g0-0:2\ndata: {}\n\n" + change.format(3) + end))
        got = []
        with self.assertRaises(locus.LocusError) as caught:
            for watermark, data in self.client.follow_changes("g0-0:1"):
                got.append((watermark, data and data["entity"]))
        self.assertEqual(caught.exception.code, "trimmed")
        self.assertEqual(got, [("g0-0:1", None), ("g0-0:2", "e2"), ("g0-0:3", "e3")])
        self.assertEqual([p for p, _, _ in seen], ["/v1/changes?after=g0-0%3A1", "/v1/changes?after=g0-0%3A2"])

    def test_trace_goes_on(self) -> None:
        parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        seen = self.script((200, {}))
        with locus.Client(f"http://127.0.0.1:{self.server.server_port}", trace=lambda: {"traceparent": parent}) as client:
            client.get_status()
        self.assertEqual(seen[0][1]["traceparent"], parent)

    def test_token_needs_https(self) -> None:
        with self.assertRaises(ValueError):
            locus.Client("http://locus.example", token="locus_tok_x")
        seen = self.script((200, {}))
        with locus.Client(f"http://127.0.0.1:{self.server.server_port}", token="locus_tok_x") as client:
            client.get_status()
        self.assertEqual(seen[0][1]["Authorization"], "Bearer locus_tok_x")


if __name__ == "__main__":
    unittest.main()
