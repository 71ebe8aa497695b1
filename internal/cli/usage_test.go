// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"strings"
	"testing"
)

func TestHelp_SaysWhatTheCommandDoesAndDividesFlags(t *testing.T) {
	t.Parallel()
	help := run(t.Context(), nil, "entity", "list", "--help").stdout
	own, where, divided := strings.Cut(help, "\nWhere the data is:\n")
	if !strings.HasPrefix(help, "List or search entities") || !divided || !strings.Contains(own, "\nFlags:\n") || !strings.Contains(own, "--typos") || !strings.Contains(where, "--url") ||
		strings.Contains(own, "--url") || strings.Contains(help, "--notice") {
		t.Errorf("help of entity list:\n%s", help)
	}
	if help := run(t.Context(), nil, "id", "--help").stdout; strings.Contains(help, "Where the data is") {
		t.Errorf("help of id, which needs no data:\n%s", help)
	}
}

// The flags of locus serve are too many for one list. A new one has to be in a group.
func TestHelp_GroupsTheFlagsOfServe(t *testing.T) {
	t.Parallel()
	help := run(t.Context(), nil, "serve", "--help").stdout
	heading := map[string]string{}
	at := ""
	for line := range strings.Lines(help) {
		if !strings.HasPrefix(line, " ") {
			at = strings.TrimSpace(line)
		} else if _, flag, is := strings.Cut(line, "--"); is && strings.HasPrefix(line, "  ") {
			name, _, _ := strings.Cut(strings.TrimSpace(flag), " ")
			heading[name] = at
		}
	}
	for name, want := range map[string]string{
		"data": "Where the data is:", "cells": "Cells and their databases:", "tls-cert": "Listening and TLS:",
		"oidc-issuer": "Who may call:", "retain-hours": "Retention and limits:", "sink-files": "Sinks and streams:",
		"log-level": "Logs, audit, traces and profiles:", "shutdown-timeout": "The process:", "json": "Global Flags:",
	} {
		if heading[name] != want {
			t.Errorf("--%s is listed below %q, want %q", name, heading[name], want)
		}
	}
	if strings.Contains(help, "\nFlags:\n") {
		t.Errorf("flags without a group:\n%s", help)
	}
}
