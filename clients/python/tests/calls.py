# SPDX-License-Identifier: Apache-2.0
"""Makes the calls of standard input at the server of the first argument, and prints the result of each as JSON."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import locus  # noqa: E402


def main() -> None:
    results = []
    with locus.Client(sys.argv[1]) as client:
        for call in json.load(sys.stdin):
            arguments = {**call.get("query", {}), **call.get("header", {})}
            names = {k: k.lower().replace("-", "_") + ("_" if k in ("class", "from") else "") for k in arguments}
            body = [call["body"]] if "body" in call else []
            try:
                answer = getattr(client, call["python"])(*call.get("path", []), *body, **{names[k]: v for k, v in arguments.items()})
                if isinstance(answer, locus.Download):
                    with answer:
                        answer = answer.read().decode(errors="replace")
                results.append({"ok": answer})
            except locus.LocusError as e:
                results.append({"error": {"code": e.code, "detail": e.detail, "status": e.status, "outcome": e.outcome, "pointer": e.pointer}})
    json.dump(results, sys.stdout)


main()
