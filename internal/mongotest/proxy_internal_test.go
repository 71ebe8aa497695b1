// SPDX-License-Identifier: Apache-2.0

package mongotest

import (
	"net"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// stranger is a server that records the commands it receives and replies incorrectly: to another message, and
// announcing more replies.
func stranger(t *testing.T) (uri string, sent <-chan message) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	seen := make(chan message, 10)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		for {
			m, err := readMessage(conn)
			if err != nil {
				return
			}
			seen <- m
			reply, err := m.answer(bson.D{{Key: "ok", Value: 1.0}})
			if err != nil {
				return
			}
			reply.to, reply.flags = 999, moreToCome
			if _, err := conn.Write(reply.bytes()); err != nil {
				return
			}
		}
	}()
	return "mongodb://" + listener.Addr().String() + "/db", seen
}

// The proxy requests one reply per command and forwards it as the reply to that command, or drops it if the client
// wants none.
func TestProxy_AnswersOnceAndToTheCommand(t *testing.T) {
	t.Parallel()
	uri, sent := stranger(t)
	p := NewProxy(t, uri)
	client, err := net.Dial("tcp", p.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for i, flags := range []uint32{0, moreToCome, exhaustAllowed, 0} {
		m := message{id: int32(100 + i), opcode: opMsg, flags: flags, body: raw(t, "insert", "x", "$db", "db")}
		if _, err := client.Write(m.bytes()); err != nil {
			t.Fatal(err)
		}
		if got := <-sent; got.flags != 0 || got.id != m.id {
			t.Errorf("message %d: the server sees number %d, flags %b", i, got.id, got.flags)
		}
		if flags == moreToCome {
			continue
		}
		reply, err := readMessage(client)
		if err != nil {
			t.Fatal(err)
		}
		if reply.to != m.id || reply.flags != 0 {
			t.Errorf("message %d: an answer to %d, flags %b", i, reply.to-100, reply.flags)
		}
	}
}

// A proxy whose faults did not occur makes its test fail.
func TestNewProxy_FailsForWhatDidNotComeToPass(t *testing.T) {
	t.Parallel()
	w := &watched{TB: t}
	p := NewProxy(w, "mongodb://127.0.0.1:1/db")
	p.Fault(Fault{Command: "update", Collection: "x", Kind: LostReply})
	for _, do := range w.cleanups {
		do()
	}
	if len(w.errors) != 1 || !strings.Contains(w.errors[0], "1 more of update on x") {
		t.Errorf("it says %q", w.errors)
	}
	if _, err := net.Dial("tcp", p.listener.Addr().String()); err == nil {
		t.Error("it goes on after its test")
	}
}
