// SPDX-License-Identifier: Apache-2.0

package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"path"
)

//go:embed static
var static embed.FS

// File is a static file.
type File struct {
	Body    []byte
	Type    string // the media type
	Version string // changes with the content
}

var types = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

var files = readStatic()

func readStatic() map[string]File {
	entries, err := static.ReadDir("static")
	if err != nil {
		panic(err) // the directory is embedded in the binary
	}
	all := make(map[string]File, len(entries))
	for _, e := range entries {
		body, err := static.ReadFile("static/" + e.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(body)
		all[e.Name()] = File{body, types[path.Ext(e.Name())], hex.EncodeToString(sum[:8])}
	}
	return all
}

// staticPath returns the URL of a file. It has the version, so that browsers need not ask for the file again with each
// page.
func staticPath(name string) string { return "/static/" + name + "?v=" + files[name].Version }

// Static returns the file with a name such as "console.css". Names are looked up in a table, so no name leads outside
// of it.
func Static(name string) (File, bool) {
	f, ok := files[name]
	return f, ok
}
