// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/storage/mongodb"
)

const defaultData = "./locus-data"

// connection adds the flags that locate the data.
func (a *app) connection(c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&a.url, "url", "", "URL of a server, such as http://127.0.0.1:7070")
	c.Flags().StringVar(&a.tokenFile, "token-file", "",
		"file with the token for the server; or set LOCUS_TOKEN to the token")
	variables(c.Flags(), "url", "token-file")
	a.installation(c)
	return c
}

// installation adds the flags for data that this command opens itself.
func (a *app) installation(c *cobra.Command) {
	c.Flags().StringVar(&a.data, "data", defaultData, "data directory, opened directly unless --url is given")
	a.noticeFlag(c)
	c.Flags().Var((*mongoFlag)(&a.mongodb), "mongodb",
		"MongoDB database with counters and groups of rollups, such as mongodb://db1,db2/locus")
	c.Flags().BoolVar(&a.unsafe, "unsafe-durability", false,
		"accept a database whose settings may lose acknowledged writes")
	_ = c.Flags().MarkHidden("unsafe-durability")
	if c.Flags().Lookup("map") == nil {
		c.Flags().Var(&mapFlag{urls: &a.cellMap}, "map", "databases of a shared installation, separated by commas, such as postgres://db1/locus; the one with the cell map first")
	}
	c.Flags().StringVar(&a.config, "config", "", "configuration file; locus config example writes one")
	variables(c.Flags(), "data", "mongodb", "unsafe-durability", "map", "config")
}

// noticeFlag adds --notice. Most commands hide it because few users need it.
func (a *app) noticeFlag(c *cobra.Command) {
	c.Flags().DurationVar(&a.notice, "notice", 0,
		"how long a generation of cells is announced before its start; 0 means 1m")
	_ = c.Flags().MarkHidden("notice")
	variables(c.Flags(), "notice")
}

// shared are the URL prefixes of shared installations.
var shared = []string{"postgres://", "postgresql://"}

// isShared reports whether a text is the URL of a shared installation.
func isShared(text string) bool {
	for _, prefix := range shared {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}

// mapFlag is --map: the URLs of a shared installation.
type mapFlag struct{ urls *string }

// Set implements pflag.Value.
func (f *mapFlag) Set(text string) error {
	if err := checkShared(text); err != nil {
		return err
	}
	if *f.urls != "" {
		text = *f.urls + "," + text
	}
	*f.urls = text
	return nil
}

// Type implements pflag.Value.
func (f *mapFlag) Type() string { return "URL" }

// String implements pflag.Value.
func (f *mapFlag) String() string {
	if f.urls == nil || *f.urls == "" {
		return ""
	}
	return redactAll(*f.urls)
}

// mapError describes a fault of --map. It never contains the URL, which may contain a password.
type mapError string

func (e mapError) Error() string { return string(e) }

const (
	errMapScheme   = mapError("want postgres://HOST/NAME, or several of them with commas; a directory is --data DIR")
	errMapPassword = mapError("it contains a password, which would be visible in the process list and in the cell map: use PGPASSWORD or a password file (PGPASSFILE)")
)

// checkShared validates the URLs of a shared installation without connecting.
func checkShared(text string) error {
	for _, one := range splitURLs(text) {
		if !isShared(one) {
			return errMapScheme
		}
		_, secret, err := cell.ParseURL(one)
		switch {
		case err != nil:
			return errMapScheme
		case secret:
			return errMapPassword
		}
	}
	return nil
}

func redactAll(urls string) string {
	shown := splitURLs(urls)
	for i := range shown {
		shown[i] = cell.Redact(shown[i])
	}
	return strings.Join(shown, ",")
}

// where is the target of a command: a server, or an installation it opens itself.
type where struct {
	server string // its address
	place  string // a directory, or the URLs of a shared installation
	shared bool   // place is the latter
	notice time.Duration

	mongodb  string      // document database, "" if not given
	password secret.Text // of its user
	unsafe   bool        // accept databases configured without durability
}

// String describes the target for humans.
func (w where) String() string {
	switch {
	case w.server != "":
		return w.server
	case w.shared:
		return "map " + redactAll(w.place)
	default:
		return "data " + w.place
	}
}

// locate determines the target: the command line takes precedence, then a server, then the environment, then
// the configuration file, then the current context, then the default directory.
func (a *app) locate(c *cobra.Command) (where, error) {
	flags := c.Flags()
	mapped := a.cellMap
	given := []string{}
	for _, name := range []string{"url", "data", "map"} {
		if flags.Changed(name) && (name != "map" || a.cellMap != "") {
			given = append(given, "--"+name)
		}
	}
	switch {
	case a.notice < 0:
		return where{}, usage("leave it out", "--notice %v: it cannot be below 0", a.notice)
	case len(given) > 1:
		return where{}, usage("give one of them",
			"%s: give only one: --url is for a server, --data for a directory, --map for a shared installation",
			strings.Join(given, " and "))
	case len(given) == 0 && a.url != "" || flags.Changed("url"):
		return where{server: a.url}, nil
	case len(given) == 0 && mapped != "" && a.env["LOCUS_DATA"] != "":
		return where{}, usage("unset one of them, or give --data or --map",
			"the variables LOCUS_DATA and LOCUS_MAP are both set")
	case mapped != "" && !flags.Changed("data"):
		return a.opened(where{place: mapped, shared: true}), nil
	case isShared(a.data):
		return where{}, usage("--map URL", "--data takes a directory, not the URL of a shared installation")
	case len(given) == 0 && flags.Lookup("url") != nil && origin(flags.Lookup("data")) == byDefault:
		list, err := a.contexts()
		if err != nil {
			return where{}, err
		}
		if c := list.find(list.Current); c != nil {
			return where{server: c.URL}, nil
		}
	}
	return a.opened(where{place: a.data}), nil
}

// opened adds the options for an installation that this command opens itself.
func (a *app) opened(w where) where {
	w.notice, w.mongodb, w.password, w.unsafe = a.notice, a.mongodb, secret.New(a.env["LOCUS_MONGODB_PASSWORD"]), a.unsafe
	return w
}

// mongoFlag is --mongodb: the URI of a document database.
type mongoFlag string

// mongoError describes a fault of --mongodb. It never contains the URI, which may contain a password.
type mongoError string

func (e mongoError) Error() string { return string(e) }

const (
	errMongoScheme   = mongoError("want mongodb://HOST/NAME or mongodb+srv://HOST/NAME")
	errMongoPassword = mongoError("it contains a password, which would be visible in the process list: use LOCUS_MONGODB_PASSWORD")
)

// Set implements pflag.Value.
func (f *mongoFlag) Set(text string) error {
	_, secret, err := mongodb.ShownURI(text)
	switch {
	case err != nil:
		return errMongoScheme
	case secret:
		return errMongoPassword
	}
	*f = mongoFlag(text)
	return nil
}

// Type implements pflag.Value.
func (f *mongoFlag) Type() string { return "URI" }

// String implements pflag.Value.
func (f *mongoFlag) String() string { return string(*f) }
