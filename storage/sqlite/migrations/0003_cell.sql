-- Who this cell is, what it lets be written, and its running totals: one row, which every
-- transaction reads.
CREATE TABLE locus_cell (
  one         INTEGER PRIMARY KEY CHECK (one = 1),
  map         TEXT    NOT NULL, -- id of the cell map that the cell belongs to
  gen         INTEGER NOT NULL,
  idx         INTEGER NOT NULL,
  lo          INTEGER NOT NULL, -- puids of the cell: after lo, up to hi
  hi          INTEGER NOT NULL,
  rules       TEXT    NOT NULL, -- what the derived rows were made with
  keys        INTEGER NOT NULL DEFAULT 0 CHECK (keys BETWEEN 0 AND 2), -- open, sealed, retired
  home        INTEGER NOT NULL DEFAULT 0 CHECK (home BETWEEN 0 AND 2), -- serving, moving, moved
  incarnation INTEGER NOT NULL DEFAULT 1, -- databases that the cell has lived in, this one too
  epoch       INTEGER NOT NULL DEFAULT 0, -- lowest epoch of a map that may write here
  known_epoch INTEGER NOT NULL DEFAULT 0, -- highest epoch that the cell has heard of
  fence       INTEGER NOT NULL DEFAULT 0, -- lowest token of a lease that may write here
  images      TEXT    NOT NULL DEFAULT '', -- which changes carry images, and what is in them
  version     INTEGER NOT NULL DEFAULT 0, -- of the rules by which records may be written here
  used        INTEGER NOT NULL DEFAULT 0, -- puids given away
  seq         INTEGER NOT NULL DEFAULT 0, -- the last change's place in the log
  trimmed     INTEGER NOT NULL DEFAULT 0, -- the place of the last change that was trimmed
  records     INTEGER NOT NULL DEFAULT 0,
  entities    INTEGER NOT NULL DEFAULT 0,
  merges      INTEGER NOT NULL DEFAULT 0,
  splits      INTEGER NOT NULL DEFAULT 0,
  -- How often the cell came back from a copy of itself, and the last time whose losses were made good elsewhere. See
  -- Head.Returns of package cell.
  returns     INTEGER NOT NULL DEFAULT 0,
  settled     INTEGER NOT NULL DEFAULT 0,
  -- How many transactions have written something here that lasts: what tells an old copy of the file, or one
  -- that lost the end of its log, from the file itself.
  commits     INTEGER NOT NULL DEFAULT 0,
  -- A move of the cell to another database: which one, and which attempt at it. The database that the cell leaves and
  -- the one that is filled have the same value; '' for none. See Head.Move of package cell.
  move        TEXT    NOT NULL DEFAULT '',
  sum         INTEGER, -- of who the cell is and what it lets be written
  -- Merges and splits together, counted a second time.
  turns       INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Versions of the cell map: all of them in the authority, copies of some in the other cells.
CREATE TABLE locus_map (
  epoch INTEGER PRIMARY KEY,
  body  TEXT    NOT NULL,
  sum   INTEGER
) STRICT;

CREATE TABLE locus_key (
  ring   INTEGER NOT NULL,
  digest BLOB    NOT NULL CHECK (length(digest) = 16),
  puid   INTEGER NOT NULL,
  PRIMARY KEY (ring, digest)
) STRICT, WITHOUT ROWID;

-- What tells without reading locus_key that a key is not in it. Sealed cells have it: one row.
CREATE TABLE locus_filter (
  one  INTEGER PRIMARY KEY CHECK (one = 1),
  body BLOB    NOT NULL,
  sum  INTEGER
) STRICT;

-- Leases of the installation, in the authority, and those of this cell.
CREATE TABLE locus_lease (
  name   TEXT    PRIMARY KEY,
  owner  TEXT    NOT NULL, -- '' if it is free
  token  INTEGER NOT NULL, -- counts the owners
  beat   INTEGER NOT NULL, -- counts the signs of life
  ttl    INTEGER NOT NULL, -- nanoseconds
  fence  INTEGER NOT NULL, -- token of the last owner that did not wait for the one before
  wanted INTEGER NOT NULL, -- 1 if another process waits
  epoch  INTEGER NOT NULL, -- newest cell map that an owner worked with
  -- What other processes ask the owner of a lease to do, and how far it has come.
  asked  INTEGER NOT NULL DEFAULT 0, -- how much was asked for
  done   INTEGER NOT NULL DEFAULT 0, -- all up to there is done
  asks   TEXT    NOT NULL DEFAULT '', -- what is not done: a number and what it is a line
  partly INTEGER NOT NULL DEFAULT 0, -- 1 if something of it waits for a cell
  sum    INTEGER
) STRICT, WITHOUT ROWID;

-- Rows that were written or deleted while the cell moves to another database: the keys of table
-- tab. Triggers write it, and are there only then.
CREATE TABLE locus_journal (
  seq  INTEGER PRIMARY KEY,
  tab  TEXT    NOT NULL,
  key1 ANY     NOT NULL,
  key2 ANY
) STRICT;

CREATE TABLE record (
  puid     INTEGER PRIMARY KEY,
  source   TEXT    NOT NULL,
  key      TEXT    NOT NULL,
  version  INTEGER NOT NULL,
  birth    BLOB    NOT NULL,
  anchor   INTEGER NOT NULL,
  observed INTEGER NOT NULL, -- milliseconds since 1970
  body     TEXT, -- attributes; NULL in a tombstone
  kind     TEXT    NOT NULL, -- of the thing
  -- Checksums of rows that nothing else repeats: CRC-32C, see cell.Sum.
  sum      INTEGER -- without anchor, which changes by itself
) STRICT;

CREATE TABLE birth (
  id        BLOB    PRIMARY KEY CHECK (length(id) = 16),
  puid      INTEGER NOT NULL, -- 0 once the record was deleted
  successor BLOB
) STRICT, WITHOUT ROWID;

CREATE TABLE entity (
  anchor INTEGER PRIMARY KEY,
  id     BLOB    NOT NULL,
  stamp  INTEGER NOT NULL,
  words  INTEGER NOT NULL, -- hash of its document in the search
  rank   INTEGER NOT NULL, -- points of its sources times 256, and of what is known of it
  body   BLOB    NOT NULL -- kind, members and view, packed
) STRICT;

-- One document per entity under its anchor: the words that it is searched by, its terms as U+0080 and
-- 13 digits to the base of 32, its points as U+0081 and one, and U+0082 for all of them. No word of a text
-- begins with those. To the ascii tokenizer every character beyond
-- ASCII is part of a word, so letters of all scripts are, however young.
CREATE VIRTUAL TABLE search USING fts5 (
  words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);

-- What people decided. A decision about two records stands under both.
CREATE TABLE decision (
  puid  INTEGER NOT NULL,
  topic TEXT    NOT NULL, -- the other record, the anchor, or an attribute
  at    INTEGER NOT NULL, -- milliseconds since 1970
  body  TEXT    NOT NULL, -- JSON
  sum   INTEGER,
  PRIMARY KEY (puid, topic)
) STRICT, WITHOUT ROWID;

-- before and after are members: [[puid, version], ...]; was and became are what the entity or record
-- said before and after, as JSON. NULL for none.
CREATE TABLE change (
  seq     INTEGER PRIMARY KEY,
  at      INTEGER NOT NULL, -- milliseconds since 1970
  kind    TEXT    NOT NULL,
  entity  BLOB    NOT NULL,
  into_id BLOB,
  before  TEXT,
  after   TEXT,
  was     TEXT,
  became  TEXT,
  cause   TEXT    NOT NULL,
  sum     INTEGER -- without seq: the numbers of a log have no gaps
) STRICT;

-- The rules by which records are resolved, and the term-frequency tables that they name. Only the cell that keeps the cell
-- map has rows here.
CREATE TABLE definition (
  name TEXT    PRIMARY KEY,
  body BLOB    NOT NULL,
  sum  INTEGER
) STRICT;

-- The catalogue of rollups, as JSON. Only the cell that keeps the cell map has rows here.
CREATE TABLE rollup (
  name TEXT    PRIMARY KEY,
  body TEXT    NOT NULL,
  sum  INTEGER
) STRICT, WITHOUT ROWID;

-- What this cell holds of rollups, as JSON; numbers are those of the installation.
CREATE TABLE rollup_generation (
  number INTEGER PRIMARY KEY,
  body   TEXT    NOT NULL,
  sum    INTEGER
) STRICT;

-- The rows of generations, in the order of their keys. Package rollup alone reads what is in them.
CREATE TABLE rollup_row (
  generation INTEGER NOT NULL,
  key        BLOB    NOT NULL,
  body       BLOB    NOT NULL,
  PRIMARY KEY (generation, key)
) STRICT, WITHOUT ROWID;

-- What is counted. first is the first day since 1970 that anything was counted on.
CREATE TABLE metric (
  id    INTEGER PRIMARY KEY, -- in this cell
  name  TEXT    NOT NULL,
  kind  INTEGER NOT NULL, -- 0 a counter, 1 a gauge
  first INTEGER NOT NULL,
  sum   INTEGER
) STRICT;
CREATE INDEX metric_name ON metric (name);

-- Buckets of metrics: rows of a fixed size, numbers of 8 bytes, big endian. bucket is the hour, the
-- quarter of an hour or the day since 1970 times 2^40 plus the metric's id, so what is written at one time
-- lies together.
CREATE TABLE counter_hour (
  bucket INTEGER PRIMARY KEY,
  counts BLOB    NOT NULL CHECK (length(counts) = 480) -- 60 minutes
) STRICT;

CREATE TABLE counter_day (
  bucket INTEGER PRIMARY KEY,
  counts BLOB    NOT NULL CHECK (length(counts) = 968) -- 12 hours with 4 quarters each, the day, 12 hours
) STRICT;

-- A reading is five numbers: min, max, sum, count, last.
CREATE TABLE gauge_quarter (
  bucket   INTEGER PRIMARY KEY,
  readings BLOB    NOT NULL CHECK (length(readings) = 600) -- 15 minutes
) STRICT;

CREATE TABLE gauge_day (
  bucket   INTEGER PRIMARY KEY,
  readings BLOB    NOT NULL CHECK (length(readings) = 960) -- 24 hours
) STRICT;

-- Compacted days. Later hits of a day lie in the tables above until they are compacted too, so a day is always the
-- sum of both.
CREATE TABLE counter_compacted (
  bucket INTEGER PRIMARY KEY,
  total  INTEGER NOT NULL,
  detail INTEGER NOT NULL, -- 0 the day, 1 quarters of an hour, 2 minutes
  body   BLOB    NOT NULL
) STRICT;
CREATE INDEX counter_compacted_detail ON counter_compacted (detail, bucket) WHERE detail > 0;

-- Batches that were counted and must not be counted again, by the key that they came with. newest is the
-- latest time of a hit, in milliseconds since 1970; print tells the batch from another one.
CREATE TABLE counter_key (
  key     TEXT    PRIMARY KEY,
  newest  INTEGER NOT NULL,
  print   BLOB    NOT NULL CHECK (length(print) = 16),
  results BLOB    NOT NULL,
  sum     INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX counter_key_newest ON counter_key (newest);

-- The last batch of each client that numbers its batches.
CREATE TABLE counter_producer (
  producer BLOB    PRIMARY KEY CHECK (length(producer) = 16),
  seq      INTEGER NOT NULL,
  newest   INTEGER NOT NULL,
  print    BLOB    NOT NULL CHECK (length(print) = 16),
  results  BLOB    NOT NULL,
  sum      INTEGER
) STRICT, WITHOUT ROWID;

-- Hits that are to count once are refused below the dedup horizon, in milliseconds since 1970: batches of that time
-- may have been forgotten.
CREATE TABLE counter_horizon (
  one     INTEGER PRIMARY KEY CHECK (one = 1),
  horizon INTEGER NOT NULL,
  sum     INTEGER
) STRICT;
INSERT INTO counter_horizon VALUES (1, 0, 4179911394); -- the last number is the checksum

-- A blocking key is an unsigned number; the column holds the signed number of the same bits.
CREATE TABLE posting (
  blocking_key INTEGER NOT NULL,
  puid         INTEGER NOT NULL,
  PRIMARY KEY (blocking_key, puid)
) STRICT, WITHOUT ROWID;

CREATE TABLE edge (
  a      INTEGER NOT NULL,
  b      INTEGER NOT NULL,
  vec    INTEGER NOT NULL,
  weight INTEGER NOT NULL,
  PRIMARY KEY (a, b)
) STRICT, WITHOUT ROWID;
-- Possible matches, each pair once, the best first.
CREATE INDEX edge_possible ON edge (weight DESC, a, b) WHERE a < b AND weight >= 0 AND weight < 500;

CREATE TABLE redo (
  puid    INTEGER PRIMARY KEY,
  version INTEGER NOT NULL, -- of the record
  decided INTEGER NOT NULL, -- milliseconds since 1970, 0 for no decision
  lost    BLOB -- blocking keys, 8 bytes each, big endian
) STRICT;

-- What this cell was told of how far other cells are.
CREATE TABLE locus_witness (
  gen         INTEGER NOT NULL,
  idx         INTEGER NOT NULL,
  incarnation INTEGER NOT NULL,
  commits     INTEGER NOT NULL,
  sum         INTEGER,
  PRIMARY KEY (gen, idx)
) STRICT, WITHOUT ROWID;

-- A text that is written through one handle and read through another, to see whether both lead here.
CREATE TABLE locus_mark (
  one  INTEGER PRIMARY KEY CHECK (one = 1),
  body TEXT    NOT NULL
) STRICT;

PRAGMA application_id = 1280263027;
PRAGMA user_version = 3;
