// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/secret"
)

// Options configures Open. nil means defaults.
type Options struct {
	// Name of the database if the URI has none. Defaults to "locus".
	Name string
	// Password of the user in the URI, unless the URI contains one.
	Password secret.Text
	// UnsafeDurability accepts a server that is neither a member of a replica set nor a mongos: acknowledged writes
	// may be lost, and a retried write may count twice. It also accepts a connection to another host without TLS,
	// if the URI asks for that.
	UnsafeDurability bool
	// Timeout limits one operation including its retries, unless the URI sets a limit. Defaults to 10 seconds.
	Timeout time.Duration
}

const (
	defaultName    = "locus"
	defaultTimeout = 10 * time.Second
	// selection is the maximum time to find a server that takes writes.
	selection = 5 * time.Second
)

// Database is a connected MongoDB database. It is safe for concurrent use.
type Database struct {
	client *mongo.Client
	db     *mongo.Database
	shown  string
	server Server
	// timeout limits one operation.
	timeout time.Duration
	away    *away
}

// Open connects to the database that a URI names and checks the deployment. The error wraps ErrURI,
// cell.ErrPreflight if the deployment may lose acknowledged writes, or cell.ErrUnavailable.
func Open(ctx context.Context, uri string, opts *Options) (*Database, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	client, name, shown, err := parse(uri, o)
	if err != nil {
		return nil, err
	}
	d := &Database{shown: shown, timeout: *client.Timeout, away: newAway()}
	if d.client, err = mongo.Connect(client); err != nil {
		return nil, fmt.Errorf("%w: %s: %s", ErrURI, shown, hidden(err, uri))
	}
	d.db = d.client.Database(name)
	if err = d.ready(ctx, o.UnsafeDurability); err != nil {
		return nil, errors.Join(fmt.Errorf("mongodb: open %s: %w", shown, err), d.Close(ctx))
	}
	return d, nil
}

// ready checks the server.
func (d *Database) ready(ctx context.Context, unsafe bool) (err error) {
	if d.server, err = look(ctx, d.client); err != nil {
		return err
	}
	if err := d.server.preflight(); err != nil && !unsafe {
		return err
	}
	return nil
}

// parse parses a URI. It refuses options that would weaken the required settings.
func parse(uri string, o Options) (client *options.ClientOptions, name, shown string, err error) {
	shown, _, err = ShownURI(uri)
	if err != nil {
		return nil, "", "", err
	}
	client = options.Client().ApplyURI(uri)
	if client.Auth != nil && !client.Auth.PasswordSet && !o.Password.Empty() {
		client.Auth.Password, client.Auth.PasswordSet = o.Password.Reveal(), true
	}
	if err := client.Validate(); err != nil {
		return nil, "", shown, fmt.Errorf("%w: %s: %s", ErrURI, shown, hidden(err, uri))
	}
	if w := client.WriteConcern; w != nil && (w.W != nil && w.W != writeconcern.WCMajority || w.Journal != nil && !*w.Journal) {
		return nil, "", shown, fmt.Errorf("%w: %s asks for a weaker write concern than w=majority and journal=true: leave it out", cell.ErrPreflight, shown)
	}
	journal := true
	client.SetAppName("locus").
		SetWriteConcern(&writeconcern.WriteConcern{W: writeconcern.WCMajority, Journal: &journal}).
		SetReadConcern(readconcern.Majority()).
		SetReadPreference(readpref.Primary())
	if client.RetryWrites != nil && !*client.RetryWrites && !o.UnsafeDurability {
		return nil, "", shown, fmt.Errorf("%w: %s switches retryable writes off: leave it out", cell.ErrPreflight, shown)
	}
	if err := encrypt(client, uri, shown, o.UnsafeDurability); err != nil {
		return nil, "", shown, err
	}
	if client.Timeout == nil {
		client.SetTimeout(cmp.Or(o.Timeout, defaultTimeout))
	}
	if client.ServerSelectionTimeout == nil {
		client.SetServerSelectionTimeout(selection)
	}
	_, name, _ = strings.Cut(shown[strings.Index(shown, "://")+3:], "/")
	if len(name) > 63 || strings.ContainsAny(name, `/\. "$*<>:|?%#`) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) {
		return nil, "", shown, fmt.Errorf("%w: MongoDB takes no database of the name %.70q: take letters, digits, - and _, at most 63 bytes, as in mongodb://HOST/locus", ErrURI, name)
	}
	return client, cmp.Or(name, o.Name, defaultName), shown, nil
}

// ShownURI returns a URI without password and options, and whether it contained a password. The error wraps ErrURI
// and never contains the URI. A URI may list several hosts separated by commas, which package net/url does not
// parse.
func ShownURI(uri string) (shown string, secret bool, err error) {
	scheme, rest, found := strings.Cut(uri, "://")
	if !found || scheme != "mongodb" && scheme != "mongodb+srv" {
		return "", false, fmt.Errorf("%w: want mongodb://HOST/NAME or mongodb+srv://HOST/NAME", ErrURI)
	}
	rest, _, _ = strings.Cut(rest, "?")
	hosts, name, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(hosts, '@'); at >= 0 {
		var user string
		user, _, secret = strings.Cut(hosts[:at], ":")
		hosts = user + hosts[at:]
	}
	if strings.Contains(name, "@") {
		return "", false, fmt.Errorf("%w: a slash in a user's name or password is written as %%2F", ErrURI)
	}
	if name != "" {
		hosts += "/" + name
	}
	return scheme + "://" + hosts, secret, nil
}

// Close closes all connections.
func (d *Database) Close(ctx context.Context) error {
	d.away.close()
	return d.client.Disconnect(ctx)
}

// String returns the URI without secrets, and the server.
func (d *Database) String() string { return d.shown + " (" + d.server.String() + ")" }

// Server returns the server as found by Open.
func (d *Database) Server() Server { return d.server }

// Collection returns a collection of the database, for packages that store their own documents.
func (d *Database) Collection(name string) *mongo.Collection { return d.db.Collection(name) }
