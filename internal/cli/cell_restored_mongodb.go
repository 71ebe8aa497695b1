// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/mongodb"
)

// newerMongo matches where NEW begins in OLD=NEW.
var newerMongo = regexp.MustCompile(`=mongodb(?:\+srv)?://`)

// mongoPairFlag is --mongodb for a command that takes OLD=NEW.
type mongoPairFlag string

// Set implements pflag.Value.
func (f *mongoPairFlag) Set(text string) error {
	uris := []string{text}
	if at := newerMongo.FindStringIndex(text); at != nil {
		uris = []string{text[:at[0]], text[at[0]+1:]}
	}
	for _, uri := range uris {
		var one mongoFlag
		if err := one.Set(uri); err != nil {
			return err
		}
	}
	*f = mongoPairFlag(text)
	return nil
}

// Type implements pflag.Value.
func (f *mongoPairFlag) Type() string { return "OLD=NEW" }

// String implements pflag.Value.
func (f *mongoPairFlag) String() string { return string(*f) }

// copiedDocuments returns OLD and NEW of --mongodb, nil if it was not given. LOCUS_MONGODB names the database of a
// running installation and is not taken for a copy.
func (a *app) copiedDocuments(c *cobra.Command, elsewhere bool) (*[2]string, error) {
	at := newerMongo.FindStringIndex(a.mongodb)
	switch {
	case at != nil:
		return &[2]string{a.mongodb[:at[0]], a.mongodb[at[0]+1:]}, nil
	case elsewhere && c.Flags().Changed("mongodb"):
		return nil, usage("--mongodb OLD=NEW", "--mongodb needs OLD=NEW: the database of the original and its copy")
	}
	return nil, nil
}

// shownMongo returns a URI without its secrets.
func shownMongo(uri string) string {
	shown, _, _ := mongodb.ShownURI(uri)
	return term.Escape(shown)
}

// handOver assigns the copy of a document database to the installation, which already has its new id.
func (a *app) handOver(ctx context.Context, cells *storage.Cells, w where, pair *[2]string) (err error) {
	identity, err := engine.DocumentsOf(ctx, cells)
	switch {
	case err != nil:
		return err
	case pair == nil && identity != "":
		a.say("its MongoDB database, %s, is not touched; a copy of the installation needs its own copy: --mongodb OLD=NEW",
			identity)
		return nil
	case pair == nil:
		return nil
	case identity == "":
		return usage("leave --mongodb out", "the installation has no MongoDB database")
	}
	open := func(uri string) (*mongodb.Database, error) {
		return mongodb.Open(ctx, uri, &mongodb.Options{Password: w.password, UnsafeDurability: w.unsafe})
	}
	to, err := open(pair[1])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close(context.WithoutCancel(ctx))) }()
	from, err := open(pair[0])
	switch {
	case err != nil && !errors.Is(err, cell.ErrUnavailable):
		return err
	case err != nil:
		a.say("%s is unavailable, so the copy is not compared with it", shownMongo(pair[0]))
		from = nil
	default:
		defer func() { err = errors.Join(err, from.Close(context.WithoutCancel(ctx))) }()
	}
	return to.HandOver(ctx, from, identity, cells.Map().Spec().ID)
}
