// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locus-db/locus/internal/pgtest"
)

// The documents of the peers: changing only the place of a document touches no index.
const (
	sqlDocuments = `CREATE TABLE document (key text PRIMARY KEY, location text NOT NULL, tags text[] NOT NULL) WITH (fillfactor = 70)`

	sqlUpdate = `UPDATE document AS d SET location = n.location, tags = string_to_array(n.tags, ' ')
		FROM unnest($1::text[], $2::text[], $3::text[]) AS n (key, location, tags) WHERE d.key = n.key`

	// sqlCounts is the reference answer.
	sqlCounts = `SELECT tag, location, count(*) AS n FROM document, unnest(tags) AS tag GROUP BY tag, location`

	sqlTable = `CREATE TABLE by_tag (tag text, location text, n bigint NOT NULL, PRIMARY KEY (tag, location)) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
		INSERT INTO by_tag ` + sqlCounts

	// sqlAdd adds differences to the table, always in the same order.
	sqlAdd = ` INSERT INTO by_tag AS b (tag, location, n)
		SELECT tag, location, sum(n) FROM (%s) AS d (tag, location, n) GROUP BY tag, location HAVING sum(n) <> 0 ORDER BY tag, location
		ON CONFLICT (tag, location) DO UPDATE SET n = b.n + excluded.n`
)

// schemas are the objects that each peer has in addition to the documents.
var schemas = map[string]string{
	"ceiling": "",
	"gin":     "CREATE INDEX ON document USING gin (tags)",
	"view":    "CREATE MATERIALIZED VIEW by_tag AS " + sqlCounts + "; CREATE UNIQUE INDEX ON by_tag (tag, location)",
	"trigger-row": sqlTable + `;
		CREATE FUNCTION counts() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN` +
		fmt.Sprintf(sqlAdd, "SELECT unnest(OLD.tags), OLD.location, -1 UNION ALL SELECT unnest(NEW.tags), NEW.location, 1") + `;
		RETURN NULL; END $$;
		CREATE TRIGGER counts AFTER UPDATE ON document FOR EACH ROW EXECUTE FUNCTION counts()`,
	"trigger-sum": sqlTable + `;
		CREATE FUNCTION counts() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN` +
		fmt.Sprintf(sqlAdd, "SELECT unnest(tags), location, -1 FROM was UNION ALL SELECT unnest(tags), location, 1 FROM become") + `;
		RETURN NULL; END $$;
		CREATE TRIGGER counts AFTER UPDATE ON document REFERENCING OLD TABLE AS was NEW TABLE AS become FOR EACH STATEMENT EXECUTE FUNCTION counts()`,
	"xmin": sqlTable + `;
		CREATE TABLE log (xid xid8 NOT NULL DEFAULT pg_current_xact_id(), seq bigserial, key text NOT NULL,
			was text NOT NULL, was_tags text[] NOT NULL, location text NOT NULL, tags text[] NOT NULL, PRIMARY KEY (xid, seq));
		CREATE TABLE watermark (xid xid8 NOT NULL, seq bigint NOT NULL);
		INSERT INTO watermark VALUES ('0', 0)`,
}

// sqlUpdateLogged writes documents and a log of the changes.
const sqlUpdateLogged = `WITH n AS (SELECT * FROM unnest($1::text[], $2::text[], $3::text[]) AS n (key, location, tags)),
	was AS (SELECT d.key, d.location, d.tags FROM document AS d JOIN n ON n.key = d.key),
	become AS (UPDATE document AS d SET location = n.location, tags = string_to_array(n.tags, ' ') FROM n WHERE d.key = n.key)
	INSERT INTO log (key, was, was_tags, location, tags)
	SELECT was.key, was.location, was.tags, n.location, string_to_array(n.tags, ' ') FROM was JOIN n ON n.key = was.key`

// peer is a database with documents and a way to count them.
type peer struct {
	key   string
	url   string
	conns []*pgx.Conn // one per client
}

