-- +goose Up

-- How many transactions have written something here that lasts: what tells an old copy of the file, or one
-- that lost the end of its log, from the file itself.
ALTER TABLE locus_cell ADD COLUMN commits INTEGER NOT NULL DEFAULT 0;

-- What this cell was told of how far other cells are.
CREATE TABLE locus_witness (
  gen         INTEGER NOT NULL,
  idx         INTEGER NOT NULL,
  incarnation INTEGER NOT NULL,
  commits     INTEGER NOT NULL,
  PRIMARY KEY (gen, idx)
) STRICT, WITHOUT ROWID;

-- A text that is written through one handle and read through another, to see whether both lead here.
CREATE TABLE locus_mark (
  one  INTEGER PRIMARY KEY CHECK (one = 1),
  body TEXT NOT NULL
) STRICT;

PRAGMA user_version = 2;
