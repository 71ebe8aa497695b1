// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"context"
	"io"

	"github.com/locus-db/locus/internal/backup"
)

// Backup describes a backup of a data directory.
type Backup = backup.Manifest

// Errors of Backup and RestoreBackup.
var (
	// ErrElsewhere means that a cell is not in a file below the data directory, so that Backup would lack it.
	ErrElsewhere = backup.ErrElsewhere
	// ErrBackupFile means that a file is not a backup, is damaged or was cut off.
	ErrBackupFile = backup.ErrFile
	// ErrNoServer means that MarkServers found no cell on a server.
	ErrNoServer = backup.ErrNoServer
	// ErrNoPoint means that MarkServers found cells on servers and cells in files.
	ErrNoPoint = backup.ErrNoPoint
)

// Backup writes the files of a data directory to w, compressed and as of one moment, during writes. All writes wait for
// some milliseconds while snapshots are opened; w receives nothing before. The write-ahead logs cannot shrink until
// Backup returns, so they grow with the writes of that time. Counters in MongoDB are not copied.
func (db *DB) Backup(ctx context.Context, w io.Writer) (*Backup, error) {
	b, err := backup.Write(ctx, db.engine, w)
	if err == nil && !db.engine.ReadOnly {
		if err := backup.Note(ctx, db.engine, backup.Mark{At: b.At}); err != nil {
			db.engine.Logger.Warn("backup is complete but could not be noted", "err", err)
		}
	}
	return b, err
}

// BackupMark is the note that a backup was made.
type BackupMark = backup.Mark

// MarkBackup notes a backup that was made by other tools, such as those of PostgreSQL, so that its age is known. A
// backup older than the newest one changes nothing.
func (db *DB) MarkBackup(ctx context.Context, m BackupMark) error {
	return backup.Note(ctx, db.engine, m)
}

// MarkServers creates a recovery point of that name, to which the PostgreSQL servers of all cells can be recovered
// together, and notes it as MarkBackup does. Until it returns, all writes of all processes wait: for some milliseconds,
// or for two seconds if a server creates no restore points. The error is ErrNoServer if no cell is on a server, and
// ErrNoPoint if only some are.
func (db *DB) MarkServers(ctx context.Context, name string) (*BackupMark, error) {
	if err := db.engine.CheckWrites(); err != nil {
		return nil, err
	}
	return backup.Point(ctx, db.engine, name)
}

// LastBackup returns the newest note of a backup, nil if there is none. Backup makes one, too, unless the installation
// is read-only.
func (db *DB) LastBackup(ctx context.Context) (*BackupMark, error) {
	return backup.Newest(ctx, db.engine)
}

// VerifyBackup checks the output of DB.Backup as RestoreBackup does: it compares every file with its hash, opens a
// copy, reads all of it and compares the number of records and entities of each cell. The copy is in the directory for
// temporary files and is removed. The error is ErrBackupFile if the backup cannot be restored.
func VerifyBackup(ctx context.Context, r io.Reader) (*Backup, error) {
	return backup.Verify(ctx, r)
}

// RestoreBackup restores a data directory from the output of DB.Backup. Puids, entity ids, decisions, rollups, counters
// and logs are the same as in the backup, which is first checked like VerifyBackup does. Each cell skips the puids that
// the original may have allocated since. The directory must be missing or empty, and appears when it is complete. The
// error is ErrBackupFile if the backup is incomplete, and wraps ErrConflict if there is data already. To restore the
// directory again, delete it first.
func RestoreBackup(ctx context.Context, dir string, r io.Reader) (*Backup, error) {
	return backup.Restore(ctx, dir, r)
}
