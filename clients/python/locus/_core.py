# SPDX-License-Identifier: Apache-2.0
"""Requests, retries, streams and errors."""

from __future__ import annotations

import http.client
import ipaddress
import json
import random
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from types import TracebackType
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

FIRST_PAUSE, LAST_PAUSE = 0.1, 5.0
SILENCE = 20.0  # seconds; a feed sends a heartbeat every 3


class LocusError(Exception):
    """A request that the server refused, or that was not answered.

    code is stable (not_found, invalid, ...); "connection" means that no server was reached, "lost" that the response
    was lost. outcome is not_applied or unknown.
    """

    def __init__(self, code: str, detail: str, *, status: int = 0, outcome: str = "unknown", problem: Mapping[str, Any] | None = None, retry_after: float = 0) -> None:
        super().__init__(f"{detail} ({code})")
        self.code, self.detail, self.status, self.outcome, self.retry_after = code, detail, status, outcome, retry_after
        self.problem: Mapping[str, Any] = problem or {}
        self.pointer: str = self.problem.get("pointer", "")
        self.errors: list[dict[str, Any]] = self.problem.get("errors") or []


class NotFound(LocusError):
    """Codes not_found and erased: there is nothing, or no longer, at this address."""


class Invalid(LocusError):
    """Statuses 400 and 422: the request has to be changed."""


class Conflict(LocusError):
    """Status 409: what is stored contradicts the request."""


class Denied(LocusError):
    """Statuses 401 and 403: the token is not valid, or lacks the permission."""


class Unavailable(LocusError):
    """No server, or none that can answer now; retried already."""


def _kind(status: int, code: str) -> type[LocusError]:
    if code in ("not_found", "erased"):
        return NotFound
    if status in (400, 422):
        return Invalid
    if status == 409:
        return Conflict
    if status in (401, 403):
        return Denied
    return Unavailable if status in (0, 429, 502, 503, 504) else LocusError


def _failure(code: str, detail: str, **rest: Any) -> LocusError:
    return _kind(rest.get("status", 0), code)(code, detail, **rest)


def _refusal(status: int, text: bytes, retry_after: str | None) -> LocusError:
    wait = float(retry_after) if retry_after and retry_after.isdigit() else 0.0
    try:
        problem = json.loads(text)
        code, detail = problem["code"], problem["detail"]
    except (ValueError, KeyError, TypeError):
        return _failure("status", f"the server answered {status}", status=status, outcome="unknown" if status >= 500 or status in (408, 429) else "not_applied", retry_after=wait)
    return _failure(code, detail, status=status, outcome=problem.get("outcome", "unknown"), problem=problem, retry_after=wait)


def _again(error: LocusError, repeatable: bool) -> bool:
    """Whether a failed request may be sent again."""
    if error.code == "connection":
        return True
    if error.status in (429, 503):
        return repeatable or error.outcome == "not_applied"
    return repeatable and error.status in (0, 502, 504)


def segment(text: str) -> str:
    """A part of a path. Parts of dots would be taken for directories."""
    return text.replace(".", "%2E") if text.strip(".") == "" else quote(text, safe="")


def segments(texts: Sequence[str]) -> str:
    """Parts of a path."""
    return "/".join(map(segment, texts))


def _text(value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, (list, tuple)):
        return [str(v) for v in value]
    return [str(value)]


