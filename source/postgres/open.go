// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/locus-db/locus/source"
)

const (
	// changes and rows are the partitions of a position.
	changes, rows int32 = 0, 1
	// snapshotDone is the place after the last row.
	snapshotDone = math.MaxInt64
	// opening is how long opening may take; making a slot waits for the transactions that are open.
	opening = 10 * time.Minute
)

// stream reads one table.
type stream struct {
	target
	conn  *pgx.Conn      // for queries
	wal   *pgconn.PgConn // for the changes
	types *pgtype.Map
	oid   uint32   // of the table
	key   []string // columns of the replica identity
	// partitioned is true for a table in partitions.
	partitioned bool

	began source.Position
	taken time.Time // of the rows of the snapshot

	snapshot *snapshot                             // nil once it was read
	relation map[uint32]*pglogrepl.RelationMessage // by its number
	commit   time.Time                             // of the transaction that is read
	within   bool                                  // a transaction
	last     int64                                 // location of the last commit, or of the last skipped change
	place    int64                                 // of the last change of the transaction
	held     []source.Message                      // read and not returned
	marked   pglogrepl.LSN                         // the position that Locus has stored
	told     time.Time                             // when the server was told
}

// Open connects, makes the publication and the slot unless they exist, and begins to read.
func (driver) Open(ctx context.Context, spec source.Spec, at source.Position) (source.Stream, error) {
	t, err := parse(spec)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, opening)
	defer cancel()
	s := &stream{target: t, types: pgtype.NewMap(), relation: map[uint32]*pglogrepl.RelationMessage{}}
	if err := s.open(ctx, at); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *stream) open(ctx context.Context, at source.Position) (err error) {
	if s.conn, err = pgx.ConnectConfig(ctx, s.config); err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	if err := s.examine(ctx); err != nil {
		return err
	}
	if err := s.publish(ctx); err != nil {
		return err
	}
	config := s.config.Config.Copy()
	config.RuntimeParams["replication"] = "database"
	if s.wal, err = pgconn.ConnectConfig(ctx, config); err != nil {
		return fmt.Errorf("connect for replication: %w", err)
	}
	system, err := pglogrepl.IdentifySystem(ctx, s.wal)
	if err != nil {
		return fmt.Errorf("ask for the system: %w", err)
	}
	next, begun := at.Next[changes]
	if begun {
		err = s.resume(ctx, at, system.SystemID)
	} else {
		next, err = s.begin(ctx, system.SystemID)
	}
	if err != nil {
		return err
	}
	if s.began.Next[rows] != snapshotDone {
		if s.snapshot, err = s.openSnapshot(ctx); err != nil {
			return err
		}
	}
	s.marked, s.last = pglogrepl.LSN(next), next-1 //nolint:gosec // a place in the log
	err = pglogrepl.StartReplication(ctx, s.wal, s.slot, s.marked, pglogrepl.StartReplicationOptions{
		PluginArgs: []string{"proto_version '1'", "publication_names '" + s.slot + "'"},
	})
	if err != nil {
		return fmt.Errorf("read slot %s: %w", s.slot, err)
	}
	return nil
}

// slotState is the server's state of the slot.
type slotState struct {
	found, active, lost bool
	confirmed           pglogrepl.LSN
}

func (s *stream) state(ctx context.Context) (of slotState, err error) {
	var confirmed, status *string
	err = s.conn.QueryRow(ctx, "SELECT active, confirmed_flush_lsn::text, wal_status FROM pg_replication_slots WHERE slot_name = $1 AND database = current_database()", s.slot).
		Scan(&of.active, &confirmed, &status)
	if errors.Is(err, pgx.ErrNoRows) {
		return of, nil
	}
	if err == nil && confirmed != nil {
		of.confirmed, err = pglogrepl.ParseLSN(*confirmed)
	}
	if err != nil {
		return of, fmt.Errorf("look for slot %s: %w", s.slot, err)
	}
	of.found, of.lost = true, status != nil && *status == "lost"
	return of, nil
}

// begin makes a new slot. Changes after its place are later than the time of the rows.
func (s *stream) begin(ctx context.Context, system string) (next int64, err error) {
	of, err := s.state(ctx)
	if err != nil {
		return 0, err
	}
	if of.active {
		return 0, fmt.Errorf("slot %s is read by another process", s.slot)
	}
	if of.found {
		if err := pglogrepl.DropReplicationSlot(ctx, s.wal, s.slot, pglogrepl.DropReplicationSlotOptions{}); err != nil {
			return 0, fmt.Errorf("drop the former slot %s: %w", s.slot, err)
		}
	}
	if err := s.conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&s.taken); err != nil {
		return 0, fmt.Errorf("ask for the time: %w", err)
	}
	made, err := pglogrepl.CreateReplicationSlot(ctx, s.wal, s.slot, "pgoutput",
		pglogrepl.CreateReplicationSlotOptions{Mode: pglogrepl.LogicalReplication, SnapshotAction: "NOEXPORT_SNAPSHOT"})
	if err != nil {
		return 0, fmt.Errorf("create slot %s, which needs the attribute REPLICATION of the role and wal_level=logical of the server: %w", s.slot, err)
	}
	place, err := pglogrepl.ParseLSN(made.ConsistentPoint)
	if err != nil {
		return 0, fmt.Errorf("create slot %s: %w", s.slot, err)
	}
	next = int64(place) //nolint:gosec // a place in the log
	s.began = source.Position{Log: system + " " + strconv.FormatInt(s.taken.UnixMilli(), 10),
		Next: map[int32]int64{changes: next, rows: 0}}
	return next, nil
}

// resume continues with the slot that was made, unless something is missing from it.
func (s *stream) resume(ctx context.Context, at source.Position, system string) error {
	was, taken, _ := strings.Cut(at.Log, " ")
	if was != system {
		return fmt.Errorf("%w: the database is another system than before", source.ErrGap)
	}
	of, err := s.state(ctx)
	next := pglogrepl.LSN(at.Next[changes]) //nolint:gosec // a place in the log
	switch {
	case err != nil:
		return err
	case !of.found:
		return fmt.Errorf("%w: slot %s was dropped", source.ErrGap, s.slot)
	case of.lost:
		return fmt.Errorf("%w: the server removed the log that slot %s needs (max_slot_wal_keep_size)", source.ErrGap, s.slot)
	case of.confirmed > next:
		return fmt.Errorf("%w: slot %s was advanced to %v, after the next position %v", source.ErrGap, s.slot,
			of.confirmed, next)
	}
	ms, err := strconv.ParseInt(taken, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: the position has no time", source.ErrGap)
	}
	s.taken, s.began = time.UnixMilli(ms), at.Clone()
	return nil
}

// Position implements source.Stream.
func (s *stream) Position() source.Position { return s.began.Clone() }

// Close implements source.Stream.
func (s *stream) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var err error
	if s.snapshot != nil {
		err = s.snapshot.close(ctx)
	}
	if s.wal != nil {
		err = errors.Join(err, s.wal.Close(ctx))
	}
	if s.conn != nil {
		err = errors.Join(err, s.conn.Close(ctx))
	}
	return err
}
