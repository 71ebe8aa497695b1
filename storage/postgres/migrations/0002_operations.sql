-- +goose Up

-- How often the cell came back from a copy of itself, and the last time whose losses were made good elsewhere. See
-- Head.Returns of package cell.
ALTER TABLE locus_cell ADD COLUMN returns integer NOT NULL DEFAULT 0;
ALTER TABLE locus_cell ADD COLUMN settled integer NOT NULL DEFAULT 0;

-- How far the cell has come: raised about once a second, by each process that has written something here since
-- that lasts. What tells a snapshot that was put back from the database itself. A table of its own: writers hold
-- the rows of locus_cell and locus_total.
CREATE TABLE locus_pulse (
  one     smallint PRIMARY KEY CHECK (one = 1),
  commits bigint   NOT NULL
) WITH (fillfactor = 10);
INSERT INTO locus_pulse VALUES (1, 0);

-- What this cell was told of how far other cells are.
CREATE TABLE locus_witness (
  gen         integer NOT NULL,
  idx         bigint  NOT NULL,
  incarnation integer NOT NULL,
  commits     bigint  NOT NULL,
  PRIMARY KEY (gen, idx)
) WITH (fillfactor = 50);

-- A text that is written through one handle and read through another, to see whether both lead here.
CREATE TABLE locus_mark (
  one  smallint PRIMARY KEY CHECK (one = 1),
  body text     NOT NULL
);

-- What other processes ask the owner of a lease to do, and how far it has come.
ALTER TABLE locus_lease
  ADD COLUMN asked bigint NOT NULL DEFAULT 0, -- how much was asked for
  ADD COLUMN done bigint NOT NULL DEFAULT 0, -- all up to there is done
  ADD COLUMN asks text NOT NULL DEFAULT '', -- what is not done: a number and what it is a line
  ADD COLUMN partly boolean NOT NULL DEFAULT false; -- something of it waits for a cell

-- A move of the cell to another database: which one, and which attempt at it. The database that the cell leaves and
-- the one that is filled have the same value; '' for none. See Head.Move of package cell.
ALTER TABLE locus_cell ADD COLUMN move text NOT NULL DEFAULT '';

-- Sums of rollups have 128 bits. What a cell holds of rollups is counted again from its records: the catalogue
-- stays, and a generation that it names and the cell lacks is built.
DELETE FROM rollup_row;
DELETE FROM rollup_generation;

-- Checksums of rows that nothing else repeats: CRC-32C, see cell.Sum. NULL in rows that were written before.
ALTER TABLE record ADD COLUMN sum bigint; -- without anchor, which changes by itself
ALTER TABLE decision ADD COLUMN sum bigint;
ALTER TABLE change ADD COLUMN sum bigint; -- without seq: the numbers of a log have no gaps
ALTER TABLE definition ADD COLUMN sum bigint;
ALTER TABLE rollup ADD COLUMN sum bigint;
ALTER TABLE rollup_generation ADD COLUMN sum bigint;
ALTER TABLE metric ADD COLUMN sum bigint;
ALTER TABLE counter_key ADD COLUMN sum bigint;
ALTER TABLE counter_producer ADD COLUMN sum bigint;
ALTER TABLE counter_floor ADD COLUMN sum bigint;
ALTER TABLE locus_map ADD COLUMN sum bigint;
ALTER TABLE locus_filter ADD COLUMN sum bigint;
ALTER TABLE locus_witness ADD COLUMN sum bigint;
ALTER TABLE locus_lease ADD COLUMN sum bigint;
ALTER TABLE locus_cell ADD COLUMN sum bigint; -- of who the cell is and what it lets be written
UPDATE counter_floor SET sum = 4179911394 WHERE floor = 0;
-- Merges and splits together, counted a second time.
ALTER TABLE locus_total ADD COLUMN turns bigint NOT NULL DEFAULT 0;
UPDATE locus_total SET turns = merges + splits;
