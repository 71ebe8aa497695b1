-- Postings in packed runs, see package posting: the list of runs with the newest postings, and the chunks and indexes of runs.
CREATE TABLE posting_state (
  one  INTEGER PRIMARY KEY CHECK (one = 1),
  body BLOB    NOT NULL,
  sum  INTEGER
) STRICT;
INSERT INTO posting_state VALUES (1, x'', 347453571); -- the number is the checksum
CREATE TABLE posting_chunk (
  id   INTEGER PRIMARY KEY,
  body BLOB    NOT NULL,
  sum  INTEGER
) STRICT;
