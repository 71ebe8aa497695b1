// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/locus-db/locus/bench/internal/distant"
)

// remove puts a network delay between the services and the server.
func remove(o *options) (*distant.Proxy, error) {
	u, err := url.Parse(o.cellmap)
	if err != nil || u.Scheme != "postgres" || u.Port() == "" {
		return nil, errors.Join(errors.New("-delay: give -map postgres://USER@HOST:PORT/NAME"), err)
	}
	proxy, err := distant.New("tcp", u.Host, o.delay)
	if err != nil {
		return nil, err
	}
	u.Host = net.JoinHostPort("127.0.0.1", strconv.Itoa(proxy.Port()))
	o.cellmap = u.String()
	return proxy, nil
}

// settles is how long an installation is left without work before it counts as idle.
const settles = 40 * time.Second

// rest counts the transactions in the databases of the cells while nothing is written.
func rest(ctx context.Context, o options) error {
	u, err := url.Parse(o.cellmap)
	if err != nil {
		return err
	}
	name := strings.TrimPrefix(u.Path, "/")
	u.Path = "/postgres" // the name in -map is a prefix of the database names
	var counted [2]int64
	for i, wait := range [...]time.Duration{settles, o.idle} {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
		// A server reports the statistics of its processes up to a second late.
		out, err := exec.CommandContext(ctx, "psql", u.String(), "-Atc", "SELECT sum(xact_commit + xact_rollback)::bigint FROM pg_stat_database WHERE starts_with(datname, '"+name+"_g')").Output()
		if err == nil {
			counted[i], err = strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		}
		if err != nil {
			return fmt.Errorf("count transactions by psql: %w", err)
		}
	}
	each := float64(counted[1]-counted[0]) / o.idle.Seconds()
	fmt.Printf("\nidle: %.1f transactions a second, %.3f a cell, of %d services\n", each,
		each/float64(o.cells), o.services)
	return nil
}
