// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	mongooptions "go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/locus-db/locus/storage/mongodb"
)

// measure writes the keys of every kind to a sharded cluster, in a scratch database that it drops at the end. It
// returns the shares of the shards, and a description of the measurement.
func measure(ctx context.Context, uri string, o options) (all []*spread, how string, err error) {
	if u, err := url.Parse(uri); err == nil && strings.Trim(u.Path, "/") != "" {
		return nil, "", errors.New("-uri names a database: leave it out, a scratch database is made; ?authSource=NAME says where the user is")
	}
	scratch := "locus_spread_" + strings.ToLower(rand.Text()[:8])
	// The backend identifies the server. It writes a fact into the scratch database.
	d, err := mongodb.Open(ctx, uri, &mongodb.Options{Name: scratch})
	if err != nil {
		return nil, "", fmt.Errorf("-uri must be the address of a mongos: %w", err)
	}
	server, shown := d.Server(), d.String()
	if err := d.Close(ctx); err != nil {
		return nil, "", err
	}
	client, err := mongo.Connect(mongooptions.Client().ApplyURI(uri).SetAppName("locus bench/spread"))
	if err != nil {
		return nil, "", fmt.Errorf("connect to %s: the URI is not understood", shown)
	}
	r := router{scratch, func(ctx context.Context, db string, command bson.D, answer any) error {
		return client.Database(db).RunCommand(ctx, command).Decode(answer)
	}}
	defer func() { err = errors.Join(err, client.Disconnect(context.WithoutCancel(ctx))) }()
	return r.measure(ctx, server, shown, o)
}

// measure is the function of that name, within the scratch database.
func (r router) measure(ctx context.Context, server mongodb.Server, shown string,
	o options) (all []*spread, how string, err error) {
	defer func() {
		// Even if the run was interrupted.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		err = errors.Join(err, r.drop(ctx))
	}()
	if err := sharded(server, shown); err != nil {
		return nil, "", err
	}
	names, err := r.shards(ctx)
	if err != nil {
		return nil, "", err
	}
	if o.shards = len(names); o.shards < 2 {
		return nil, "", fmt.Errorf("%s has %d shard: nothing is spread over fewer than two", shown, o.shards)
	}
	for _, k := range kinds {
		s, err := r.measureKind(ctx, k, names, after(k, o).placement(), day(k))
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", k.title, err)
		}
		all = append(all, s)
	}
	how = fmt.Sprintf("Measured on %s: %d shards, ranges placed beforehand; %d a second of simulated time from %d processes.",
		server, o.shards, rate, processes)
	return all, how, nil
}

// sharded refuses a server that is not a sharded cluster.
func sharded(s mongodb.Server, shown string) error {
	if s.Topology != mongodb.Sharded || s.StandIn != "" {
		return fmt.Errorf("-uri must be the address of a mongos: %s is %s, and has no shards to spread over", shown, s)
	}
	return nil
}

// after returns the collection after its first day.
func after(k kind, o options) *cluster {
	c := newCluster(o.shards, o.size, o.autosplit)
	for range c.take(stream(k, 1)) {
		continue // the writes of the first day fill it
	}
	return c
}

// day yields the documents of the second day; minutes are counted from its beginning.
func day(k kind) iter.Seq[document] {
	return func(yield func(document) bool) {
		for d := range stream(k, 2) {
			if d.minute -= minutes; d.minute >= 0 && !yield(d) {
				return
			}
		}
	}
}
