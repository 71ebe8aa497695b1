-- +goose Up

-- What other processes ask the owner of a lease to do, and how far it has come.
ALTER TABLE locus_lease ADD COLUMN asked INTEGER NOT NULL DEFAULT 0; -- how much was asked for
ALTER TABLE locus_lease ADD COLUMN done INTEGER NOT NULL DEFAULT 0; -- all up to there is done
ALTER TABLE locus_lease ADD COLUMN asks TEXT NOT NULL DEFAULT ''; -- what is not done: a number and what it is a line
ALTER TABLE locus_lease ADD COLUMN partly INTEGER NOT NULL DEFAULT 0; -- 1 if something of it waits for a cell
