// SPDX-License-Identifier: Apache-2.0

//go:build go1.27

package main

import (
	"runtime"
	"uuid"

	"github.com/locus-db/locus/bench/internal/compare"
)

func init() {
	id := uuid.NewV4()
	text := id.String()
	buf := make([]byte, 0, 64)
	std = map[string][]subject{
		"New": {
			{Peer: "std-v4", Loop: func(n int) {
				var id uuid.UUID
				for range n {
					id = uuid.NewV4()
				}
				runtime.KeepAlive(id)
			}},
			{Peer: "std-v7", Loop: func(n int) {
				var id uuid.UUID
				for range n {
					id = uuid.NewV7()
				}
				runtime.KeepAlive(id)
			}},
		},
		"String": {{Peer: "std", Loop: func(n int) {
			for range n {
				textSink = id.String()
			}
		}}},
		"StringLocal": {{Peer: "std", Loop: func(n int) {
			for i := range n {
				text := id.String()
				byteSink += text[i&31]
			}
		}}},
		"AppendText": {{Peer: "std", Loop: func(n int) {
			for range n {
				text, err := id.AppendText(buf)
				compare.Fail(err)
				byteSink = text[7]
			}
		}}},
		"NewString": {
			{Peer: "std-v4", Loop: func(n int) {
				for range n {
					textSink = uuid.NewV4().String()
				}
			}},
			{Peer: "std-v7", Loop: func(n int) {
				for range n {
					textSink = uuid.NewV7().String()
				}
			}},
		},
		"Parse": {{Peer: "std", Loop: func(n int) {
			for range n {
				id, err := uuid.Parse(text)
				compare.Fail(err)
				id16Sink = id
			}
		}}},
	}
}
