// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/locus-db/locus/cell"
)

// CheckPlace returns the fault of a place in Options.Places.
func CheckPlace(at string) error {
	u, secret, err := cell.ParseURL(at)
	switch {
	case err != nil:
		return fault(CodeInvalid, "", "it cannot be parsed: want postgres://HOST or sqlite:/DIRECTORY")
	case secret:
		return fault(CodeInvalid, "", "it contains a password: want postgres://HOST")
	case serverScheme(u.Scheme) && strings.Trim(u.Path, "/") == "", u.Scheme == "sqlite" && strings.HasPrefix(u.Path, "/"):
		return nil
	default:
		return fault(CodeInvalid, "", "%.80q is not a place: want postgres://HOST or sqlite:/DIRECTORY", cell.Redact(at))
	}
}

// mayPlace refuses a URL of a cell that a request may not name: the server would open the file, or send the credentials
// of its environment to the host. A request may name files of the data directory, servers that have cells, and
// Options.Places. Its parameters must be those of the place, because they name files and sockets too. mayPlace opens
// and connects to nothing, but resolves links.
func (s *Server) mayPlace(ctx context.Context, to, pointer string) error {
	if s.local(ctx) {
		return nil
	}
	u, _, err := cell.ParseURL(to)
	if err != nil || u.Scheme != "sqlite" && !serverScheme(u.Scheme) {
		return nil // not a URL of a cell: the check of URLs reports why
	}
	m := s.svc.Cells().Map()
	if u.Scheme == "sqlite" && u.Opaque != "" { // a path below the data directory
		return nil
	}
	parameters := false
	for _, id := range m.Cells() {
		if at, _, err := cell.ParseURL(m.URL(id)); err == nil && serverScheme(at.Scheme) && sameServer(u, at) {
			if u.RawQuery == at.RawQuery {
				return nil
			}
			parameters = true
		}
	}
	for _, place := range s.opts.Places {
		at, _, err := cell.ParseURL(place)
		if err != nil || !(serverScheme(at.Scheme) && sameServer(u, at) || at.Scheme == "sqlite" && u.Scheme == "sqlite" && below(u.Path, at.Path)) {
			continue
		}
		if u.RawQuery == at.RawQuery {
			return nil
		}
		parameters = true
	}
	if parameters {
		return fault(CodeForbidden, pointer, "the parameters of a URL that comes by HTTP must be those of its place: leave them out, or start the servers with locus serve --place URL?PARAMETERS")
	}
	return fault(CodeForbidden, pointer, "requests may not create cells there: start the servers with locus serve --place URL, or run the command with --data or --map on a machine that can reach the databases")
}

func serverScheme(scheme string) bool { return scheme == "postgres" || scheme == "postgresql" }

// sameServer reports whether two URLs name the same server and role.
func sameServer(a, b *url.URL) bool {
	return serverScheme(a.Scheme) && a.Host == b.Host && a.User.String() == b.User.String()
}

// below reports whether a path is in a directory, both literally and after resolving every link, because others may be
// allowed to write there.
func below(file, dir string) bool {
	inside := func(file, dir string) bool {
		return strings.HasPrefix(path.Clean(file), strings.TrimSuffix(path.Clean(dir), "/")+"/")
	}
	if !inside(file, dir) {
		return false
	}
	file, errFile := unlinked(filepath.FromSlash(file))
	dir, errDir := unlinked(filepath.FromSlash(dir))
	return errFile == nil && errDir == nil && inside(filepath.ToSlash(file), filepath.ToSlash(dir))
}

// unlinked returns a path without symbolic links. A part that does not exist yet is not a link; a dangling link is an
// error, because the file would be created at its target.
func unlinked(file string) (string, error) {
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		parent := filepath.Dir(file)
		if parent == file {
			return file, nil
		}
		parent, err := unlinked(parent)
		return filepath.Join(parent, filepath.Base(file)), err
	}
	return filepath.EvalSymlinks(file)
}
