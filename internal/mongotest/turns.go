// SPDX-License-Identifier: Apache-2.0

package mongotest

import "sync"

// turns lets one write command at a time into each database of the stand-in. Commands that create or drop something
// run alone.
type turns struct {
	all sync.RWMutex

	mu        sync.Mutex
	databases map[string]*sync.Mutex
	known     map[string]bool // existing collections: the first write to any other creates it
}

func newTurns() *turns {
	return &turns{databases: map[string]*sync.Mutex{}, known: map[string]bool{}}
}

// take waits for a command's turn and returns a function that ends it.
func (t *turns) take(c command) (end func()) {
	switch c.name {
	case "insert", "update", "delete", "findAndModify", "findandmodify", "bulkWrite":
		database, known := t.look(c)
		if !known {
			return t.alone(func() { t.known[c.database+"."+c.collection] = true })
		}
		t.all.RLock()
		database.Lock()
		return func() {
			database.Unlock()
			t.all.RUnlock()
		}
	case "create", "createIndexes", "dropIndexes", "collMod", "listCollections", "listDatabases", "listIndexes":
		return t.alone(func() {})
	case "drop", "dropDatabase", "renameCollection":
		return t.alone(func() { clear(t.known) })
	case "find", "getMore", "count", "aggregate", "distinct", "explain":
		t.all.RLock()
		return t.all.RUnlock
	}
	return func() {}
}

// look returns the lock of a command's database, and whether its collection exists.
func (t *turns) look(c command) (*sync.Mutex, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.databases[c.database] == nil {
		t.databases[c.database] = new(sync.Mutex)
	}
	return t.databases[c.database], t.known[c.database+"."+c.collection]
}

// alone waits until no other command is running, and calls note when this one ends.
func (t *turns) alone(note func()) (end func()) {
	t.all.Lock()
	return func() {
		t.mu.Lock()
		note()
		t.mu.Unlock()
		t.all.Unlock()
	}
}
