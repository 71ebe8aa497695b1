// SPDX-License-Identifier: Apache-2.0

package mongotest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// scratch is the name prefix of the databases that are dropped after a test.
const scratch = "locus_test_"

// newName returns a unique name. The stand-in requires lower case.
func newName() string { return scratch + strings.ToLower(rand.Text()[:16]) }

// split splits a URI: url.Parse does not accept lists of IPv6 addresses.
func split(uri string) (scheme, hosts, database, query string, err error) {
	scheme, rest, found := strings.Cut(uri, "://")
	if !found || scheme != "mongodb" && scheme != "mongodb+srv" {
		return "", "", "", "", errors.New("no URI of MongoDB: want mongodb://HOST") // the rest may be a password
	}
	rest, query, _ = strings.Cut(rest, "?")
	hosts, database, _ = strings.Cut(rest, "/")
	return scheme, hosts, database, query, nil
}

// named returns a URI with another database. The authentication database remains the same.
func named(uri, database string) (string, error) {
	scheme, hosts, before, query, err := split(uri)
	if err != nil {
		return "", err
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", errors.New("no URI of MongoDB: its options cannot be read")
	}
	mechanism := values.Get("authMechanism")
	if strings.Contains(hosts, "@") && !values.Has("authSource") &&
		(mechanism == "" || strings.HasPrefix(mechanism, "SCRAM")) {
		values.Set("authSource", cmp.Or(before, "admin"))
	}
	return join(scheme, hosts, database, values), nil
}

const selection = "serverSelectionTimeoutMS"

// patient returns a URI with a long timeout for finding the server, as on a busy machine. A server that must be
// unreachable is behind a proxy, see through.
func patient(uri string) string {
	switch {
	case strings.Contains(uri, selection+"="):
		return uri
	case strings.Contains(uri, "?"):
		return uri + "&" + selection + "=120000"
	}
	return uri + "?" + selection + "=120000"
}

// through returns a URI that goes through a local address, with a single server and without TLS.
func through(uri, address string) (string, error) {
	_, hosts, database, query, err := split(uri)
	if err != nil {
		return "", err
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", errors.New("no URI of MongoDB: its options cannot be read")
	}
	for name := range values {
		lower := strings.ToLower(name)
		if strings.HasPrefix(lower, "tls") || strings.HasPrefix(lower, "ssl") || strings.HasPrefix(lower, "srv") ||
			lower == "replicaset" || lower == "loadbalanced" || lower == "directconnection" || lower == "compressors" || name == selection {
			values.Del(name)
		}
	}
	values.Set("directConnection", "true")
	if at := strings.LastIndex(hosts, "@"); at >= 0 {
		address = hosts[:at+1] + address
	}
	return join("mongodb", address, database, values), nil
}

func join(scheme, hosts, database string, values url.Values) string {
	uri := scheme + "://" + hosts + "/" + database
	if query := values.Encode(); query != "" {
		uri += "?" + query
	}
	return uri
}

// within calls do with a temporary client.
func within(ctx context.Context, uri string, do func(context.Context, *mongo.Client) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 8*time.Minute)
	defer cancel()
	o := options.Client().ApplyURI(uri)
	if o.ServerSelectionTimeout == nil {
		o.SetServerSelectionTimeout(time.Minute)
	}
	client, err := mongo.Connect(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Disconnect(ctx)) }()
	return do(ctx, client)
}

// primary returns the address of the server that takes writes.
func primary(ctx context.Context, uri string) (string, error) {
	var hello struct {
		Primary string `bson:"primary"`
	}
	err := within(ctx, uri, func(ctx context.Context, client *mongo.Client) error {
		return client.Database("admin").RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Decode(&hello)
	})
	if err == nil && hello.Primary == "" {
		err = fmt.Errorf("several servers of which none is primary: name one of the mongos")
	}
	return hello.Primary, err
}
