// SPDX-License-Identifier: Apache-2.0

// Package natsurl connects to the server of NATS JetStream that a URL names, for the drivers of sources and sinks:
//
//	nats://[USER@]HOST:4222[,HOST:4222]/STREAM[?subject=SUBJECT][&tls=true]
//
// The secret of the source or sink is the password of the user, or a token without one.
package natsurl

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/locus-db/locus/secret"
)

// Patience limits how long connecting and requests take.
const Patience = 10 * time.Second

// Stream returns the name of the stream of a URL.
func Stream(u *url.URL) string { return strings.TrimPrefix(u.Path, "/") }

// Check returns why a URL names no stream.
func Check(u *url.URL) error {
	if name := Stream(u); name == "" || strings.ContainsAny(name, "/ .*>") {
		return errors.New("want nats://host:4222/STREAM with the name of a stream of JetStream")
	}
	for option, values := range u.Query() {
		switch {
		case option == "subject":
		case option == "tls" && slices.Contains([]string{"true", "false"}, values[0]):
		default:
			return fmt.Errorf("the option %.40q of a nats URL is not known: want subject=SUBJECT, tls=true", option)
		}
	}
	return nil
}

// Connect connects to a server of a checked URL. name is that of the source or sink.
func Connect(u *url.URL, name string, password secret.Text) (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name("locus-" + name), nats.Timeout(Patience), nats.MaxReconnects(-1),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // the default one prints; see Lost
	}
	switch user := u.User.Username(); {
	case user != "":
		options = append(options, nats.UserInfo(user, password.Reveal()))
	case !password.Empty():
		options = append(options, nats.Token(password.Reveal()))
	}
	if u.Query().Get("tls") == "true" {
		options = append(options, nats.Secure(&tls.Config{MinVersion: tls.VersionTLS12}))
	}
	servers := make([]string, 0, 1)
	for host := range strings.SplitSeq(u.Host, ",") {
		servers = append(servers, "nats://"+host)
	}
	conn, err := nats.Connect(strings.Join(servers, ","), options...)
	if errors.Is(err, nats.ErrNoServers) { // the error that the client turns it into
		return nil, fmt.Errorf("connect to %s: connection refused", u.Host)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", u.Host, err)
	}
	return conn, nil
}

// Lost returns why a connection is lost, nil if it is not. It is made again in the background; until then requests only
// run out of time.
func Lost(conn *nats.Conn) error {
	if conn.IsConnected() {
		return nil
	}
	if err := conn.LastError(); err != nil {
		return fmt.Errorf("the server does not answer: %w", err)
	}
	return errors.New("the server does not answer")
}
