-- +goose Up

-- Who this cell is, and its running totals: one row.
CREATE TABLE locus_cell (
  one      INTEGER PRIMARY KEY CHECK (one = 1),
  map      TEXT    NOT NULL, -- id of the cell map that the cell belongs to
  gen      INTEGER NOT NULL,
  idx      INTEGER NOT NULL,
  lo       INTEGER NOT NULL, -- puids of the cell: after lo, up to hi
  hi       INTEGER NOT NULL,
  rules    TEXT    NOT NULL, -- what the derived rows were made with
  used     INTEGER NOT NULL, -- puids given away
  seq      INTEGER NOT NULL, -- the last change's place in the log
  records  INTEGER NOT NULL,
  entities INTEGER NOT NULL,
  merges   INTEGER NOT NULL,
  splits   INTEGER NOT NULL
) STRICT;

-- Versions of the cell map. Only the authority, g0-0, has rows here.
CREATE TABLE locus_map (
  epoch    INTEGER PRIMARY KEY,
  body     TEXT    NOT NULL,
  complete INTEGER NOT NULL -- 1 once all cells of this version exist
) STRICT;

CREATE TABLE locus_key (
  ring   INTEGER NOT NULL,
  digest BLOB    NOT NULL CHECK (length(digest) = 16),
  puid   INTEGER NOT NULL,
  PRIMARY KEY (ring, digest)
) STRICT, WITHOUT ROWID;

CREATE TABLE record (
  puid     INTEGER PRIMARY KEY,
  source   TEXT    NOT NULL,
  key      TEXT    NOT NULL,
  version  INTEGER NOT NULL,
  birth    BLOB    NOT NULL,
  anchor   INTEGER NOT NULL,
  observed INTEGER NOT NULL, -- milliseconds since 1970
  body     TEXT              -- attributes; NULL in a tombstone
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
  body   TEXT    NOT NULL  -- members and view
) STRICT;

-- One document per entity under its anchor: the words of its names, and its terms as U+E000 and
-- 16 hex digits, which no word begins with. To the ascii tokenizer every character beyond
-- ASCII is part of a word, so letters of all scripts are, however young.
CREATE VIRTUAL TABLE search USING fts5 (
  words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);

-- before and after are members: [[puid, version], ...], NULL for none.
CREATE TABLE change (
  seq     INTEGER PRIMARY KEY,
  at      INTEGER NOT NULL, -- milliseconds since 1970
  kind    TEXT    NOT NULL,
  entity  BLOB    NOT NULL,
  into_id BLOB,
  before  TEXT,
  after   TEXT
) STRICT;

-- A feature is an unsigned number; the column holds the signed number of the same bits.
CREATE TABLE posting (
  feature INTEGER NOT NULL,
  puid    INTEGER NOT NULL,
  PRIMARY KEY (feature, puid)
) STRICT, WITHOUT ROWID;

CREATE TABLE edge (
  a     INTEGER NOT NULL,
  b     INTEGER NOT NULL,
  vec   INTEGER NOT NULL,
  score INTEGER NOT NULL,
  PRIMARY KEY (a, b)
) STRICT, WITHOUT ROWID;

CREATE TABLE redo (
  puid INTEGER PRIMARY KEY,
  lost BLOB -- features, 8 bytes each, big endian
) STRICT;

PRAGMA application_id = 1280263027;
PRAGMA user_version = 1;
