-- +goose Up

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
