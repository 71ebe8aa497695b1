// SPDX-License-Identifier: Apache-2.0

package mongotest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/storage/mongodb"
)

// Server is the server that the tests of this process run on.
type Server struct {
	// Real reports whether it is MongoDB itself, by its own account.
	Real bool
	// Durable reports whether it is MongoDB itself in a replica set or sharded cluster, so that acknowledged writes
	// survive.
	Durable bool
	// Text is a short description.
	Text string

	uri string
}

// URI returns the URI of a new database that is dropped after the test. Each call returns a different one.
func URI(t testing.TB) string {
	t.Helper()
	server := On(t)
	uri, err := named(server.uri, newName())
	if err != nil {
		t.Fatalf("LOCUS_TEST_MONGODB_URI: %v", err)
	}
	uri = patient(uri)
	t.Cleanup(func() {
		if err := dropDatabase(uri); err != nil {
			t.Errorf("drop the database of the test: %v", err)
		}
	})
	return uri
}

// On returns the server: that of LOCUS_TEST_MONGODB_URI, else, in the gate, a stand-in, which the first call starts.
// The test is skipped under -short. Without a server it is skipped, or fails under CI=1.
func On(t testing.TB) Server {
	t.Helper()
	longtest.Needs(t, "MongoDB")
	if os.Getenv("LOCUS_TEST_MONGODB_URI") == "" {
		longtest.Gate(t, "nothing; the stand-in for MongoDB takes minutes to build. LOCUS_TEST_MONGODB_URI names a server")
	}
	shared.Lock()
	defer shared.Unlock()
	if !shared.found {
		shared.found = true
		shared.server, shared.err = find()
	}
	if shared.err != nil {
		refuse(t, shared.err)
	}
	return shared.server
}

// refuse ends a test that has no server.
func refuse(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, errOffline) && os.Getenv("CI") != "1" {
		t.Skipf("no MongoDB: %v\nlet the go command reach its module proxy once, or set LOCUS_TEST_MONGODB_URI", err)
	}
	t.Fatalf("no MongoDB: %v", err)
}

// RealOnly skips a test on a stand-in; reason says why it needs MongoDB itself.
func RealOnly(t testing.TB, reason string) {
	t.Helper()
	if server := On(t); !server.Real {
		t.Skipf("left out on %s: %s", server.Text, reason)
	}
}

var shared struct {
	sync.Mutex
	found   bool
	server  Server
	err     error
	standIn *standIn
}

// find finds the server, or starts the stand-in.
func find() (Server, error) {
	uri := os.Getenv("LOCUS_TEST_MONGODB_URI")
	if uri == "" {
		if os.Getenv("LOCUS_TEST") == "mongodb" {
			return Server{}, errors.New("LOCUS_TEST=mongodb asks for a server, and LOCUS_TEST_MONGODB_URI names none")
		}
		var err error
		if shared.standIn, err = startStandIn(); err != nil {
			return Server{}, err
		}
		uri = shared.standIn.proxy.URI()
	}
	server, err := look(uri)
	if err != nil {
		return Server{}, err
	}
	fmt.Fprintln(os.Stderr, "mongotest: tests run on", server.Text)
	return server, nil
}

// look asks a server for its kind, as Locus does.
func look(uri string) (Server, error) {
	ctx := context.Background()
	d, err := mongodb.Open(ctx, uri, &mongodb.Options{UnsafeDurability: true})
	if err != nil {
		return Server{}, err
	}
	is := d.Server()
	server := Server{uri: uri, Real: is.StandIn == "", Text: is.String()}
	if server.Durable = server.Real && is.Topology != mongodb.Standalone; !server.Real {
		server.Text = "a stand-in (" + is.StandIn + ", as MongoDB " + is.Version + ")"
	}
	return server, d.Close(ctx)
}

func dropDatabase(uri string) error {
	_, _, name, _, err := split(uri)
	if err != nil {
		return err
	}
	return within(context.Background(), uri, func(ctx context.Context, client *mongo.Client) error {
		return client.Database(name).Drop(ctx)
	})
}

// Tests is implemented by testing.M, and is the argument of goleak.
type Tests interface{ Run() int }

// Main wraps tests so that the stand-in is stopped after them:
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(mongotest.Main(m)) }
//
// Without it the stand-in ends with the process.
func Main(m Tests) Tests { return withStandIn{m} }

type withStandIn struct{ tests Tests }

// Run implements Tests.
func (w withStandIn) Run() int {
	code := w.tests.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.standIn != nil {
		if err := shared.standIn.close(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the stand-in for MongoDB:", err)
			code = 1
		}
		shared.standIn = nil
	}
	return code
}
