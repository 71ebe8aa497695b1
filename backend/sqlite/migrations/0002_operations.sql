-- +goose Up

-- How often the cell came back from a copy of itself, and the last time whose losses were made good elsewhere. See
-- Head.Returns of package cell.
ALTER TABLE locus_cell ADD COLUMN returns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE locus_cell ADD COLUMN settled INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 2;
