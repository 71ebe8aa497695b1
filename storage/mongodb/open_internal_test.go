// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"errors"
	"strings"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/secret"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		uri         string
		wrong       error
		name, shown string
	}{
		{"mongodb://h/db", nil, "db", "mongodb://h/db"},
		{"mongodb://h", nil, "locus", "mongodb://h"},
		{"mongodb://h/?tls=true", nil, "locus", "mongodb://h"},
		{"mongodb://a:1,b:2,c/db?replicaSet=rs0", nil, "db", "mongodb://a:1,b:2,c/db"},
		{"mongodb://[::1]:1,[::2]:2/x", nil, "x", "mongodb://[::1]:1,[::2]:2/x"},
		{"mongodb://u:canary@h/db", nil, "db", "mongodb://u@h/db"},
		{"mongodb://u%40x:can%2Fary@h/db?authSource=admin", nil, "db", "mongodb://u%40x@h/db"},
		{"mongodb://h/db?w=majority&journal=true", nil, "db", "mongodb://h/db"},
		{"mongodb://h/db?w=1", cell.ErrPreflight, "", ""},
		{"mongodb://h/db?w=0", cell.ErrPreflight, "", ""},
		{"mongodb://u:canary@h/db?w=2", cell.ErrPreflight, "", ""},
		{"mongodb://h/db?w=tagged", cell.ErrPreflight, "", ""},
		{"mongodb://h/db?journal=false", cell.ErrPreflight, "", ""},
		{"mongodb://h/db?retryWrites=false", cell.ErrPreflight, "", ""},
		{"postgres://u:canary@h/db", ErrURI, "", ""},
		{"h/db", ErrURI, "", ""},
		{"", ErrURI, "", ""},
		{"mongodb://u:ca/nary@h/db", ErrURI, "", ""},
		{"mongodb://u:canary@h:port/db", ErrURI, "", ""},
		{"mongodb://u:canary@h:99999/db", ErrURI, "", ""},
		{"mongodb://u:canary@[::1/db", ErrURI, "", ""},
		{"mongodb://u:canary@h/a.b", ErrURI, "", ""},
		{"mongodb://u:canary@h/a b", ErrURI, "", ""},
		{"mongodb://u:canary@h/a%20b", ErrURI, "", ""},
		{"mongodb://u:canary@h/a\x01", ErrURI, "", ""},
		{"mongodb://u:canary@h/a\xff", ErrURI, "", ""},
		{"mongodb://u:canary@h/" + strings.Repeat("a", 64), ErrURI, "", ""},
		{"mongodb://u:canary@/db", ErrURI, "", ""},
		{"mongodb://u:canary%zz@h/db", ErrURI, "", ""},
		{"mongodb://u:canary@h/db?w=majority&w=x;%zz", ErrURI, "", ""},
	} {
		_, name, shown, err := parse(tc.uri, Options{})
		if !errors.Is(err, tc.wrong) || err != nil && tc.wrong == nil {
			t.Errorf("%s: %v, want %v", tc.uri, err, tc.wrong)
			continue
		}
		if err != nil {
			if text := err.Error(); strings.Contains(text, "canary") || strings.Contains(text, "nary@") {
				t.Errorf("%s: the error shows the password: %s", tc.uri, text)
			}
			continue
		}
		if name != tc.name || shown != tc.shown {
			t.Errorf("%s: database %s, shown as %s", tc.uri, name, shown)
		}
	}
}

// TestParse_WhatIsWrittenIsKept: no URI weakens durability.
func TestParse_WhatIsWrittenIsKept(t *testing.T) {
	t.Parallel()
	client, _, _, err := parse("mongodb://h/db?readPreference=secondary&readConcernLevel=local&timeoutMS=1234", Options{Password: secret.New("p")})
	if err != nil {
		t.Fatal(err)
	}
	if w := client.WriteConcern; w.W != "majority" || w.Journal == nil || !*w.Journal {
		t.Errorf("write concern %+v", w)
	}
	if client.ReadConcern.Level != "majority" || client.ReadPreference.Mode().String() != "primary" {
		t.Errorf("read concern %+v, preference %v", client.ReadConcern, client.ReadPreference)
	}
	if client.Timeout == nil || client.Timeout.Milliseconds() != 1234 {
		t.Errorf("timeout %v", client.Timeout)
	}
}

// TestParse_TLS: connections to other machines are encrypted and verified.
func TestParse_TLS(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]struct{ tls, safe bool }{
		"mongodb://localhost/db":                          {false, true},
		"mongodb://127.0.0.1:27017,[::1]:2/db":            {false, true},
		"mongodb://%2Ftmp%2Fmongodb-27017.sock/db":        {false, true},
		"mongodb://localhost/db?tls=true":                 {true, true},
		"mongodb://db1/db":                                {true, true},
		"mongodb://db1:27017,127.0.0.1/db?replicaSet=rs0": {true, true},
		"mongodb://192.0.2.1/db":                          {true, true},
		"mongodb://localhost.example.com/db":              {true, true},
		"mongodb://db1/db?tls=true":                       {true, true},
		"mongodb://db1/db?tls=false":                      {false, false},
		"mongodb://db1/db?replicaSet=rs0&SSL=false":       {false, false},
		"mongodb://db1/db?tls=true&tlsInsecure=true":      {true, false},
	} {
		client, _, _, err := parse(uri, Options{})
		if (err == nil) != want.safe || err != nil && !errors.Is(err, cell.ErrPreflight) {
			t.Errorf("%s: %v", uri, err)
		}
		if err != nil {
			if client, _, _, err = parse(uri, Options{UnsafeDurability: true}); err != nil {
				t.Errorf("%s, unsafe: %v", uri, err)
				continue
			}
		}
		if (client.TLSConfig != nil) != want.tls {
			t.Errorf("%s: TLS %v", uri, client.TLSConfig != nil)
		}
	}
}

func TestParse_Password(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{"mongodb://u@h/db": "given", "mongodb://u:own@h/db": "own"} {
		client, _, _, err := parse(uri, Options{Password: secret.New("given")})
		if err != nil || client.Auth == nil || client.Auth.Password != want || client.Auth.Username != "u" {
			t.Errorf("%s: %+v, %v", uri, client.Auth, err)
		}
	}
	if client, _, _, err := parse("mongodb://h/db", Options{Password: secret.New("given")}); err != nil || client.Auth != nil {
		t.Errorf("without a user: %+v, %v", client.Auth, err)
	}
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		server Server
		ok     bool
		text   string
	}{
		{Server{Topology: ReplicaSet, Set: "rs0", Version: "8.0.1"}, true, "MongoDB 8.0.1, replica set rs0"},
		{Server{Topology: Sharded, Version: "8.0.1"}, true, "MongoDB 8.0.1, sharded cluster"},
		{Server{Topology: Standalone, Version: "8.0.1"}, false, "MongoDB 8.0.1, standalone"},
		{Server{Topology: ReplicaSet, Set: "rs0", Version: "7.0", StandIn: "FerretDB"}, false, "FerretDB 7.0, replica set rs0"},
	} {
		err := tc.server.preflight()
		if (err == nil) != tc.ok || err != nil && !errors.Is(err, cell.ErrPreflight) {
			t.Errorf("%s: %v", tc.server, err)
		}
		if tc.server.String() != tc.text {
			t.Errorf("%s, want %s", tc.server, tc.text)
		}
	}
}
