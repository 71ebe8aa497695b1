-- +goose Up

-- How often the cell came back from a copy of itself, and the last time whose losses were made good elsewhere. See
-- Head.Returns of package cell.
ALTER TABLE locus_cell ADD COLUMN returns integer NOT NULL DEFAULT 0;
ALTER TABLE locus_cell ADD COLUMN settled integer NOT NULL DEFAULT 0;
