// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"maps"
	"sync"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
)

// redoLog is what a process knows about the redo sets of the cells. It answers three questions: can a batch trust
// stored data, which records wait for a cell that does not answer, and when are the redo sets read again.
//
//	dirty ── sweep: read all redo sets ──► undone ── rounds 2 and 3 ──► finished ── removed from the cell
//	  ▲                                      │                            with the next write there
//	  │                                      └── needs a cell that is down ──► blocked ── next sweep
//	  └── an error, another lease holder, a lost commit
//
// Its mutex guards all fields, because the cells of a batch are asked concurrently. It is held for one access to the
// fields, never while a cell is asked or another lock is taken. What has to be consistent over several calls, such as
// a sweep, is done by one goroutine that holds Resolver.mu.
type redoLog struct {
	mu      sync.Mutex
	dirty   bool      // the redo sets must be worked off before the next batch
	unread  bool      // the redo set of some cell could not be read
	sweepAt time.Time // when the redo sets are read again

	undone   map[entity.PUID]struct{}   // known records of the redo sets whose postings may already be written
	blocked  map[entity.PUID]struct{}   // records whose entries wait for a cell
	trouble  error                      // why, if it is not an unavailable cell
	down     map[cell.ID]bool           // cells that did not answer
	finished map[cell.ID][]derived.Redo // finished entries that are still stored
}

// newRedoLog returns the knowledge of a process that has just started: none, so a crash may have left entries.
func newRedoLog() *redoLog {
	return &redoLog{
		dirty: true, undone: map[entity.PUID]struct{}{}, blocked: map[entity.PUID]struct{}{},
		down: map[cell.ID]bool{}, finished: map[cell.ID][]derived.Redo{},
	}
}

// clean reports whether all redo entries are done, as far as this process knows.
func (l *redoLog) clean() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.dirty && len(l.blocked) == 0 && !l.unread
}

// isDirty reports whether the redo sets must be processed before the next batch.
func (l *redoLog) isDirty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dirty
}

// markDirty notes that there may be entries that this process does not know.
func (l *redoLog) markDirty() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dirty = true
}

// markDelegated notes that another process works off the unknown entries.
func (l *redoLog) markDelegated() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dirty = false
}

// invalidate marks the log dirty and drops the finished entries: another process may have written the records
// again.
func (l *redoLog) invalidate() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dirty = true
	clear(l.finished)
}

// beginSweep forgets what the previous sweep found out about entries and cells. It keeps the undone records until the
// redo sets are read.
func (l *redoLog) beginSweep() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.finished)
	clear(l.blocked)
	clear(l.down)
	l.unread = false
}

// sweepRead notes that the redo sets have been read. The log stays dirty until endSweep.
func (l *redoLog) sweepRead() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.undone)
	l.dirty = true
}

// endSweep notes that all entries are done or blocked, and when the redo sets are to be read again.
func (l *redoLog) endSweep(next time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dirty, l.sweepAt = false, next
}

// scheduleSweep sets when the redo sets are to be read again.
func (l *redoLog) scheduleSweep(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweepAt = at
}

// sweepDue reports whether the time of the next sweep has come.
func (l *redoLog) sweepDue(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !now.Before(l.sweepAt)
}

// noteUnread notes that the redo set of some cell could not be read.
func (l *redoLog) noteUnread() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unread = true
}

// leave marks records as having unfinished consequences.
func (l *redoLog) leave(entries []derived.Redo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range entries {
		l.undone[e.PUID] = struct{}{}
	}
}

// done marks a record as having no unfinished consequences.
func (l *redoLog) done(p entity.PUID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.undone, p)
}

// isUndone reports whether a record is known to have unfinished consequences.
func (l *redoLog) isUndone(p entity.PUID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, is := l.undone[p]
	return is
}

// block makes a record wait for the next sweep. err is the reason, nil if a cell does not answer.
func (l *redoLog) block(p entity.PUID, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blocked[p] = struct{}{}
	if err != nil {
		l.trouble = err
	}
}

// isBlocked reports whether a record waits for the next sweep.
func (l *redoLog) isBlocked(p entity.PUID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, is := l.blocked[p]
	return is
}

// lastTrouble returns why the last record was blocked; nil if cells did not answer.
func (l *redoLog) lastTrouble() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.trouble
}

// takeTrouble is lastTrouble, and forgets it.
func (l *redoLog) takeTrouble() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.trouble
	l.trouble = nil
	return err
}

// noteDown notes that a cell did not answer.
func (l *redoLog) noteDown(id cell.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down[id] = true
}

// anyDown reports whether some cell did not answer since the last sweep.
func (l *redoLog) anyDown() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.down) > 0
}

// isDown reports whether a cell did not answer since the last sweep.
func (l *redoLog) isDown(id cell.ID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.down[id]
}

// finish notes entries whose consequences are durable. They stay stored until something is written to their cells.
func (l *redoLog) finish(groups map[cell.ID][]derived.Redo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, entries := range groups {
		l.finished[id] = append(l.finished[id], entries...)
	}
}

// finishedIn returns the finished entries that are still stored in a cell.
func (l *redoLog) finishedIn(id cell.ID) []derived.Redo {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.finished[id]
}

// allFinished returns the finished entries that are still stored, by cell.
func (l *redoLog) allFinished() map[cell.ID][]derived.Redo {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.finished)
}

// removed notes that the finished entries of these cells are no longer stored.
func (l *redoLog) removed(cells []cell.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range cells {
		delete(l.finished, id)
	}
}

// clean reports whether nothing is left undone, as far as this process knows. If so, a batch can trust
// stored data. Otherwise, and while a kind is being migrated (stored data may come from either rules), it
// must read everything around its records, as a repair does.
func (r *Resolver) clean() bool {
	return r.redoLog.clean() && r.Rules().change == nil
}

// due reports whether the redo sets of all cells must be read. A process with Owner does so periodically, however busy
// it is, because a process may crash before it requests the resolution of its records.
func (r *Resolver) due() bool {
	return r.redoLog.isDirty() || (r.lease != nil || !r.clean()) && r.redoLog.sweepDue(r.opts.Now())
}
