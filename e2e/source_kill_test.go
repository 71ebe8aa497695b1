// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/porttest"
)

// The server is killed in a loop while it reads a stream of creations, updates and deletions. In the end the
// installation has the records and entities of one that got the same from an import.
func TestP01_KilledSource(t *testing.T) {
	t.Parallel()
	broker, err := natsserver.NewServer(&natsserver.Options{Host: "127.0.0.1", Port: -1, JetStream: true,
		StoreDir: t.TempDir(), NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	go broker.Start()
	t.Cleanup(func() { broker.Shutdown(); broker.WaitForShutdown() })
	if !broker.ReadyForConnections(patience) {
		t.Fatal("the broker does not start")
	}
	conn, err := nats.Connect(broker.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "CRM", Subjects: []string{"crm"}}); err != nil {
		t.Fatal(err)
	}

	kills := rounds(t)
	total := int64(kills * longtest.Times(200, 500))
	g := demo.New(12, total)
	dir, addr := t.TempDir(), "127.0.0.1:"+porttest.Port(t)
	s := serve(t, dir, addr)
	put := func(base, path, body string) {
		t.Helper()
		if status, text := exchange(t, http.MethodPut, base+path, body); status/100 != 2 {
			t.Fatalf("%s: %d %s", path, status, text)
		}
	}
	put(s.url, "/v1/sources/crm", fmt.Sprintf(`{"from":%q,"format":"debezium","mapping":"key: key\n"}`,
		broker.ClientURL()+"/CRM"))

	// The reference import has the final content of the stream.
	want := serve(t, t.TempDir(), "127.0.0.1:"+porttest.Port(t))
	sent := int64(0)
	publish := func(n int64) {
		t.Helper()
		var batch []httpapi.RecordInput
		message := func(i int64, revision int, op string) httpapi.RecordInput {
			in := input(g, i, revision)
			in.Source, in.Key = "crm", fmt.Sprint("k", i)
			row := map[string]any{"key": in.Key}
			for name, values := range in.Attributes {
				row[name] = values
			}
			side := "after"
			if op == "d" {
				side = "before"
			}
			text, err := json.Marshal(map[string]any{"op": op, side: row})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := js.PublishAsync("crm", text); err != nil {
				t.Fatal(err)
			}
			return in
		}
		for range n {
			i := sent
			sent++
			in := message(i, 0, "c")
			if i%10 == 0 {
				in = message(i, 1, "u")
			}
			if i%7 == 0 {
				message(i, 1, "d")
				continue
			}
			batch = append(batch, in)
		}
		<-js.PublishAsyncComplete()
		if answer, err := post(want.url, batch); err != nil || !accepted(t, answer) {
			t.Fatal(err)
		}
	}
	stream := func() (of httpapi.Source) {
		if err := get(s.url, "/v1/sources/crm", url.Values{"count": {"false"}}, &of); err != nil {
			t.Fatal(err)
		}
		return of
	}
	info := func() uint64 {
		stream, err := js.Stream(t.Context(), "CRM")
		if err != nil {
			t.Fatal(err)
		}
		return stream.CachedInfo().State.LastSeq
	}
	for round := range kills {
		before := stream().Stream.Messages
		publish(total / int64(kills))
		eventually(t, patience, "the source goes on", func() (bool, string) {
			return stream().Stream.Messages > before, fmt.Sprintf("%+v", stream().Stream)
		})
		time.Sleep(time.Duration(round%5) * 7 * time.Millisecond) // not a wait: where in a batch the kill falls
		s.kill()
		s = serve(t, dir, addr)
	}
	last := fmt.Sprint(info() + 1)
	eventually(t, patience, "everything is read", func() (bool, string) {
		of := stream().Stream
		return of.Position[0] == last && of.State == "running", fmt.Sprintf("%+v, want %s", of, last)
	})
	of := stream().Stream
	if of.Dead != 0 {
		t.Errorf("%d dead letters", of.Dead)
	}
	t.Logf("%d kills, %d messages published, position %s", kills, info(), of.Position[0])
	if diff := cmp.Diff(keysOf(t, want.url), keysOf(t, s.url)); diff != "" {
		t.Errorf("the stream has other records than the import (-import +stream):\n%s", diff)
	}
	if diff := cmp.Diff(partition(t, want.url), partition(t, s.url)); diff != "" {
		t.Errorf("the stream has other entities than the import (-import +stream):\n%s", diff)
	}
}

// keysOf returns the contents of all records.
func keysOf(t *testing.T, base string) map[string]httpapi.Attributes {
	t.Helper()
	all, err := allRecords(base)
	if err != nil {
		t.Fatal(err)
	}
	contents := map[string]httpapi.Attributes{}
	for ref, r := range all {
		contents[ref.String()] = r.Attributes
	}
	return contents
}

// exchange sends a request.
func exchange(t *testing.T, method, address, body string) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var b [2000]byte
	n, _ := response.Body.Read(b[:])
	return response.StatusCode, string(b[:n])
}