// template creates the database with the documents, from which all peers are cloned.
func template(ctx context.Context, tb testing.TB, s *pgtest.Server, w *world) (string, error) {
	name := s.Database(tb)
	conn, err := pgx.Connect(ctx, s.URL(name))
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sqlDocuments); err != nil {
		return "", err
	}
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"document"}, []string{"key", "location", "tags"},
		pgx.CopyFromSlice(len(w.pets), func(i int) ([]any, error) {
			return []any{w.pets[i].key, w.pets[i].location, w.pets[i].tags}, nil
		}))
	if err == nil {
		_, err = conn.Exec(ctx, "VACUUM ANALYZE document")
	}
	return name, err
}

// openPeer creates the database of a peer, with a connection per client.
func openPeer(ctx context.Context, tb testing.TB, s *pgtest.Server, from, key string) (*peer, error) {
	name := strings.ReplaceAll(key, "-", "_")
	s.Exec(tb, "postgres", fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s", name, from))
	p := &peer{key: key, url: s.URL(name)}
	for range single.Clients {
		conn, err := pgx.Connect(ctx, p.url)
		if err != nil {
			return nil, err
		}
		p.conns = append(p.conns, conn)
	}
	if _, err := p.conns[0].Exec(ctx, schemas[key]); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", key, err)
	}
	_, err := p.conns[0].Exec(ctx, "VACUUM ANALYZE")
	return p, err
}

func (p *peer) close(ctx context.Context) (err error) {
	for _, c := range p.conns {
		err = errors.Join(err, c.Close(ctx))
	}
	return err
}

// write writes whole documents, in one statement.
func (p *peer) write(ctx context.Context, client int, pets []*pet) error {
	keys, places, tags := make([]string, len(pets)), make([]string, len(pets)), make([]string, len(pets))
	for i, p := range pets {
		keys[i], places[i], tags[i] = p.key, p.location, strings.Join(p.tags, " ")
	}
	sql := sqlUpdate
	if p.key == "xmin" {
		sql = sqlUpdateLogged
	}
	_, err := p.conns[client].Exec(ctx, sql, keys, places, tags)
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == "40P01" {
		return errDeadlock
	}
	return err
}

// verify compares the table with the documents.
func (p *peer) verify(ctx context.Context) error {
	var differ int
	err := p.conns[0].QueryRow(ctx, `SELECT count(*) FROM (SELECT tag, location, n FROM by_tag WHERE n <> 0) AS a
		FULL JOIN (`+sqlCounts+`) AS b USING (tag, location) WHERE a.n IS DISTINCT FROM b.n`).Scan(&differ)
	if err == nil && differ > 0 {
		err = fmt.Errorf("%s: %d counts differ from their recomputation", p.key, differ)
	}
	return err
}

// refresh refreshes the view until a refresh has begun after the writers ended.
func (p *peer) refresh(ctx context.Context, ended <-chan struct{}) (all refreshes, err error) {
	conn, err := pgx.Connect(ctx, p.url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	for last := false; ; {
		began := time.Now()
		if _, err := conn.Exec(ctx, "REFRESH MATERIALIZED VIEW CONCURRENTLY by_tag"); err != nil {
			return nil, err
		}
		all = append(all, struct{ began, ended time.Time }{began, time.Now()})
		if last {
			return all, nil
		}
		select {
		case <-ended:
			last = true
		default:
		}
	}
}

// petOf returns the number of a document from its key in a log.
func petOf(key string) (n int, err error) {
	_, err = fmt.Sscanf(key, "animal-%d", &n)
	return n, err
}

// hold opens a read-write transaction with a snapshot for a duration.
func hold(ctx context.Context, url string, d time.Duration) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_current_xact_id()"); err != nil {
		return err
	}
	until(ctx, time.Now().Add(d))
	_, err = conn.Exec(ctx, "COMMIT")
	return err
}

// rows reads an answer to its end, like a client.
func rows(ctx context.Context, conn *pgx.Conn, sql string, args ...any) (int, error) {
	type count struct {
		Tag, Location string
		N             int64
	}
	answer, err := conn.Query(ctx, sql, args...)
	if err != nil {
		return 0, err
	}
	all, err := pgx.CollectRows(answer, pgx.RowToStructByPos[count])
	return len(slices.Clip(all)), err
}
