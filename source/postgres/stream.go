// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/locus-db/locus/source"
)

const (
	// linger is how long a batch waits for more changes once it has one.
	linger = 5 * time.Millisecond
	// tellEvery is how often the server is told the position of Locus, and passEvery, in bytes of the log, how often
	// the position skips changes of other tables.
	tellEvery = 10 * time.Second
	passEvery = 1 << 20
)

// Fetch implements source.Stream.
func (s *stream) Fetch(ctx context.Context, limit int) (batch []source.Message, err error) {
	if s.snapshot != nil {
		if err := s.alive(ctx); err != nil {
			return nil, err
		}
		return s.rowsOf(ctx, limit)
	}
	for len(s.held) < limit {
		if err := s.alive(ctx); err != nil {
			return nil, err
		}
		waiting, cancel := ctx, context.CancelFunc(func() {})
		if len(s.held) > 0 {
			waiting, cancel = context.WithTimeout(ctx, linger)
		}
		m, err := s.wal.ReceiveMessage(waiting)
		cancel()
		if err != nil && pgconn.Timeout(err) && !s.wal.IsClosed() {
			if len(s.held) > 0 {
				break
			}
			return nil, fmt.Errorf("wait for changes: %w", errors.Join(ctx.Err(), err))
		}
		if err == nil {
			err = s.take(ctx, m)
		}
		if err != nil {
			return nil, fmt.Errorf("read slot %s: %w", s.slot, err)
		}
	}
	n := min(limit, len(s.held))
	batch, s.held = s.held[:n:n], s.held[n:]
	return batch, nil
}

// alive tells the server now and then that the slot is being read, and up to which position.
func (s *stream) alive(ctx context.Context) error {
	if time.Since(s.told) < tellEvery {
		return nil
	}
	s.told = time.Now()
	if err := pglogrepl.SendStandbyStatusUpdate(ctx, s.wal, pglogrepl.StandbyStatusUpdate{WALWritePosition: s.marked}); err != nil {
		return fmt.Errorf("confirm the position of slot %s: %w", s.slot, err)
	}
	return nil
}

// take handles a message of the server.
func (s *stream) take(ctx context.Context, m pgproto3.BackendMessage) error {
	if failed, is := m.(*pgproto3.ErrorResponse); is {
		return pgconn.ErrorResponseToPgError(failed)
	}
	data, is := m.(*pgproto3.CopyData)
	if !is {
		return nil
	}
	switch data.Data[0] {
	case pglogrepl.PrimaryKeepaliveMessageByteID:
		alive, err := pglogrepl.ParsePrimaryKeepaliveMessage(data.Data[1:])
		if err != nil {
			return err
		}
		if alive.ReplyRequested {
			s.told = time.Time{}
		}
		if end := int64(alive.ServerWALEnd); !s.within && len(s.held) == 0 && end-1 > s.last+passEvery { //nolint:gosec // a place in the log
			s.pass(end - 1)
		}
		return nil
	case pglogrepl.XLogDataByteID:
		x, err := pglogrepl.ParseXLogData(data.Data[1:])
		if err != nil {
			return err
		}
		change, err := pglogrepl.Parse(x.WALData)
		if err != nil {
			return err
		}
		return s.change(ctx, int64(x.WALStart), change) //nolint:gosec // a place in the log
	}
	return nil
}

// pass moves the position without a row.
func (s *stream) pass(offset int64) {
	s.last = max(s.last, offset)
	s.held = append(s.held, source.Message{Partition: changes, Offset: s.last, Marker: true})
}

// add adds a row or a deletion. Rows of one record of the log get numbers within it.
func (s *stream) add(place int64, key, value []byte) {
	s.rowPlace(place)
	s.held = append(s.held, source.Message{Partition: changes, Offset: s.place, Key: key, Value: value, Time: s.commit})
}

func (s *stream) rowPlace(place int64) {
	if place <= s.place && s.place-place < 1<<16 && place > 0 { // several rows of one record
		place = s.place + 1
	}
	s.place = place
}

// change handles a change of the table.
func (s *stream) change(ctx context.Context, place int64, m pglogrepl.Message) error {
	if of, is := relationOf(m); is && of != s.oid { // of a publication of several tables
		return nil
	}
	switch m := m.(type) {
	case *pglogrepl.RelationMessage:
		s.relation[m.RelationID] = m
	case *pglogrepl.BeginMessage:
		s.commit, s.within, s.place = m.CommitTime, true, 0
	case *pglogrepl.CommitMessage:
		s.within = false
		s.pass(int64(m.TransactionEndLSN) - 1) //nolint:gosec // a place in the log
	case *pglogrepl.InsertMessage:
		return s.put(ctx, place, m.RelationID, nil, m.Tuple)
	case *pglogrepl.UpdateMessage:
		return s.put(ctx, place, m.RelationID, m.OldTuple, m.NewTuple)
	case *pglogrepl.DeleteMessage:
		key, err := s.keyOf(m.RelationID, m.OldTuple)
		if err == nil {
			s.add(place, key, nil)
		}
		return err
	case *pglogrepl.TruncateMessage:
		if !slices.Contains(m.RelationIDs, s.oid) {
			return nil
		}
		return fmt.Errorf("%w: the table was truncated, and a source deletes single records only: locus source delete deletes them, and locus source resume --from-start reads the table again", source.ErrStop)
	}
	return nil
}

// relationOf returns the table of a change of a row.
func relationOf(m pglogrepl.Message) (of uint32, is bool) {
	switch m := m.(type) {
	case *pglogrepl.InsertMessage:
		return m.RelationID, true
	case *pglogrepl.UpdateMessage:
		return m.RelationID, true
	case *pglogrepl.DeleteMessage:
		return m.RelationID, true
	}
	return 0, false
}

// put adds a row, and before it the deletion of the key that it had.
func (s *stream) put(ctx context.Context, place int64, of uint32, old, is *pglogrepl.TupleData) error {
	object, err := s.object(ctx, of, old, is)
	if err != nil || object == nil {
		return err
	}
	if old != nil {
		was, err := s.keyOf(of, old)
		if err != nil {
			return err
		}
		now, err := s.keyOf(of, is)
		if err != nil {
			return err
		}
		if string(was) != string(now) {
			s.add(place, was, nil)
		}
	}
	text, err := json.Marshal(object)
	if err == nil {
		s.add(place, nil, text)
	}
	return err
}

// Read implements source.Stream: a slot does not go back.
func (s *stream) Read(context.Context, int32, int64) (source.Message, error) {
	return source.Message{}, source.ErrGone
}

// Ends implements source.Stream: in bytes of the log.
func (s *stream) Ends(ctx context.Context) (map[int32]int64, error) {
	var text string
	if err := s.conn.QueryRow(ctx, "SELECT pg_current_wal_lsn()::text").Scan(&text); err != nil {
		return nil, fmt.Errorf("ask for the end of the log: %w", err)
	}
	end, err := pglogrepl.ParseLSN(text)
	return map[int32]int64{changes: int64(end)}, err //nolint:gosec // a place in the log
}

// Mark implements source.Stream: the server may remove its log up to there.
func (s *stream) Mark(ctx context.Context, p source.Position) error {
	if p.Next[rows] != snapshotDone {
		return nil
	}
	s.marked, s.told = max(s.marked, pglogrepl.LSN(p.Next[changes])), time.Time{} //nolint:gosec // a place in the log
	return s.alive(ctx)
}
