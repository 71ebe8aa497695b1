-- Who this cell is, and what it lets be written: one row, which every update reads first and holds
-- until it ends (FOR SHARE). What updates change stands in locus_total, so that they do not wait for
-- each other here. The puids given away are a sequence, locus_puid, made when the cell is told its
-- range.
CREATE TABLE locus_cell (
  one         smallint PRIMARY KEY CHECK (one = 1),
  map         text     NOT NULL, -- id of the cell map that the cell belongs to
  gen         integer  NOT NULL,
  idx         bigint   NOT NULL,
  lo          bigint   NOT NULL, -- puids of the cell: after lo, up to hi
  hi          bigint   NOT NULL,
  rules       text     NOT NULL, -- what the derived rows were made with
  keys        smallint NOT NULL DEFAULT 0 CHECK (keys BETWEEN 0 AND 2), -- open, sealed, retired
  home        smallint NOT NULL DEFAULT 0 CHECK (home BETWEEN 0 AND 2), -- serving, moving, moved
  incarnation integer  NOT NULL DEFAULT 1, -- databases that the cell has lived in, this one too
  epoch       bigint   NOT NULL DEFAULT 0, -- lowest epoch of a map that may write here
  known_epoch bigint   NOT NULL DEFAULT 0, -- highest epoch that the cell has heard of
  fence       bigint   NOT NULL DEFAULT 0, -- lowest token of a lease that may write here
  journal     boolean  NOT NULL DEFAULT false, -- changes are noted in locus_journal
  images      text     NOT NULL DEFAULT '', -- which changes say what was and what is, and of which attributes
  version     bigint   NOT NULL DEFAULT 0, -- of the rules by which records may be written here
  -- The database that this row was written in. In a copy, a restored backup or a promoted replica
  -- the server's own differ: see adopt.go.
  system      text     NOT NULL, -- identifier of the server's data directory
  timeline    bigint   NOT NULL,
  oid         bigint   NOT NULL,
  -- How often the cell came back from a copy of itself, and the last time whose losses were made good elsewhere. See
  -- Head.Returns of package cell.
  returns     integer  NOT NULL DEFAULT 0,
  settled     integer  NOT NULL DEFAULT 0,
  -- A move of the cell to another database: which one, and which attempt at it. The database that the cell leaves and
  -- the one that is filled have the same value; '' for none. See Head.Move of package cell.
  move        text     NOT NULL DEFAULT '',
  sum         bigint -- of who the cell is and what it lets be written
) WITH (fillfactor = 10);

-- The running totals of the cell: one row, which a writer locks until it commits, after all others.
CREATE TABLE locus_total (
  one      smallint PRIMARY KEY CHECK (one = 1),
  seq      bigint   NOT NULL, -- the last change's place in the log
  trimmed  bigint   NOT NULL, -- the last change that was trimmed
  records  bigint   NOT NULL,
  entities bigint   NOT NULL,
  merges   bigint   NOT NULL,
  splits   bigint   NOT NULL,
  noted    bigint   NOT NULL, -- the last entry of locus_journal
  -- Merges and splits together, counted a second time.
  turns    bigint   NOT NULL DEFAULT 0
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0.02);
INSERT INTO locus_total VALUES (1, 0, 0, 0, 0, 0, 0, 0);

-- What changed since a move began: the keys of rows, in the order of commits.
CREATE TABLE locus_journal (
  seq   bigint PRIMARY KEY,
  tab   text   NOT NULL,
  num   bigint, -- the key, as far as it consists of numbers
  num2  bigint,
  bytes bytea -- and of bytes
);

-- Versions of the cell map: all of them in the authority, copies of some in the other cells.
CREATE TABLE locus_map (
  epoch bigint PRIMARY KEY,
  body  text   NOT NULL,
  sum   bigint
);

CREATE TABLE locus_key (
  ring   bigint NOT NULL,
  digest bytea  NOT NULL CHECK (length(digest) = 16),
  puid   bigint NOT NULL CHECK (puid <> 0),
  PRIMARY KEY (ring, digest)
);

-- What tells without reading locus_key that a key is not in it. Sealed cells have it: one row.
CREATE TABLE locus_filter (
  one  smallint PRIMARY KEY CHECK (one = 1),
  body bytea    NOT NULL,
  sum  bigint
);
ALTER TABLE locus_filter ALTER COLUMN body SET STORAGE EXTERNAL; -- it is as random as can be

