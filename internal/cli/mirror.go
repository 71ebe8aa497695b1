// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/mirror"
	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/storage/mongodb"
)

func (a *app) mirrorCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "mirror",
		Short: "Maintain a copy of all entities in another database",
		Example: "  locus mirror mongodb --url http://127.0.0.1:7070 --uri mongodb://db1,db2/places --collection entities\n" +
			"  locus mirror mongodb --url http://127.0.0.1:7070 --uri mongodb://db1,db2/places --status",
	}
	c.AddCommand(a.mirrorMongoDB())
	return c
}

// mirrorTimeout limits one operation on the target. It is generous because nothing waits for the operation, and after a
// timeout it must be repeated.
const mirrorTimeout = time.Minute

// mirroring holds the flags of a mirror.
type mirroring struct {
	*app
	uri, collection      string
	once, verify, repair bool
	status               bool
	patience             time.Duration

	source *source
	target mirror.Target
	place  string // description of the target
}

func (a *app) mirrorMongoDB() *cobra.Command {
	m := &mirroring{app: a}
	c := &cobra.Command{
		Use:   "mongodb --uri URI",
		Short: "Mirror every entity, redirect and tombstone into a MongoDB collection",
		Long: "Writes a document per id ever allocated: an entity with its merged view, the target of a former id, or a tombstone.\n" +
			"The first run writes all ids; then the command follows the change logs until Ctrl-C. Its progress is stored beside\n" +
			"the collection, in NAME.mirror, so it continues after any interruption. Two instances may run at once.\n" +
			"The collection may be sharded by _id; this command never shards it.",
		Example: "  locus mirror mongodb --url http://127.0.0.1:7070 --uri mongodb://db1,db2/places --collection entities\n" +
			"  locus mirror mongodb --url http://127.0.0.1:7070 --uri mongodb://db1,db2/places --verify",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := m.check(); err != nil {
				return err
			}
			return m.run(c)
		},
	}
	c.Flags().Var((*mongoFlag)(&m.uri), "uri",
		"database of the mirror, such as mongodb://db1,db2/places; the password is read from LOCUS_MONGODB_PASSWORD")
	c.Flags().StringVar(&m.collection, "collection", "entities", "NAME of the collection, or DATABASE.NAME")
	c.Flags().BoolVar(&m.once, "once", false, "exit once everything that exists now is mirrored")
	c.Flags().BoolVar(&m.verify, "verify", false,
		"compare every document with what it should be, while reads and writes continue; the exit code is 1 if any differs")
	c.Flags().BoolVar(&m.repair, "repair", false, "with --verify: rewrite documents that differ")
	c.Flags().DurationVar(&m.patience, "patience", 10*time.Second,
		"with --verify: how long to wait for a mirror that is behind before reporting a difference")
	c.Flags().BoolVar(&m.status, "status", false, "show the progress of the mirror for each cell")
	a.connection(c)
	c.Flags().Lookup("unsafe-durability").Hidden = false
	for flag, name := range map[string]string{"uri": "LOCUS_MIRROR_URI", "collection": "LOCUS_MIRROR_COLLECTION"} {
		c.Flags().Lookup(flag).Annotations = map[string][]string{variableOf: {name}}
	}
	return c
}

// check rejects flags that do not go together.
func (m *mirroring) check() error {
	several := 0
	for _, given := range []bool{m.once, m.verify, m.status} {
		if given {
			several++
		}
	}
	database, name := m.names()
	switch {
	case m.uri == "":
		return usage("--uri mongodb://HOST/DATABASE", "locus mirror mongodb: --uri is missing: the database of the mirror")
	case several > 1:
		return usage("give one of them", "locus mirror mongodb: --once, --verify and --status exclude each other")
	case m.repair && !m.verify:
		return usage("--verify --repair", "--repair needs --verify")
	case m.patience <= 0:
		return usage("--patience 10s", "--patience %v: want a positive duration", m.patience)
	case name == "" || strings.ContainsAny(name, "$\x00") || strings.HasPrefix(name, "system.") || strings.ContainsAny(database, "$\x00 /\\\""):
		return usage("--collection entities, or --collection places.entities", "--collection %.80q is not a collection name",
			m.collection)
	}
	return nil
}

// names returns the database and the collection; the URI may contain the database.
func (m *mirroring) names() (database, collection string) {
	if database, collection, found := strings.Cut(m.collection, "."); found {
		return database, collection
	}
	return "", m.collection
}

func (m *mirroring) run(c *cobra.Command) (err error) {
	ctx := c.Context()
	cl, err := m.connect(c, reads)
	if err != nil {
		return err
	}
	defer cl.close()
	m.source = &source{cl}
	d, err := mongodb.Open(ctx, m.uri, &mongodb.Options{
		Password: secret.New(m.env["LOCUS_MONGODB_PASSWORD"]), UnsafeDurability: m.unsafe, Timeout: mirrorTimeout,
	})
	if err != nil {
		return err
	}
	defer d.Close(context.WithoutCancel(ctx))
	database, name := m.names()
	m.target, m.place = d.Mirror(database, name), d.String()+", collection "+m.collection
	switch {
	case m.status:
		return m.showStatus(ctx)
	case m.verify:
		return m.compare(ctx)
	default:
		return m.follow(ctx)
	}
}
