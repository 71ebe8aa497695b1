// SPDX-License-Identifier: Apache-2.0

//go:build go1.27

package main

import (
	"runtime"
	"uuid"
)

func init() {
	id := uuid.NewV4()
	text := id.String()
	buf := make([]byte, 0, 64)
	std = map[string][]subject{
		"New": {
			{peer: "std-v4", loop: func(n int) {
				var id uuid.UUID
				for range n {
					id = uuid.NewV4()
				}
				runtime.KeepAlive(id)
			}},
			{peer: "std-v7", loop: func(n int) {
				var id uuid.UUID
				for range n {
					id = uuid.NewV7()
				}
				runtime.KeepAlive(id)
			}},
		},
		"String": {{peer: "std", loop: func(n int) {
			for range n {
				textSink = id.String()
			}
		}}},
		"StringLocal": {{peer: "std", loop: func(n int) {
			for i := range n {
				text := id.String()
				byteSink += text[i&31]
			}
		}}},
		"AppendText": {{peer: "std", loop: func(n int) {
			for range n {
				text, err := id.AppendText(buf)
				fail(err)
				byteSink = text[7]
			}
		}}},
		"NewString": {
			{peer: "std-v4", loop: func(n int) {
				for range n {
					textSink = uuid.NewV4().String()
				}
			}},
			{peer: "std-v7", loop: func(n int) {
				for range n {
					textSink = uuid.NewV7().String()
				}
			}},
		},
		"Parse": {{peer: "std", loop: func(n int) {
			for range n {
				id, err := uuid.Parse(text)
				fail(err)
				id16Sink = id
			}
		}}},
	}
}
