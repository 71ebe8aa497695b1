// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/locus-db/locus/sink"
)

func init() { sink.Register(Driver, "file") }

// batchSize is a good size of batches; a sink must deliver one at a time.
const batchSize = 2000

// Driver delivers to directories below the one that the servers name.
var Driver = sink.Driver{
	Check: func(u *url.URL) error {
		_, _, err := parse(u)
		return err
	},
	Open: func(ctx context.Context, s sink.Spec) (sink.Sink, error) { return openSpec(ctx, s) },
	Read: func(ctx context.Context, s sink.Spec) (sink.Reader, error) { return openSpec(ctx, s) },
	Changes: func(ctx context.Context, s sink.Spec) (sink.ChangeSink, error) {
		dir, _, err := place(s)
		if err != nil {
			return nil, err
		}
		return OpenChanges(ctx, dir)
	},
	CheckChanges: checkChanges,
	Lanes:        1, Batch: batchSize,
}

func openSpec(ctx context.Context, s sink.Spec) (*Sink, error) {
	dir, format, err := place(s)
	if err != nil {
		return nil, err
	}
	return Open(ctx, dir, format)
}

// place returns the directory of a target.
func place(s sink.Spec) (dir string, format Format, err error) {
	name, format, err := parse(s.URL)
	if err == nil && s.Files == "" {
		err = errors.New("file: this server writes no files: start it with --sink-files DIR")
	}
	return filepath.Join(s.Files, filepath.FromSlash(name)), format, err
}

// nameForm is a relative path that stays below its directory: no part of it begins with a dot.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}(/[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}){0,4}$`)

// parse returns the directory and the format of a URL.
func parse(u *url.URL) (name string, format Format, err error) {
	q := u.Query()
	format = Format(q.Get("format"))
	switch {
	case u.Scheme != "file" || u.Host != "" || u.User != nil || !nameForm.MatchString(u.Opaque):
		return "", "", errors.New("file: want file:NAME, such as file:golden?format=parquet: a directory below that of --sink-files, of letters, digits, _, - and dots")
	case !q.Has("format"):
		format = JSONL
	case !slices.Contains([]Format{JSONL, Parquet}, format):
		return "", "", fmt.Errorf("file: the format is %.20q: want jsonl or parquet", format)
	}
	if len(q) > 1 || len(q) == 1 && !q.Has("format") || u.Fragment != "" {
		return "", "", errors.New("file: the URL has other parameters than format")
	}
	return u.Opaque, format, nil
}
