// SPDX-License-Identifier: Apache-2.0

package sources_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/source"
	"github.com/locus-db/locus/sources"
	"github.com/locus-db/locus/storage"
)

// A dump that is taken while a stream is read has the records of all messages before its position. Restored and
// resumed, the stream goes on there, and no message is missing.
func TestP17_DumpsHaveWhatTheirPositionsCover(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	b, url := broker(t)
	was := open(t, t.TempDir(), false)
	b.Publish(0, begun, "", "no record")
	create(t, was, sources.Definition{From: url, Mapping: mapping})
	until(t, was, func(s *sources.Status) bool { return s.Dead == 1 })
	const dumps, page = 6, 1
	first := longtest.Sample(300, 3000, 3000, 3000)
	var files []*bytes.Buffer
	at := []int64{}
	done := make(chan struct{})
	stop := make(chan struct{})
	published := 0
	go func() {
		defer close(done)
		for i := 1; ; i++ {
			select {
			case <-stop:
				published = i - 1
				return
			default:
			}
			b.Publish(0, begun.Add(time.Duration(i)*time.Millisecond), "",
				fmt.Sprintf(`{"id":"%d","first":"Ann","last":"Lee%d"}`, i, i))
			if i%page == 0 && i >= first {
				want := int64(i - page)
				until(t, was, func(s *sources.Status) bool { return s.Messages > want })
			}
		}
	}()
	for n := range dumps {
		until(t, was, func(s *sources.Status) bool { return s.Messages > int64(first+n*page) })
		d, err := was.Dump(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		file := &bytes.Buffer{}
		if _, err := d.WriteTo(file); err != nil || d.End.Sources != 1 {
			t.Fatal(d.End, err)
		}
		d.Close()
		files, at = append(files, file), append(at, d.End.Records)
	}
	close(stop)
	<-done
	for n, file := range files {
		where := filepath.Join(t.TempDir(), fmt.Sprint("restored", n))
		r, err := locus.Restore(t.Context(), where, file, &locus.Options{Storage: storage.Options{Cells: 2}})
		if err != nil || r.Sources != 1 || r.Records != at[n] {
			t.Fatal(r, err)
		}
		db := open(t, where, false)
		s, err := db.Sources().Get(t.Context(), "crm")
		if err != nil || !s.Paused || s.Reason == "" || len(s.Position.Next) == 0 || s.Dead != 1 {
			t.Fatalf("restored: %+v, %v", s, err)
		}
		if next := s.Position.Next[0]; r.Records < next-1 { // message 0 is none
			t.Fatalf("dump %d has %d records, and its position is %d", n, r.Records, next)
		}
		if letters, err := db.Sources().Dead(t.Context(), "crm"); err != nil || len(letters) != 1 || letters[0].At != (source.At{Offset: 0}) {
			t.Errorf("dead letters %+v, %v", letters, err)
		}
		if _, err := db.Sources().Resume(t.Context(), "crm", false); err != nil {
			t.Fatal(err)
		}
		until(t, db, func(s *sources.Status) bool { return s.Position.Next[0] > int64(published) })
		for i := first; i <= published; i++ {
			if name(t, db, fmt.Sprint(i)) == "" {
				t.Fatalf("message %d of %d is missing", i, published)
			}
		}
	}
}
