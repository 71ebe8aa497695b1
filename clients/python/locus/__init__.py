# SPDX-License-Identifier: Apache-2.0
"""A client of Locus, with the standard library only.

    import locus

    with locus.Client("http://127.0.0.1:7070") as client:
        client.put_records({"records": [{"source": "crm", "key": "1", "attributes": {"name": ["Café Nord"]}}]})
        for entity in client.all_entities(q="nord"):
            print(entity["id"])
"""

from __future__ import annotations

import http.client
import random
import time
from collections.abc import Iterator
from typing import Any

from . import types
from ._core import Conflict, Denied, Download, Invalid, LocusError, NotFound, Unavailable, _again, _failure
from ._operations import Operations

__all__ = ["Client", "Conflict", "Denied", "Download", "Invalid", "LocusError", "NotFound", "Unavailable", "types"]


class Client(Operations):
    """All operations of a server, one method for each, and the feed of changes."""

    def __enter__(self) -> Client:
        return self

    def follow_changes(self, after: str | None = None, *, cell: str | None = None) -> Iterator[tuple[str, types.Change | None]]:
        """The changes after a watermark, or from now on, each with the watermark after it, as they happen.

        The first item is the start, without a change. When the connection is lost the feed resumes after the last one.
        """
        begun = False
        query: dict[str, Any] = {"cell": cell}
        while True:
            try:
                for kind, event_id, data in self._events("/v1/changes", {**query, "after": after}):
                    after = event_id or after
                    if kind == "end":
                        raise _failure(data["code"], data["detail"], status=data["status"], outcome=data["outcome"], problem=data)
                    if kind == "change" or kind == "start" and not begun:
                        begun = True
                        yield after or "", data if kind == "change" else None
            except LocusError as e:
                if not _again(e, True):
                    raise
            except (OSError, http.client.HTTPException, ValueError):
                pass
            time.sleep(random.random())
