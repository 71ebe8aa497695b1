// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/locus-db/locus/internal/outbound"
	"github.com/locus-db/locus/internal/span"
	"github.com/locus-db/locus/sink"
)

// Options of Open. Name is required.
type Options struct {
	// Name of the sink; it begins the IDs of the requests.
	Name string
	// Secrets sign the requests, two during a rotation. If there are none, requests are not signed.
	Secrets []Secret
	// Now is the clock of the timestamps. Defaults to time.Now.
	Now func() time.Time
	// TLS configures the connections. Defaults to the system's certificate authorities.
	TLS *tls.Config
}

const (
	// patience is how long an attempt may take.
	patience = 15 * time.Second
	// lanes is the number of requests on their way at once.
	lanes = 16
	// excerpt is how much of an answer an error quotes.
	excerpt = 200
)

// Sink is the sink of a URL. It stores no positions.
type Sink struct {
	url    string
	opts   Options
	client *http.Client
}

var (
	_ sink.Sink       = (*Sink)(nil)
	_ sink.ChangeSink = (*Sink)(nil)
)

// Open returns the sink of a URL. Nothing is requested yet.
func Open(to string, opts Options) (*Sink, error) {
	u, err := outbound.Check(to)
	if err != nil {
		return nil, fmt.Errorf("webhook: %w", err)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Sink{url: to, opts: opts, client: outbound.Client(u, patience, opts.TLS)}, nil
}

// Position implements sink.Sink: there are none.
func (s *Sink) Position(context.Context) (sink.Position, error) {
	return sink.Position{}, sink.ErrNoPosition
}

// Close implements sink.Sink.
func (s *Sink) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

// Deliver implements sink.Sink: it posts the events of a batch in order, up to the first that has to be tried again.
func (s *Sink) Deliver(ctx context.Context, b sink.Batch) error {
	var rejected []sink.Rejected
	for i := range b.Events {
		e := &b.Events[i]
		reason, err := s.post(ctx, e.ID.String()+"."+strconv.FormatInt(e.Rev, 10), e)
		if err != nil {
			return err
		}
		if reason != "" {
			rejected = append(rejected, sink.Rejected{ID: e.ID, Reason: reason})
		}
	}
	if rejected != nil {
		return &sink.RejectedError{Events: rejected}
	}
	return nil
}

// DeliverChanges implements sink.ChangeSink: it posts the changes one after the other.
func (s *Sink) DeliverChanges(ctx context.Context, changes []sink.Change) (delivered int, err error) {
	for i := range changes {
		c := &changes[i]
		place := c.Cell.String() + "." + strconv.FormatInt(int64(c.Seq), 10)
		rejected, err := s.post(ctx, place, c)
		if rejected != "" {
			err = fmt.Errorf("%w: change %s: %s", sink.ErrStop, place, rejected)
		}
		if err != nil {
			return i, err
		}
	}
	return len(changes), nil
}

// post posts an event or a change under an ID. It returns why the receiver rejects it, "" if it does not.
func (s *Sink) post(ctx context.Context, id string, what any) (rejected string, err error) {
	body, err := json.Marshal(what)
	if err != nil {
		return err.Error(), nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	id = s.opts.Name + "." + id
	now := s.opts.Now().Unix()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "locus")
	req.Header.Set("webhook-id", id)
	req.Header.Set("webhook-timestamp", strconv.FormatInt(now, 10))
	signatures := make([]string, len(s.opts.Secrets))
	for i, secret := range s.opts.Secrets {
		signatures[i] = secret.Sign(id, now, body)
	}
	if len(signatures) > 0 {
		req.Header.Set("webhook-signature", strings.Join(signatures, " "))
	}
	if parent, state := span.Of(ctx).Header(); parent != "" {
		req.Header.Set("traceparent", parent)
		if state != "" {
			req.Header.Set("tracestate", state)
		}
	}
	resp, err := s.client.Do(req)
	if err != nil {
		var of *url.Error
		if errors.As(err, &of) {
			err = of.Err // without the URL, whose query may be a secret
		}
		if errors.Is(err, outbound.ErrElsewhere) {
			err = fmt.Errorf("%w: %w", sink.ErrStop, err)
		}
		return "", fmt.Errorf("post to %s: %w", req.URL.Host, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode/100 == 2 {
		_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection is used again
		return "", nil
	}
	return judge(resp)
}

// judge returns the consequence of a status that is not 2xx.
func judge(resp *http.Response) (rejected string, err error) {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, excerpt))
	said := fmt.Sprintf("the receiver returned %s", resp.Status)
	if line := strings.Join(strings.Fields(strings.ToValidUTF8(string(text), "?")), " "); line != "" {
		said += ": " + line
	}
	switch code := resp.StatusCode; {
	case code == http.StatusGone:
		return "", fmt.Errorf("%w: %s", sink.ErrStop, said)
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests, code >= 500:
		return "", errors.New(said)
	case code/100 == 3:
		return said + ", and redirects are not followed: give the sink the new URL", nil
	}
	return said, nil
}
