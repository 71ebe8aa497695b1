-- +goose Up

-- How often the cell came back from a copy of itself, and the last time whose losses were made good elsewhere. See
-- Head.Returns of package cell.
ALTER TABLE locus_cell ADD COLUMN returns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE locus_cell ADD COLUMN settled INTEGER NOT NULL DEFAULT 0;

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

-- What other processes ask the owner of a lease to do, and how far it has come.
ALTER TABLE locus_lease ADD COLUMN asked INTEGER NOT NULL DEFAULT 0; -- how much was asked for
ALTER TABLE locus_lease ADD COLUMN done INTEGER NOT NULL DEFAULT 0; -- all up to there is done
ALTER TABLE locus_lease ADD COLUMN asks TEXT NOT NULL DEFAULT ''; -- what is not done: a number and what it is a line
ALTER TABLE locus_lease ADD COLUMN partly INTEGER NOT NULL DEFAULT 0; -- 1 if something of it waits for a cell

-- A move of the cell to another database: which one, and which attempt at it. The database that the cell leaves and
-- the one that is filled have the same value; '' for none. See Head.Move of package cell.
ALTER TABLE locus_cell ADD COLUMN move TEXT NOT NULL DEFAULT '';

-- Sums of rollups have 128 bits. What a cell holds of rollups is counted again from its records: the catalogue
-- stays, and a generation that it names and the cell lacks is built.
DELETE FROM rollup_row;
DELETE FROM rollup_generation;

-- Checksums of rows that nothing else repeats: CRC-32C, see cell.Sum. NULL in rows that were written before.
ALTER TABLE record ADD COLUMN sum INTEGER; -- without anchor, which changes by itself
ALTER TABLE decision ADD COLUMN sum INTEGER;
ALTER TABLE change ADD COLUMN sum INTEGER; -- without seq: the numbers of a log have no gaps
ALTER TABLE definition ADD COLUMN sum INTEGER;
ALTER TABLE rollup ADD COLUMN sum INTEGER;
ALTER TABLE rollup_generation ADD COLUMN sum INTEGER;
ALTER TABLE metric ADD COLUMN sum INTEGER;
ALTER TABLE counter_key ADD COLUMN sum INTEGER;
ALTER TABLE counter_producer ADD COLUMN sum INTEGER;
ALTER TABLE counter_floor ADD COLUMN sum INTEGER;
ALTER TABLE locus_map ADD COLUMN sum INTEGER;
ALTER TABLE locus_filter ADD COLUMN sum INTEGER;
ALTER TABLE locus_witness ADD COLUMN sum INTEGER;
ALTER TABLE locus_lease ADD COLUMN sum INTEGER;
ALTER TABLE locus_cell ADD COLUMN sum INTEGER; -- of who the cell is and what it lets be written
UPDATE counter_floor SET sum = 4179911394 WHERE floor = 0;
-- Merges and splits together, counted a second time.
ALTER TABLE locus_cell ADD COLUMN turns INTEGER NOT NULL DEFAULT 0;
UPDATE locus_cell SET turns = merges + splits;

PRAGMA user_version = 2;
