// SPDX-License-Identifier: Apache-2.0

package mongodb_test

import (
	"errors"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance/documentstest"
	groups "github.com/locus-db/locus/internal/documents"
	"github.com/locus-db/locus/internal/mongotest"
)

func TestRollupDocuments(t *testing.T) {
	t.Parallel()
	documentstest.Run(t, func(t *testing.T) documentstest.Shelf {
		t.Helper()
		return documentstest.Shelf{Of: documents(t, mongotest.URI(t)).GroupDocuments, Runs: 15}
	})
}

// Faults between the process and the server map to errors by their meaning: a write without a reply may have been
// applied, and a step that reads again finds out. On a replica set and behind a mongos the driver retries it, and
// the server recognises it: then it was applied and reports success.
func TestRollupDocuments_Faults(t *testing.T) {
	t.Parallel()
	retried := mongotest.On(t).Durable
	knownEpoch := func(done []bool, err error) bool {
		if retried {
			return err == nil && done[0] && done[1]
		}
		return errors.Is(err, cell.ErrCommitUnknown)
	}
	proxy := mongotest.NewProxy(t, mongotest.URI(t))
	docs := documents(t, proxy.URI()).GroupDocuments("a")
	in, keys := groups.Namespace{Generation: 1, BuildID: 1}, [][]byte{[]byte("a"), []byte("b")}
	document := func(key, body string) groups.Document {
		return groups.Document{Key: []byte(key), Body: []byte(body), Watermark: 5}
	}
	swaps := []groups.Swap{{Document: document("a", "1")}, {Document: document("b", "1")}}
	fault := func(command string, kind mongotest.Kind) {
		proxy.Fault(mongotest.Fault{Command: command, Collection: "rollup_group", Kind: kind})
	}

	fault("insert", mongotest.LostReply)
	if done, err := docs.Swap(t.Context(), in, swaps); !knownEpoch(done, err) {
		t.Errorf("the answer to an insert is lost: %v, %v", done, err)
	}
	if done, err := docs.Swap(t.Context(), in, swaps); err != nil || done[0] || done[1] {
		t.Errorf("it was done, and is done again: %v, %v", done, err)
	}
	for i := range swaps {
		swaps[i].Is, swaps[i].Was, swaps[i].Watermark = true, 5, 6
	}
	fault("update", mongotest.LostReply)
	if done, err := docs.Swap(t.Context(), in, swaps); !knownEpoch(done, err) {
		t.Errorf("the answer to an update is lost: %v, %v", done, err)
	}
	got, err := docs.Documents(t.Context(), in, keys)
	if err != nil || got[0].Watermark != 6 || got[1].Watermark != 6 {
		t.Errorf("the documents are %v, %v", got, err)
	}
	if done, err := docs.Swap(t.Context(), in, swaps); err != nil || !done[0] || !done[1] {
		t.Errorf("they are as they were to be: %v, %v", done, err)
	}
}
