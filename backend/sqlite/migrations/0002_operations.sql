-- +goose Up

-- A move of the cell to another database: which one, and which attempt at it. The database that the cell leaves and
-- the one that is filled have the same value; '' for none. See Head.Move of package cell.
ALTER TABLE locus_cell ADD COLUMN move TEXT NOT NULL DEFAULT '';

PRAGMA user_version = 2;
