-- +goose Up

-- What other processes ask the owner of a lease to do, and how far it has come.
ALTER TABLE locus_lease
  ADD COLUMN asked bigint NOT NULL DEFAULT 0, -- how much was asked for
  ADD COLUMN done bigint NOT NULL DEFAULT 0, -- all up to there is done
  ADD COLUMN asks text NOT NULL DEFAULT '', -- what is not done: a number and what it is a line
  ADD COLUMN partly boolean NOT NULL DEFAULT false; -- something of it waits for a cell
