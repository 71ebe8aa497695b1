// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/delay"
)

// still is how long before and after the time of a recovery point nothing is written.
const still = time.Second

// prerequisite is the state of an error about a server that is not configured for something.
const prerequisite = "55000"

// Points implements cell.Recoverable. Each server is asked on a separate connection, beyond the budget, to the database
// postgres: the function is reserved to superusers until they grant it, which they need to do in one database per
// server.
func (d *Driver) Points(ctx context.Context, urls []string, name string) ([]cell.Point, error) {
	asked, err := d.servers(urls)
	if err != nil {
		return nil, err
	}
	all := make([]cell.Point, len(asked))
	refused := false
	for i, t := range asked {
		all[i] = cell.Point{Server: t.server, Name: name}
		err := d.ask(ctx, t, "SELECT clock_timestamp() FROM pg_create_restore_point($1)", &all[i].At, name)
		switch state(err) {
		case noPrivilege, undefinedFunction, prerequisite, "0A000":
			refused = true
			all[i].Name, all[i].Refused = "", explain(err).Error()
			err = nil
		}
		if err != nil {
			return nil, fmt.Errorf("make a restore point on %s: %w", t.server, explain(err))
		}
	}
	if !refused {
		return all, nil
	}
	if err := delay.For(ctx, still); err != nil {
		return nil, err
	}
	for i, t := range asked {
		if all[i].Name == "" {
			if err := d.ask(ctx, t, "SELECT clock_timestamp()", &all[i].At); err != nil {
				return nil, fmt.Errorf("read the clock of %s: %w", t.server, explain(err))
			}
		}
	}
	return all, delay.For(ctx, still)
}

// servers returns a database of each server, by the server's name.
func (d *Driver) servers(urls []string) (asked []*target, err error) {
	for _, url := range urls {
		t, err := parseURL(url, d.opts.Unsafe, d.opts.Standby)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(asked, func(a *target) bool { return a.server == t.server }) {
			asked = append(asked, t)
		}
	}
	slices.SortFunc(asked, func(a, b *target) int { return strings.Compare(a.server, b.server) })
	return asked, nil
}

// ask reads a time from a server.
func (d *Driver) ask(ctx context.Context, t *target, sql string, at *time.Time, args ...any) error {
	on, err := t.maintenance().dial(ctx, d.opts)
	if err != nil {
		return err
	}
	defer on.Close(context.WithoutCancel(ctx))
	return on.QueryRow(ctx, sql, args...).Scan(at)
}

// Noted implements cell.Recoverable, on a separate connection, without migrating or adopting the database.
func (d *Driver) Noted(ctx context.Context, url, name string) (body []byte, err error) {
	t, err := parseURL(url, d.opts.Unsafe, d.opts.Standby)
	if err != nil {
		return nil, err
	}
	on, err := t.insist(ctx, d.opts)
	if err != nil {
		return nil, err
	}
	defer on.Close(context.WithoutCancel(ctx))
	if err = on.QueryRow(ctx, sqlDefinition, name).Scan(&body); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("read definition %s of %s: %w", name, t.shown, explain(err))
	}
	return body, nil
}
