// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/locus-db/locus/sink"
)

func init() { sink.Register(driver, "mongodb", "mongodb+srv") }

// batchSize is a good size of batches; a sink must deliver one at a time.
const batchSize = 500

// driver delivers to collections.
var driver = sink.Driver{
	Check: func(u *url.URL) error {
		_, _, err := split(u)
		return err
	},
	Open: func(ctx context.Context, s sink.Spec) (sink.Sink, error) {
		uri, collection, err := split(s.URL)
		if err != nil {
			return nil, err
		}
		return Open(ctx, uri, collection, Options{Password: s.Secret, UnsafeDurability: s.UnsafeDurability})
	},
	Read: func(ctx context.Context, s sink.Spec) (sink.Reader, error) {
		uri, collection, err := split(s.URL)
		if err != nil {
			return nil, err
		}
		return Open(ctx, uri, collection, Options{Password: s.Secret, UnsafeDurability: s.UnsafeDurability})
	},
	Lanes: 1, Batch: batchSize,
}

// parameters are the parameters that a definition may have. Others name files and credentials of the server that runs
// the sink, or weaken the required write guarantees.
var parameters = []string{"collection", "authSource", "replicaSet", "directConnection"}

// collectionForm is the form of a collection's name. MongoDB's own collections begin with system, and the positions
// have their own collection.
var collectionForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,99}$`)

// split returns the URI of a database and the name of a collection.
func split(u *url.URL) (uri, collection string, err error) {
	const want = "want mongodb://USER@HOST/DATABASE?collection=NAME"
	q := u.Query()
	for name := range q {
		if !slices.Contains(parameters, name) {
			return "", "", fmt.Errorf("mongodb: the URL has a parameter %.40q: want only %s", name,
				strings.Join(parameters, ", "))
		}
	}
	switch collection = q.Get("collection"); {
	case u.Host == "" || strings.Trim(u.Path, "/") == "":
		return "", "", errors.New("mongodb: the URL names no database: " + want)
	case !collectionForm.MatchString(collection) || strings.HasPrefix(collection, "system.") || collection == controls:
		return "", "", errors.New("mongodb: the URL names no collection of letters, digits, dots, - and _: " + want)
	}
	q.Del("collection")
	plain := *u
	plain.RawQuery = q.Encode()
	return plain.String(), collection, nil
}
