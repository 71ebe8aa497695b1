// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/locus-db/locus/secret"
)

// contextEntry is a server that locus login has stored.
type contextEntry struct {
	Name string `json:"name"`
	// URL is the origin of the server: the token goes to no other.
	URL string `json:"url"`
	// CA is the only authority whose certificate the server may have, in PEM; "" for the authorities of this machine.
	CA        string      `json:"ca,omitempty"`
	Token     secret.Text `json:"-"`
	Principal string      `json:"principal,omitempty"`
	Expires   time.Time   `json:"expires,omitzero"`
}

// plainEntry is a contextEntry as the file has it.
type plainEntry contextEntry

type storedEntry struct {
	plainEntry
	Token string `json:"token,omitempty"`
}

// MarshalJSON implements json.Marshaler, for the file: nothing else marshals a context.
func (c contextEntry) MarshalJSON() ([]byte, error) {
	return json.Marshal(storedEntry{plainEntry(c), c.Token.Reveal()})
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *contextEntry) UnmarshalJSON(text []byte) error {
	var stored storedEntry
	if err := json.Unmarshal(text, &stored); err != nil {
		return err
	}
	*c = contextEntry(stored.plainEntry)
	c.Token = secret.New(stored.Token)
	return nil
}

// contextList is the file of contexts.
type contextList struct {
	Current  string         `json:"current,omitempty"`
	Contexts []contextEntry `json:"contexts"`
}

// contextPath returns the file of contexts in the configuration directory of the user, "" if there is no such
// directory.
func (a *app) contextPath() string {
	dir := a.env["XDG_CONFIG_HOME"]
	switch {
	case runtime.GOOS == "windows":
		dir = a.env["AppData"]
	case dir == "" && a.env["HOME"] != "" && runtime.GOOS == "darwin":
		dir = filepath.Join(a.env["HOME"], "Library", "Application Support")
	case dir == "" && a.env["HOME"] != "":
		dir = filepath.Join(a.env["HOME"], ".config")
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "locus", "contexts.json")
}

// contexts reads the file of contexts. A file that others can read is refused, because it has tokens.
func (a *app) contexts() (list contextList, err error) {
	path := a.contextPath()
	if path == "" {
		return list, nil
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil
	} else if err != nil {
		return list, fmt.Errorf("read the contexts: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return list, fmt.Errorf("read the contexts: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return list, usage("chmod 600 "+path, "refusing to read %s: it has tokens, and other accounts can read it", path)
	}
	if err := json.NewDecoder(file).Decode(&list); err != nil {
		return list, usage("remove it, and locus login URL again", "the contexts file %s is damaged: %v", path, err)
	}
	return list, nil
}

// store replaces the file of contexts, at once.
func (a *app) storeContexts(list contextList) (err error) {
	path := a.contextPath()
	if path == "" {
		return usage("HOME or XDG_CONFIG_HOME",
			"there is no configuration directory for the context: neither HOME nor XDG_CONFIG_HOME is set")
	}
	body, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("store the context: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), "contexts-*") // with mode 0600
	if err != nil {
		return fmt.Errorf("store the context: %w", err)
	}
	_, err = file.Write(append(body, '\n'))
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("store the context: %w", errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}

func (l *contextList) find(name string) *contextEntry {
	if i := slices.IndexFunc(l.Contexts, func(c contextEntry) bool { return c.Name == name }); i >= 0 {
		return &l.Contexts[i]
	}
	return nil
}

// put adds a context, or replaces the one of its name, and makes it the current one.
func (l *contextList) put(c contextEntry) {
	if old := l.find(c.Name); old != nil {
		*old = c
	} else {
		l.Contexts = append(l.Contexts, c)
		slices.SortFunc(l.Contexts, func(a, b contextEntry) int { return strings.Compare(a.Name, b.Name) })
	}
	l.Current = c.Name
}

// drop removes a context.
func (l *contextList) drop(name string) {
	l.Contexts = slices.DeleteFunc(l.Contexts, func(c contextEntry) bool { return c.Name == name })
	if l.Current == name {
		l.Current = ""
	}
}

// originOf returns scheme, host and port of an address, in one form.
func originOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// context returns the context of the origin of a server, nil if there is none: the current one first.
func (a *app) context(server string) (*contextEntry, error) {
	at, err := url.Parse(server)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // dial says so
	}
	list, err := a.contexts()
	if err != nil {
		return nil, err
	}
	var found *contextEntry
	for i := range list.Contexts {
		c := &list.Contexts[i]
		if of, err := url.Parse(c.URL); err == nil && originOf(of) == originOf(at) && (found == nil || c.Name == list.Current) {
			found = c
		}
	}
	return found, nil
}

// valid returns the token of a context, an empty one if it has none.
func (c *contextEntry) valid() (secret.Text, error) {
	if !c.Token.Empty() && !c.Expires.IsZero() && !time.Now().Before(c.Expires) {
		return secret.Text{}, usage("locus login "+c.URL, "the login of %s at %s has ended", c.Principal, c.URL)
	}
	return c.Token, nil
}
