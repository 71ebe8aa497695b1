// SPDX-License-Identifier: Apache-2.0

package kafkatopic

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/locus-db/locus/secret"
)

// Patience limits how long one request takes, with its retries.
const Patience = 10 * time.Second

// Topic returns the name of the topic of a URL.
func Topic(u *url.URL) string { return strings.TrimPrefix(u.Path, "/") }

// Check returns why a URL names no topic.
func Check(u *url.URL) error {
	if topic := Topic(u); topic == "" || strings.Contains(topic, "/") {
		return errors.New("want kafka://broker1:9092,broker2:9092/TOPIC")
	}
	for option, values := range u.Query() {
		switch {
		case option == "tls" && slices.Contains([]string{"true", "false"}, values[0]):
		case option == "sasl" && slices.Contains([]string{"plain", "scram-sha-256", "scram-sha-512"}, values[0]):
		default:
			return fmt.Errorf("the option %.40q of a kafka URL is not known: want tls=true, sasl=plain, sasl=scram-sha-256 or sasl=scram-sha-512", option)
		}
	}
	if u.Query().Has("sasl") != (u.User.Username() != "") {
		return errors.New("a user and sasl=plain, scram-sha-256 or scram-sha-512 go together: kafka://USER@broker1:9092/TOPIC?sasl=plain")
	}
	return nil
}

// Options returns the options of a client of the brokers of a checked URL.
func Options(u *url.URL, password secret.Text) []kgo.Opt {
	opts := []kgo.Opt{kgo.SeedBrokers(seeds(u.Host)...), kgo.ClientID("locus"), kgo.RetryTimeout(Patience)}
	if u.Query().Get("tls") == "true" {
		opts = append(opts, kgo.DialTLSConfig(&tls.Config{MinVersion: tls.VersionTLS12}))
	}
	if user := u.User.Username(); user != "" {
		a := &auth{Mechanism: mechanism(u.Query().Get("sasl"), user, password.Reveal())}
		opts = append(opts, kgo.SASL(a), kgo.WithHooks(a))
	}
	return opts
}

// seeds adds the usual port where there is none.
func seeds(hosts string) (all []string) {
	for host := range strings.SplitSeq(hosts, ",") {
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), "9092")
		}
		all = append(all, host)
	}
	return all
}

func mechanism(name, user, password string) sasl.Mechanism {
	switch name {
	case "scram-sha-256":
		return scram.Auth{User: user, Pass: password}.AsSha256Mechanism()
	case "scram-sha-512":
		return scram.Auth{User: user, Pass: password}.AsSha512Mechanism()
	}
	return plain.Auth{User: user, Pass: password}.AsMechanism()
}
