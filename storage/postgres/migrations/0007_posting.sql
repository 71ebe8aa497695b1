-- Postings in packed runs, see package posting: the list of runs with the newest postings, and the chunks and indexes of runs.
-- Those who post lock the one row of the list. Packed bytes are not compressed again.
CREATE TABLE posting_state (
  one  smallint PRIMARY KEY CHECK (one = 1),
  body bytea    NOT NULL,
  sum  bigint
) WITH (fillfactor = 50);
ALTER TABLE posting_state ALTER COLUMN body SET STORAGE MAIN;
INSERT INTO posting_state VALUES (1, '', 347453571); -- the number is the checksum
CREATE TABLE posting_chunk (
  id   bigint PRIMARY KEY,
  body bytea  NOT NULL,
  sum  bigint
);
ALTER TABLE posting_chunk ALTER COLUMN body SET STORAGE EXTERNAL;
