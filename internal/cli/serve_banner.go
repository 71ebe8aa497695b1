// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/listen"
	"github.com/locus-db/locus/internal/term"
)

// banner prints the addresses, whether data is kept, and next steps.
func (a *app) banner(svc *locus.DB, base string, w where, s *serving) error {
	m := svc.Cells().Map()
	if a.json {
		ready := map[string]any{"type": "ready", "url": base, "cells": len(m.Cells()), "version": version(),
			"epoch": m.Epoch(), "generation": m.Current()}
		if until := m.Until(); !until.IsZero() {
			ready["until"] = until.UTC()
		}
		if s.fingerprint != "" {
			ready["ca"], ready["ca_fingerprint"] = s.authority, s.fingerprint
		}
		if d := svc.Cells().Documents(); d != "" {
			ready["documents"] = d
		}
		if w.shared {
			ready["map"], ready["servers"] = redactAll(w.place), len(servers(m))
		} else {
			ready["data"] = w.place
		}
		return a.printJSON(ready)
	}
	access := "reachable from this machine only, no tokens yet"
	if closed, err := svc.Tokens().Closed(context.Background()); err == nil && closed {
		access = "every request needs a token"
	} else if s.insecure {
		access = a.talk.Paint("31", "open to anyone who can reach this address, no tokens yet")
	}
	a.say("%s    %s   %s", a.talk.Paint("1", "locus "+version()), term.Escape(w.String()), standing(m, w, s))
	if d := svc.Cells().Documents(); d != "" {
		a.say("documents      %s", term.Escape(d))
	}
	if s.public != "" {
		base = strings.TrimSuffix(s.public, "/")
	}
	a.say("API            %s/v1", base)
	a.say("console        %s/", a.talk.Paint("36", base))
	if s.fingerprint != "" {
		a.say("authority      %s   %s", term.Escape(s.authority), s.fingerprint)
	}
	if host, _, err := net.SplitHostPort(s.addr); err == nil && s.public == "" && !listen.Loopback(host) {
		a.say("names          %s, and the address; --host NAME adds one", term.Escape(strings.Join(append([]string{"localhost"}, s.names()...), ", ")))
	}
	a.say("%s", access)
	a.say("next           locus ingest --url %s --source NAME --key COLUMN records.csv", base)
	return nil
}

// base returns the URL of the server for clients on this machine: one that listens at all addresses has that of a name.
func (s *serving) base(at net.Addr) string {
	host, port, err := net.SplitHostPort(at.String())
	if ip := net.ParseIP(host); err == nil && ip.IsUnspecified() {
		host = append(slices.Clone(s.hosts), "localhost")[0]
	}
	return s.scheme() + "://" + net.JoinHostPort(host, port)
}

// standing describes the cells and the period that their map covers.
func standing(m *cell.Map, w where, s *serving) string {
	cells := plural(len(m.Cells()), "cell")
	if !w.shared {
		return cells + " of SQLite, durable"
	}
	durable := "durable"
	if w.unsafe {
		durable = "NOT durable"
	}
	text := fmt.Sprintf("%s of PostgreSQL on %s, %s   epoch %d", cells, plural(len(servers(m)), "server"),
		durable, m.Epoch())
	if until := m.Until(); !until.IsZero() {
		text += ", covers ids until " + until.UTC().Format(time.RFC3339)
	}
	return text
}

func servers(m *cell.Map) []string {
	var hosts []string
	for _, id := range m.Cells() {
		host := "this machine"
		if u, err := url.Parse(m.URL(id)); err == nil && isShared(m.URL(id)) {
			if host = u.Host; host == "" {
				host = u.Query().Get("host") // a Unix socket
			}
		}
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}
