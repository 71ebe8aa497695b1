// SPDX-License-Identifier: Apache-2.0

package mongotest

import "sync"

// turns lets one writing command at a time into each database of the stand-in, and what makes or drops
// something alone into all of them.
type turns struct {
	all sync.RWMutex

	mu        sync.Mutex
	databases map[string]*sync.Mutex
	known     map[string]bool // collections that are there: the first write to another makes it
}

func newTurns() *turns {
	return &turns{databases: map[string]*sync.Mutex{}, known: map[string]bool{}}
}

// take waits for a command's turn and answers with what ends it.
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

// look is the turn of a command's database, and whether its collection is there.
func (t *turns) look(c command) (*sync.Mutex, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.databases[c.database] == nil {
		t.databases[c.database] = new(sync.Mutex)
	}
	return t.databases[c.database], t.known[c.database+"."+c.collection]
}

// alone waits until nobody else is in, and notes what will have changed.
func (t *turns) alone(note func()) (end func()) {
	t.all.Lock()
	return func() {
		t.mu.Lock()
		note()
		t.mu.Unlock()
		t.all.Unlock()
	}
}
