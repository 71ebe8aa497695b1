// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locus-db/locus/secret"
)

// Errors of this package.
var (
	// ErrStop means that a source cannot go on until a person has looked at it.
	ErrStop = errors.New("source: stopped")
	// ErrGap means that messages after the position are no longer in the stream, or that it is another stream of the
	// same name.
	ErrGap = errors.New("source: messages are gone")
	// ErrGone means that a single message is no longer in the stream.
	ErrGone = errors.New("source: the message is gone")
)

// Message is one message of a stream.
type Message struct {
	Partition int32
	Offset    int64
	Key       []byte // nil without one
	Value     []byte // empty for a tombstone
	Time      time.Time
	// Marker means that the message has no content and only advances the position, such as the end of a transaction.
	Marker bool
}

// Position is how far a stream was read.
type Position struct {
	// Log identifies the stream: one that is deleted and created again has another value.
	Log string `json:"log,omitempty"`
	// Next is the offset of the next message by partition. A partition without one is read from its beginning.
	Next map[int32]int64 `json:"next,omitempty"`
}

// Clone returns a copy.
func (p Position) Clone() Position { return Position{p.Log, maps.Clone(p.Next)} }

// Pass moves the position past a message.
func (p *Position) Pass(m Message) {
	if p.Next == nil {
		p.Next = map[int32]int64{}
	}
	p.Next[m.Partition] = max(p.Next[m.Partition], m.Offset+1)
}

// Lag returns the number of messages from the position to the ends.
func (p Position) Lag(ends map[int32]int64) (n int64) {
	for partition, end := range ends {
		n += max(0, end-p.Next[partition])
	}
	return n
}

// Stream reads the messages of a broker. Its methods are not called concurrently.
type Stream interface {
	// Position returns where reading began: the position given to the Driver, with Log and a Next for every partition
	// that has one.
	Position() Position
	// Fetch returns the next messages, at most limit, those of a partition in the order of their offsets. It waits
	// until there is at least one. If the context ends first the error wraps the context's error, and no message is
	// lost: the next call returns them.
	Fetch(ctx context.Context, limit int) ([]Message, error)
	// Read returns one message again, without moving the position. The error wraps ErrGone if the stream no longer has
	// it.
	Read(ctx context.Context, partition int32, offset int64) (Message, error)
	// Ends returns the offset after the last message, by partition. The error wraps ErrGap if the stream was created
	// again.
	Ends(ctx context.Context) (map[int32]int64, error)
	// Mark tells the broker up to where the stream was read, for its charts. With a broker that has no such charts it
	// does nothing.
	Mark(ctx context.Context, p Position) error
	// Close ends the connection.
	Close() error
}

// Spec says where a stream is.
type Spec struct {
	// Name of the source; consumer groups are called locus-NAME.
	Name string
	// URL is the address without a password, such as kafka://b1,b2/customers.
	URL *url.URL
	// Secret is the password or the token, empty without one.
	Secret secret.Text
}

// Driver opens the streams of one kind of broker.
type Driver interface {
	// Check returns why a URL cannot be one of a stream, without a connection.
	Check(u *url.URL) error
	// Open connects and begins to read at a position; the zero Position is the beginning of the stream. The error wraps
	// ErrGap if messages after the position are gone or if Position.Log belongs to another stream.
	Open(ctx context.Context, s Spec, at Position) (Stream, error)
}

var (
	driversMu sync.Mutex
	drivers   = map[string]Driver{}
)

// Register makes a driver known by the scheme of its URLs. Packages of drivers call it when they are imported.
func Register(scheme string, d Driver) {
	driversMu.Lock()
	defer driversMu.Unlock()
	drivers[scheme] = d
}

// DriverOf returns the driver of a URL. The error names the schemes that are known.
func DriverOf(u *url.URL) (Driver, error) {
	driversMu.Lock()
	defer driversMu.Unlock()
	if d := drivers[u.Scheme]; d != nil {
		return d, nil
	}
	known := slices.Sorted(maps.Keys(drivers))
	if len(known) == 0 {
		return nil, errors.New("no driver of streams is imported: import source/kafka, source/nats or source/postgres")
	}
	return nil, fmt.Errorf("no stream has the scheme %.20q: want %s", u.Scheme, strings.Join(known, ":// or ")+"://")
}

// ParseURL parses the address of a stream and checks it with its driver. A URL with a password is refused.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" && !u.Query().Has("host") { // a socket
		return nil, errors.New("it is no URL such as kafka://broker1:9092,broker2:9092/topic, nats://host:4222/stream or postgres://user@host/database?table=name")
	}
	if _, has := u.User.Password(); has {
		return nil, errors.New("the URL has a password, which would be stored: leave it out, and name an environment variable of the servers with it")
	}
	d, err := DriverOf(u)
	if err != nil {
		return nil, err
	}
	return u, d.Check(u)
}
