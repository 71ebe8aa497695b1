// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/postgres"
	"github.com/locus-db/locus/sink/sinktest"
)

// changesOf returns the changes of a table, each of which is there once.
func changesOf(ctx context.Context, conn *pgx.Conn) (map[cell.ID][]sink.Change, error) {
	rows, err := conn.Query(ctx, "SELECT change FROM trail WHERE cell = change->>'cell' AND seq::text = change->>'seq' AND kind = 'merged' AND entity IS NOT NULL ORDER BY cell, seq")
	if err != nil {
		return nil, err
	}
	all := map[cell.ID][]sink.Change{}
	var text []byte
	_, err = pgx.ForEachRow(rows, []any{&text}, func() error {
		var c sink.Change
		err := json.Unmarshal(text, &c)
		all[c.Cell] = append(all[c.Cell], c)
		return err
	})
	return all, err
}

func openTrail(t *testing.T) (*postgres.ChangeSink, string, *pgx.Conn) {
	t.Helper()
	server := pgtest.Shared(t)
	url := server.URL(server.Database(t))
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	s, err := postgres.OpenChanges(t.Context(), url+"&table=trail", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, url, conn
}

func TestChanges_Conformance(t *testing.T) {
	t.Parallel()
	sinktest.RunChanges(t, func(t *testing.T) sinktest.ChangeTarget {
		s, _, conn := openTrail(t)
		return sinktest.ChangeTarget{ChangeSink: s, All: func(ctx context.Context) (map[cell.ID][]sink.Change, error) { return changesOf(ctx, conn) }}
	})
}

// A change that no table can store stops the trail before it; earlier changes are stored.
func TestChanges_StopAtWhatCannotBeStored(t *testing.T) {
	t.Parallel()
	s, url, conn := openTrail(t)
	changes := []sink.Change{sinktest.ChangeOf(cell.ID{}, 1), sinktest.ChangeOf(cell.ID{}, 2),
		sinktest.ChangeOf(cell.ID{}, 3)}
	changes[1].Cause = "a\x00b"
	if n, err := s.DeliverChanges(t.Context(), changes); n != 1 || !errors.Is(err, sink.ErrStop) {
		t.Errorf("%d, %v", n, err)
	}
	if all, err := changesOf(t.Context(), conn); err != nil || len(all[cell.ID{}]) != 1 || all[cell.ID{}][0].Seq != changelog.Seq(1) {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := conn.Exec(t.Context(), "CREATE TABLE other (id int)"); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.OpenChanges(t.Context(), url+"&table=other", nil); !errors.Is(err, sink.ErrStop) {
		t.Errorf("the table of another program: %v", err)
	}
	again, err := postgres.OpenChanges(t.Context(), url+"&table=trail", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
}
