-- The audit log, in the authority of the cell map: for 400 days a row stays as it is. It may be written a second time as it
-- is, because copying a cell does that.
CREATE TABLE audit (
  chain INTEGER NOT NULL, -- one for each run of a process
  seq   INTEGER NOT NULL, -- from 1 in each chain
  at    INTEGER NOT NULL, -- milliseconds since 1970
  body  TEXT    NOT NULL,
  sum   INTEGER,          -- the checksum of the row
  PRIMARY KEY (chain, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_at ON audit (at, chain, seq);
CREATE TRIGGER audit_keep_new BEFORE INSERT ON audit
WHEN EXISTS (SELECT 1 FROM audit AS a WHERE a.chain = new.chain AND a.seq = new.seq AND a.at > (unixepoch() - 34560000) * 1000 AND (a.at <> new.at OR a.body <> new.body OR a.sum IS NOT new.sum))
BEGIN SELECT raise(ABORT, 'an entry of the audit log cannot be replaced'); END;
CREATE TRIGGER audit_keep_old BEFORE UPDATE ON audit
WHEN old.at > (unixepoch() - 34560000) * 1000
  AND (new.chain <> old.chain OR new.seq <> old.seq OR new.at <> old.at OR new.body <> old.body OR new.sum IS NOT old.sum)
BEGIN SELECT raise(ABORT, 'an entry of the audit log cannot be changed'); END;
CREATE TRIGGER audit_keep_all BEFORE DELETE ON audit WHEN old.at > (unixepoch() - 34560000) * 1000
BEGIN SELECT raise(ABORT, 'an entry of the audit log is kept for 400 days'); END;

PRAGMA user_version = 4;
