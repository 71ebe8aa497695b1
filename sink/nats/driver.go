// SPDX-License-Identifier: Apache-2.0

package nats

import (
	"context"
	"fmt"
	"net/url"
	"regexp"

	"github.com/locus-db/locus/internal/natsurl"
	"github.com/locus-db/locus/sink"
)

func init() { sink.Register(driver, "nats") }

const (
	// lanes is the number of batches in flight, and batchSize a good size for them; the events of a batch are published
	// concurrently.
	lanes     = 4
	batchSize = 64
)

// driver delivers to streams of JetStream.
var driver = sink.Driver{
	Check: check,
	Open: func(ctx context.Context, s sink.Spec) (sink.Sink, error) {
		return Open(ctx, s.URL, Options{Name: s.Name, Secret: s.Secret})
	},
	Read: func(ctx context.Context, s sink.Spec) (sink.Reader, error) {
		return Open(ctx, s.URL, Options{Name: s.Name, Secret: s.Secret})
	},
	Changes: func(ctx context.Context, s sink.Spec) (sink.ChangeSink, error) {
		return Open(ctx, s.URL, Options{Name: s.Name, Secret: s.Secret, History: true})
	},
	Lanes: lanes, Batch: batchSize,
}

// subjectForm is the form of a subject prefix: no wildcards, and no subject that the server uses itself.
var subjectForm = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

// check returns why a URL cannot be a target.
func check(u *url.URL) error {
	if err := natsurl.Check(u); err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	if p := prefix(u); len(u.Query()["subject"]) > 1 || !subjectForm.MatchString(p) || len(p) > 200 {
		return fmt.Errorf("nats: the prefix of the subjects is %.60q: want one of words of letters, digits, - and _ with dots between them, as in subject=crm.golden", p)
	}
	return nil
}

// prefix returns the prefix of the subjects of a URL.
func prefix(u *url.URL) string {
	if u.Query().Has("subject") {
		return u.Query().Get("subject")
	}
	return natsurl.Stream(u)
}