class Download:
    """An answer that is read as it comes: read() or iterate over its lines, then close()."""

    def __init__(self, response: http.client.HTTPResponse, close: Callable[[], None]) -> None:
        self._response, self._close = response, close
        self.headers: Mapping[str, str] = response.headers  # pyright: ignore[reportAttributeAccessIssue]

    def read(self, size: int | None = None) -> bytes:
        """The next size bytes, or all; fails if the server was cut off."""
        return self._response.read(size) if size is not None else self._response.read()

    def __iter__(self) -> Iterator[bytes]:
        while line := self._response.readline():
            yield line

    def close(self) -> None:
        self._close()

    def __enter__(self) -> Download:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class Core:
    """A server. It may be used by several threads: each has a connection of its own.

    A token needs https, except to this machine. ca is a file of certificates to trust instead of the system's. timeout
    limits a request, patience the time in which it is sent again, in seconds. trace returns the headers of the current trace,
    such as traceparent.
    """

    def __init__(self, server: str, *, token: str | None = None, ca: str | None = None, timeout: float = 15.0, patience: float = 30.0, trace: Callable[[], Mapping[str, str]] | None = None) -> None:
        url = urlsplit(server)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ValueError("want the URL of a server such as http://127.0.0.1:7070")
        if token and url.scheme != "https" and not _loopback(url.hostname):
            raise ValueError("a token is sent only over https, except to this machine: others could read it on the way")
        self._host, self._port, self._base = url.hostname, url.port, url.path.rstrip("/")
        self._tls = ssl.create_default_context(cafile=ca) if url.scheme == "https" else None
        self._token, self._timeout, self._patience, self._trace = token, timeout, patience, trace
        self._local = threading.local()

    def close(self) -> None:
        """Closes the connection of this thread."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def __enter__(self):  # type: ignore[no-untyped-def]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        if self._tls is not None:
            return http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._tls)
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout)

    def _once(self, method: str, target: str, body: bytes | None, headers: dict[str, str], long: float | None) -> tuple[http.client.HTTPResponse, http.client.HTTPConnection]:
        """Sends a request once. Long answers have a connection of their own, which may be silent for as many seconds."""
        connection = None if long is not None else getattr(self._local, "connection", None)
        try:
            if connection is None:
                connection = self._connect(self._timeout)
                connection.connect()
                connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if long is None:
                    self._local.connection = connection
        except (OSError, http.client.HTTPException) as e:
            raise _failure("connection", f"cannot connect to {self._host}: {e}", outcome="not_applied") from e
        try:
            if long is not None:
                connection.sock.settimeout(long or None)
            connection.request(method, target, body=body, headers=headers)
            response = connection.getresponse()
            if 200 <= response.status < 300:
                return response, connection
            text = response.read()
        except (OSError, http.client.HTTPException) as e:
            self._drop(connection)
            raise _failure("lost", f"{method} {target} was not answered: {e}") from e
        if long is not None:
            connection.close()
        raise _refusal(response.status, text, response.headers.get("Retry-After"))

    def _drop(self, connection: http.client.HTTPConnection) -> None:
        connection.close()
        if getattr(self._local, "connection", None) is connection:
            self._local.connection = None

    def _send(self, method: str, path: str, *, body: Any = None, query: Mapping[str, Any] | None = None, header: Mapping[str, Any] | None = None, repeatable: bool = False, long: float | None = None) -> tuple[http.client.HTTPResponse, http.client.HTTPConnection]:
        """Sends a request until it is answered, for as long as patience lasts and repeating it is safe."""
        pairs = [(k, t) for k, v in (query or {}).items() for t in _text(v) if t]
        target = self._base + path + ("?" + urlencode(pairs, quote_via=quote) if pairs else "")
        headers = {k: t for k, v in (header or {}).items() for t in _text(v)}
        if path == "/v1/hits":  # with a key, which needs times, they count once however often they are sent
            if not headers:
                headers["Idempotency-Key"] = secrets.token_hex(16)
                now = datetime.now(timezone.utc).isoformat()
                body = {**body, "hits": [{"at": now, **hit} for hit in body["hits"]]}
            repeatable = True
        if self._trace is not None:
            headers.update(self._trace())
        if self._token:
            headers["Authorization"] = "Bearer " + self._token
        data = None
        if body is not None:
            data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
            headers["Content-Type"] = "application/json"
        begin, pause, fresh = time.monotonic(), FIRST_PAUSE, False
        while True:
            kept = getattr(self._local, "connection", None) is not None
            try:
                return self._once(method, target, data, headers, long)
            except LocusError as e:
                if not _again(e, repeatable):
                    raise
                if e.code == "lost" and kept and not fresh:
                    fresh = True  # the server has closed an idle connection
                    continue
                wait = max(pause * (0.5 + random.random() / 2), e.retry_after)
                if time.monotonic() - begin + wait > self._patience:
                    raise
            time.sleep(wait)
            pause = min(2 * pause, LAST_PAUSE)

    def _value(self, method: str, path: str, *, repeatable: bool = False, **rest: Any) -> Any:
        fresh = False
        while True:
            response, connection = self._send(method, path, repeatable=repeatable, **rest)
            try:
                text = response.read()
                return json.loads(text) if text else None
            except (OSError, http.client.HTTPException) as e:
                self._drop(connection)
                if not repeatable or fresh:
                    raise _failure("lost", f"the response to {method} {path} was cut off: {e}") from e
                fresh = True

    def _void(self, method: str, path: str, **rest: Any) -> None:
        self._value(method, path, **rest)

    def _download(self, method: str, path: str, **rest: Any) -> Download:
        response, connection = self._send(method, path, long=0, **rest)
        return Download(response, connection.close)

    def _lines(self, method: str, path: str, *, progress: Callable[[dict[str, Any]], None] | None = None, **rest: Any) -> Any:
        with self._download(method, path, **rest) as lines:
            try:
                for text in lines:
                    line = json.loads(text)
                    kind = line.pop("type")
                    if kind == "result":
                        return line
                    if kind == "error":
                        raise _failure(line["code"], line["detail"], status=line["status"], outcome=line["outcome"], problem=line)
                    if progress is not None:
                        progress({"type": kind, **line})
            except (OSError, http.client.HTTPException, ValueError) as e:
                raise _failure("lost", f"{method} {path} was cut off: {e}") from e
        raise _failure("lost", f"{method} {path} was cut off")

    def _events(self, path: str, query: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
        """The events of one connection: kind, id, data."""
        response, connection = self._send("GET", path, query=query, header={"Accept": "text/event-stream"}, repeatable=True, long=SILENCE)
        with Download(response, connection.close) as lines:
            kind, event_id, data = "", "", ""
            for raw in lines:
                field, _, text = raw.decode().rstrip("\r\n").partition(":")
                text = text[1:] if text.startswith(" ") else text
                if field == "event":
                    kind = text
                elif field == "id":
                    event_id = text
                elif field == "data":
                    data += text
                elif field == "" and kind:
                    yield kind, event_id, json.loads(data) if data else None
                    kind, event_id, data = "", "", ""


def _loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
