-- The audit log, in the authority of the cell map: for 400 days a row stays as it is. It may be written a second time as it
-- is, because copying a cell does that.
CREATE TABLE audit (
  chain bigint NOT NULL, -- one for each run of a process
  seq   bigint NOT NULL, -- from 1 in each chain
  at    bigint NOT NULL, -- milliseconds since 1970
  body  text   NOT NULL,
  sum   bigint, -- the checksum of the row
  PRIMARY KEY (chain, seq)
);
CREATE INDEX audit_at ON audit (at, chain, seq);
CREATE FUNCTION audit_keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'TRUNCATE' AND (NEW IS NOT DISTINCT FROM OLD OR OLD.at <= (extract(epoch FROM now()) - 34560000) * 1000) THEN
    RETURN coalesce(NEW, OLD);
  END IF;
  RAISE EXCEPTION 'an entry of the audit log is kept as it is for 400 days';
END $$;
CREATE TRIGGER audit_keep BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_keep();
CREATE TRIGGER audit_keep_all BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION audit_keep();
