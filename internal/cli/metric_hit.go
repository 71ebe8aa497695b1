// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

// hitting holds the flags of counting.
type hitting struct {
	at, key, value, format string
	files                  []string
}

func (a *app) metricHit() *cobra.Command {
	var o hitting
	c := &cobra.Command{
		Use:   "hit NAME [N] | --file FILE",
		Short: "Count hits of one metric, or of all rows of CSV or JSONL files",
		Long: "Returns when the hits are durable. Each request has an idempotency key, so it counts once even if it is sent again\n" +
			"after a lost response. With --key and --at, repeating the command within seven days counts once.\n\n" +
			"With --file, the rows have the columns metric, at, and n, or value for the reading of a gauge. A repeated file counts\n" +
			"once. Put new hits into a new file; do not append to a counted one. Refused rows are written to FILE.rejected.jsonl.",
		Example: "  locus metric hit 'page /about' 3\n" +
			"  locus metric hit --file hits.csv.gz",
		Args: func(c *cobra.Command, args []string) error { return o.check(c, args) },
		RunE: func(c *cobra.Command, args []string) error {
			body := []byte(nil)
			if len(o.files) == 0 {
				var err error
				if body, err = o.body(args); err != nil {
					return err
				}
			}
			cl, err := a.connect(c, makes)
			if err != nil {
				return err
			}
			defer cl.close()
			if len(o.files) > 0 {
				return a.hitFiles(c.Context(), cl, &o)
			}
			return a.hitOne(c.Context(), cl, &o, body)
		},
	}
	f := c.Flags()
	f.StringVar(&o.at, "at", "", "time of the hit, such as 2026-11-20T12:00:00Z, at most seven days ago; now by default")
	f.StringVar(&o.value, "value", "", "reading of a gauge, instead of N")
	f.StringVar(&o.key, "key", "", "idempotency key: repeated commands with this key count once; needs --at. With --file, identifies the file instead of its content")
	f.StringArrayVar(&o.files, "file", nil,
		"count the rows of this file, plain, gzip or zstd; - is standard input; may be repeated")
	f.StringVar(&o.format, "format", "", "format of a file, csv or jsonl; recognised by default")
	return a.connection(c)
}

// placeOfKey is how many bytes the number of a batch takes after the key of a file.
const placeOfKey = 12

func (o *hitting) check(c *cobra.Command, args []string) error {
	file := len(o.files) > 0
	switch {
	case file && (len(args) > 0 || o.at != "" || o.value != ""):
		return usage("leave them out", "%s: with --file the metric, the time and the number come from the rows",
			c.CommandPath())
	case !file && len(args) == 0:
		return arguments("NAME")(c, args)
	case len(args) > 2:
		return arguments("NAME", "N")(c, args)
	case o.value != "" && len(args) > 1:
		return usage("leave out one of them", "%s: N is for counters and --value for gauges; give one", c.CommandPath())
	case o.key != "" && !file && o.at == "":
		return usage("--at "+time.Now().UTC().Format(time.RFC3339), "--key needs --at")
	case o.key != "" && len(o.files) > 1:
		return usage("one file at a time", "--key is for one file, not %d", len(o.files))
	case o.key != "" && !httpapi.IsKey(o.key, counter.MaxKey-placeOfKey):
		return usage("--key 20261120-web1", "--key: want 1 to %d visible ASCII characters", counter.MaxKey-placeOfKey)
	case !file && o.format != "":
		return usage("leave it out", "--format needs --file")
	}
	return (&reading{format: o.format}).check(o.files)
}

// body returns the request for a single hit.
func (o *hitting) body(args []string) ([]byte, error) {
	if o.at == "" {
		o.at = time.Now().UTC().Format("2006-01-02T15:04:05.000Z07:00")
	}
	hit := httpapi.HitInput{Metric: args[0], At: o.at}
	text, what := "1", "N"
	switch {
	case o.value != "":
		text, what = o.value, "--value"
	case len(args) > 1:
		text = args[1]
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, usage("a whole number", "%s %.40q is not a whole number", what, text)
	}
	if hit.N = &n; o.value != "" {
		hit.N, hit.Value = nil, &n
	}
	return json.Marshal(httpapi.HitRequest{Hits: []httpapi.HitInput{hit}})
}

// hitOne counts one hit.
func (a *app) hitOne(ctx context.Context, cl *client, o *hitting, body []byte) error {
	key, given := o.key, o.key != ""
	if !given {
		key = randomKey()
	}
	answer, replayed, err := hit(ctx, ctx, cl, key, body, 1)
	if err != nil {
		return doubtful(ctx, err, given)
	}
	result := &answer.Results[0]
	if f := result.Error; f != nil {
		return doubtful(ctx, &httpapi.Problem{Fault: *f}, given)
	}
	outcome := string(result.Outcome)
	if replayed {
		outcome = replay
	}
	if a.json {
		return a.printJSON(map[string]any{"type": "result", "metric": result.Metric, "at": o.at, "outcome": outcome})
	}
	a.say("%s   %s", outcome, term.Escape(result.Metric))
	return nil
}

// replay is the outcome of hits that had already been counted.
const replay = "replayed"

// doubtful adds a hint to an error with unknown outcome: without --key, another run of the command uses another key and
// may count the hit twice.
func doubtful(ctx context.Context, err error, keyed bool) error {
	f := explainFailure(ctx, err)
	if f.Outcome == httpapi.Unknown && !keyed {
		f.Hint = "check whether it was counted: locus metric series NAME; use --key and --at to make the command safe to repeat"
	}
	return f
}

// hit sends a batch until each hit has a final result. The key prevents hits from counting twice if an answer is lost.
func hit(ctx, interrupt context.Context, cl *client, key string, body []byte,
	n int) (answer *httpapi.HitResponse, replayed bool, err error) {
	sent := 0
	stopped := persist(ctx, interrupt, func() bool {
		answer, replayed, err = cl.hits(ctx, key, body, n)
		sent++
		return repeatable(err) || err == nil && unsettled(answer)
	})
	if err == nil {
		err = stopped
	}
	// After a retry a replay may also be this command's own earlier attempt.
	return answer, replayed && sent == 1 && stopped == nil, err
}

// unsettled reports whether some hit may still be counted by a retry.
func unsettled(answer *httpapi.HitResponse) bool {
	for i := range answer.Results {
		if f := answer.Results[i].Error; f != nil && again[f.Code] {
			return true
		}
	}
	return false
}

// hits sends a batch once.
func (c *client) hits(ctx context.Context, key string, body []byte, n int) (*httpapi.HitResponse, bool, error) {
	response, err := c.send(ctx, c.http, question{method: http.MethodPost, path: "/v1/hits", body: body, key: key})
	if err != nil {
		return nil, false, err
	}
	defer response.Body.Close()
	answer := &httpapi.HitResponse{}
	if _, err := decodeAnswer(response, answer); err != nil {
		return nil, false, err
	}
	if len(answer.Results) != n {
		return nil, false, fmt.Errorf("count %d hits: the server answered for %d", n, len(answer.Results))
	}
	return answer, response.Header.Get("Idempotent-Replayed") == "true", nil
}
