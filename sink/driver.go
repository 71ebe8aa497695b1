// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/locus-db/locus/secret"
)

// Spec is the part of a sink's definition that a driver needs.
type Spec struct {
	// Name of the sink.
	Name string
	// URL of the target, without a password.
	URL *url.URL
	// Secret signs deliveries, or is the password of the target; empty if there is none.
	Secret secret.Text
	// Files is the directory below which the process may write files, "" if it may not.
	Files string
	// UnsafeDurability accepts a database that may lose acknowledged writes.
	UnsafeDurability bool
	// Attributes are the attributes with one value of the kinds that are delivered.
	Attributes []string
}

// Driver opens the targets of one kind.
type Driver struct {
	// Check returns why a URL cannot be a target, without connecting. Its error does not quote the URL.
	Check func(u *url.URL) error
	// Open opens a target. The error wraps ErrStop if no repetition can help.
	Open func(ctx context.Context, s Spec) (Sink, error)
	// Read opens a target to read its content. Nil if targets cannot be read.
	Read func(ctx context.Context, s Spec) (Reader, error)
	// Changes opens a target of changes. Nil if there are none of this kind.
	Changes func(ctx context.Context, s Spec) (ChangeSink, error)
	// CheckChanges returns why a URL that Check accepts cannot be a target of changes. Nil if every such URL can.
	CheckChanges func(u *url.URL) error
	// Lanes and Batch have the meaning of Options.
	Lanes, Batch int
}

var (
	driversMu sync.Mutex
	drivers   = map[string]Driver{}
)

// Register makes a driver known by the schemes of its URLs. Packages of drivers call it when they are imported.
func Register(d Driver, schemes ...string) {
	driversMu.Lock()
	defer driversMu.Unlock()
	for _, s := range schemes {
		drivers[s] = d
	}
}

// ParseURL parses the address of a target, checks it, and returns its driver. A URL with a password is refused, and no
// error quotes the URL.
func ParseURL(text string) (u *url.URL, d Driver, err error) {
	u, err = url.Parse(text)
	if err != nil || u.Scheme == "" {
		return nil, d, errors.New("want a URL such as https://crm.example/locus or postgres://USER@HOST/DATABASE?table=NAME")
	}
	if _, has := u.User.Password(); has {
		return nil, d, errors.New("the URL has a password, but definitions are stored and shown: leave it out, and name an environment variable of the servers with it")
	}
	driversMu.Lock()
	defer driversMu.Unlock()
	d, found := drivers[u.Scheme]
	if !found {
		return nil, d, fmt.Errorf("no target has the scheme %.20q: want %s", u.Scheme,
			strings.Join(slices.Sorted(maps.Keys(drivers)), ":, ")+":")
	}
	return u, d, d.Check(u)
}