-- Leases of the installation. Only the authority has rows here.
CREATE TABLE locus_lease (
  name   text    COLLATE "C" PRIMARY KEY,
  owner  text    NOT NULL DEFAULT '', -- '' if it is free
  token  bigint  NOT NULL DEFAULT 0, -- counts the owners
  beat   bigint  NOT NULL DEFAULT 0, -- counts the signs of life
  ttl    bigint  NOT NULL DEFAULT 0, -- nanoseconds
  fence  bigint  NOT NULL DEFAULT 0, -- token of the last owner that took it from one who had not given it back
  wanted boolean NOT NULL DEFAULT false, -- another process waits
  epoch  bigint  NOT NULL DEFAULT 0, -- newest cell map that an owner worked with
  -- What other processes ask the owner of a lease to do, and how far it has come.
  asked  bigint  NOT NULL DEFAULT 0, -- how much was asked for
  done   bigint  NOT NULL DEFAULT 0, -- all up to there is done
  asks   text    NOT NULL DEFAULT '', -- what is not done: a number and what it is a line
  partly boolean NOT NULL DEFAULT false, -- something of it waits for a cell
  sum    bigint
) WITH (fillfactor = 50);

CREATE TABLE record (
  puid     bigint PRIMARY KEY,
  source   text   COLLATE "C" NOT NULL,
  key      text   COLLATE "C" NOT NULL,
  version  bigint NOT NULL,
  birth    uuid   NOT NULL,
  anchor   bigint NOT NULL,
  observed bigint NOT NULL, -- milliseconds since 1970
  body     json, -- attributes; NULL in a tombstone
  kind     text   NOT NULL, -- of the thing
  -- Checksums of rows that nothing else repeats: CRC-32C, see cell.Sum.
  sum      bigint -- without anchor, which changes by itself
) WITH (fillfactor = 90);

CREATE TABLE birth (
  id        uuid   PRIMARY KEY,
  puid      bigint NOT NULL, -- 0 once the record was deleted
  successor uuid
);

-- words are what the entity is found by: the words that it is searched by, its terms as U+0080 and 13
-- digits to the base of 32, and its points as U+0081 and one. No word of a text begins with those.
CREATE TABLE entity (
  anchor bigint   PRIMARY KEY,
  id     uuid     NOT NULL,
  stamp  bigint   NOT NULL,
  words  tsvector NOT NULL,
  rank   integer  NOT NULL, -- points of its sources times 256, and of what is known of it
  body   bytea    NOT NULL -- kind, members and view, packed
) WITH (fillfactor = 80);
CREATE INDEX entity_words ON entity USING gin (words);

-- What people decided. A decision about two records stands under both.
CREATE TABLE decision (
  puid  bigint NOT NULL,
  topic text   COLLATE "C" NOT NULL, -- the other record, the anchor, or an attribute
  at    bigint NOT NULL, -- milliseconds since 1970
  body  text   COLLATE "C" NOT NULL, -- JSON
  sum   bigint,
  PRIMARY KEY (puid, topic)
);

-- before and after are members: [[puid, version], ...], NULL for none; was and became are images, NULL
-- for none and where no rollup needs them.
CREATE TABLE change (
  seq     bigint PRIMARY KEY,
  at      bigint NOT NULL, -- milliseconds since 1970
  kind    text   NOT NULL,
  entity  uuid   NOT NULL,
  into_id uuid,
  before  json,
  after   json,
  was     json,
  became  json,
  cause   text   NOT NULL,
  sum     bigint -- without seq: the numbers of a log have no gaps
);

-- What is counted. first is the first day since 1970 that anything was counted on.
CREATE TABLE metric (
  id    bigint   PRIMARY KEY, -- in this cell
  name  text     COLLATE "C" NOT NULL,
  kind  smallint NOT NULL, -- 0 a counter, 1 a gauge
  first bigint   NOT NULL,
  sum   bigint
);
CREATE INDEX metric_name ON metric (name);

