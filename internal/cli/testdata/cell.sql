-- locus: cell map example, epoch 1, covers ids until 2027-01-15T08:00:00Z

CREATE OR REPLACE FUNCTION locus_cell(puid bigint) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $locus$
SELECT CASE slot - (finest * 4294967296 + 29) / 30
  WHEN 0 THEN CASE WHEN finest % 10 = 0 THEN 'g0-' || finest / 10 END
  WHEN 1 THEN CASE WHEN finest % 5 = 0 THEN 'g1-' || finest / 5 END
  WHEN 2 THEN CASE WHEN finest % 5 = 0 THEN 'g2-' || finest / 5 END
  WHEN 3 THEN 'g3-' || finest
END
FROM (SELECT slot, slot * 30 >> 32 AS finest
      FROM (SELECT ($1 >> 32) + 2147483648 AS slot) AS range) AS start
$locus$;

CREATE OR REPLACE FUNCTION locus_cell(id uuid) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $locus$
SELECT CASE
  WHEN ms >= 1800000000000 THEN NULL
  WHEN ms >= 1700000000000 THEN 'g3-' || (place * 30 >> 32)
  WHEN ms >= 1400000000000 THEN 'g2-' || (place * 6 >> 32)
  WHEN ms >= 1350000000000 THEN 'g1-' || (place * 6 >> 32)
  WHEN true THEN 'g0-' || (place * 3 >> 32)
END
FROM (SELECT ('x' || left($1::text, 8))::bit(32)::bigint AS place,
             ('x' || right($1::text, 12))::bit(48)::bigint AS ms) AS id
$locus$;

COMMENT ON FUNCTION locus_cell(bigint) IS 'locus: cell map example, epoch 1, covers ids until 2027-01-15T08:00:00Z';
COMMENT ON FUNCTION locus_cell(uuid) IS 'locus: cell map example, epoch 1, covers ids until 2027-01-15T08:00:00Z';
