-- Where other processes reach the owner of a lease: a URL with a password, '' if it cannot be reached. The checksum of the row
-- leaves it out: it is only a hint, and is written again with the next renewal.
ALTER TABLE locus_lease ADD COLUMN address TEXT NOT NULL DEFAULT '';
PRAGMA user_version = 5;