-- Buckets of metrics: rows of a fixed size, which are changed where they lie: no index has a number that
-- changes, and every page has room for the next version of its rows. bucket is the hour, the
-- quarter of an hour or the day since 1970 times 2^40 plus the metric's id, so what is written at one time
-- lies together.
CREATE TABLE counter_hour (
  bucket bigint PRIMARY KEY,
  counts bigint[] NOT NULL -- 60 minutes
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

CREATE TABLE counter_day (
  bucket bigint PRIMARY KEY,
  counts bigint[] NOT NULL -- 12 hours with 4 quarters each, the day, 12 hours
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

-- A reading is five numbers: min, max, sum, count, last.
CREATE TABLE gauge_quarter (
  bucket   bigint PRIMARY KEY,
  readings bigint[] NOT NULL -- 15 minutes
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

CREATE TABLE gauge_day (
  bucket   bigint PRIMARY KEY,
  readings bigint[] NOT NULL -- 24 hours
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

-- Compacted days. Later hits of a day lie in the tables above until they are compacted too, so a day is always the
-- sum of both.
CREATE TABLE counter_compacted (
  bucket bigint   PRIMARY KEY,
  total  bigint   NOT NULL,
  detail smallint NOT NULL, -- 0 the day, 1 quarters of an hour, 2 minutes
  body   bytea    NOT NULL
);
ALTER TABLE counter_compacted ALTER COLUMN body SET STORAGE EXTERNAL; -- it is packed already
CREATE INDEX counter_compacted_detail ON counter_compacted (detail, bucket) WHERE detail > 0;

-- Batches that were counted and must not be counted again, by the key that they came with. newest is the
-- latest time of a hit, in milliseconds since 1970; print tells the batch from another one.
CREATE TABLE counter_key (
  key     text   COLLATE "C" PRIMARY KEY,
  newest  bigint NOT NULL,
  print   bytea  NOT NULL,
  results bytea  NOT NULL,
  sum     bigint
);
CREATE INDEX counter_key_newest ON counter_key (newest);

-- The last batch of each client that numbers its batches.
CREATE TABLE counter_producer (
  producer bytea  PRIMARY KEY,
  seq      bigint NOT NULL,
  newest   bigint NOT NULL,
  print    bytea  NOT NULL,
  results  bytea  NOT NULL,
  sum      bigint
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

-- Hits that are to count once are refused below the dedup horizon, in milliseconds since 1970: batches of that time
-- may have been forgotten. A transaction that counts one locks the row (FOR SHARE).
CREATE TABLE counter_horizon (
  one     smallint PRIMARY KEY CHECK (one = 1),
  horizon bigint   NOT NULL,
  sum     bigint
);
INSERT INTO counter_horizon VALUES (1, 0, 4179911394); -- the last number is the checksum

-- A blocking key is an unsigned number; the column holds the signed number of the same bits.
CREATE TABLE posting (
  blocking_key bigint NOT NULL,
  puid         bigint NOT NULL,
  PRIMARY KEY (blocking_key, puid)
);

CREATE TABLE edge (
  a      bigint NOT NULL,
  b      bigint NOT NULL,
  vec    bigint NOT NULL,
  weight bigint NOT NULL,
  PRIMARY KEY (a, b)
);
-- Possible matches, each pair once, the best first.
CREATE INDEX edge_possible ON edge (weight DESC, a, b) WHERE a < b AND weight >= 0 AND weight < 500;

CREATE TABLE redo (
  puid    bigint PRIMARY KEY,
  version bigint NOT NULL, -- of the record
  decided bigint NOT NULL, -- milliseconds since 1970, 0 for no decision
  lost    bigint[] NOT NULL -- blocking keys, as in posting
) WITH (autovacuum_vacuum_scale_factor = 0.02);

-- The rules by which records are resolved, and the term-frequency tables that they name. Only the authority has rows here.
CREATE TABLE definition (
  name text   COLLATE "C" PRIMARY KEY,
  body bytea  NOT NULL,
  sum  bigint
);

-- The catalogue of rollups, dropped ones too. Only the authority has rows here.
CREATE TABLE rollup (
  name text   COLLATE "C" PRIMARY KEY,
  body text   NOT NULL, -- JSON
  sum  bigint
);

-- What the cell holds of them. A row changes with every batch of changes.
CREATE TABLE rollup_generation (
  number bigint PRIMARY KEY,
  body   text   NOT NULL, -- JSON
  sum    bigint
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0.02);

-- Rows of generations. What is in them is the business of package rollup.
CREATE TABLE rollup_row (
  generation bigint NOT NULL,
  key        bytea  NOT NULL,
  body       bytea  NOT NULL,
  PRIMARY KEY (generation, key)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

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
  sum         bigint,
  PRIMARY KEY (gen, idx)
) WITH (fillfactor = 50);

-- A text that is written through one handle and read through another, to see whether both lead here.
CREATE TABLE locus_mark (
  one  smallint PRIMARY KEY CHECK (one = 1),
  body text     NOT NULL
);
