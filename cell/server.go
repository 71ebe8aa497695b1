// SPDX-License-Identifier: Apache-2.0

package cell

import "context"

// Server is the observed state of a database server that has cells.
type Server struct {
	// Name has the role, the hosts and the ports, without a password.
	Name string `json:"server"`
	// Trouble is the reason why the server cannot be reached; the other fields are then unknown; "" otherwise.
	Trouble string `json:"trouble,omitempty"`
	Version string `json:"version,omitempty"`
	// Profile is that of a managed platform, "" for any other server.
	Profile string `json:"profile,omitempty"`
	// Pooled reports whether there is a pooler in front of the server, PoolerNamed whether the URL names it as one.
	Pooled      bool `json:"pooled"`
	PoolerNamed bool `json:"pooler_named"`
	// Budget is how many connections this process may have, Own how many it has. Of the server's Connections, Used are
	// open by all processes.
	Budget      int `json:"budget"`
	Own         int `json:"own"`
	Connections int `json:"connections"`
	Used        int `json:"used"`
	// ClockMS is how many milliseconds the server's clock is ahead of this machine's, 0 if the difference is smaller
	// than the round trip.
	ClockMS int64 `json:"clock_ms"`
	// Recovering reports whether the server is a standby itself.
	Recovering bool `json:"recovering"`
	// Standbys are the connected replicas, by name. Hidden reports that the role may only see their number; their
	// fields are then unknown.
	Standbys []Standby `json:"standbys,omitempty"`
	Hidden   bool      `json:"standbys_hidden"`
	// Archives reports whether the server archives its log, ArchiveFails whether its last attempt failed.
	Archives     bool `json:"archives"`
	ArchiveFails bool `json:"archive_fails"`
}

// Standby is a replica of a server.
type Standby struct {
	Name  string `json:"name"`
	State string `json:"state"` // streaming, catchup, startup
	Sync  string `json:"sync"`  // async, sync, quorum, potential
	// Bytes of the log that it has not replayed, and the age in milliseconds of the last replayed entry; 0 if unknown.
	Bytes int64 `json:"bytes"`
	LagMS int64 `json:"lag_ms"`
}

// Surveyor is a Driver that can inspect the servers of cells.
type Surveyor interface {
	// Survey returns the servers of the databases at urls, by name. An unreachable one is listed with the reason.
	Survey(ctx context.Context, urls []string) []Server
}

// Servers inspects the database servers of the cells. Cells in files have none.
func (c *Cells[T]) Servers(ctx context.Context) []Server {
	m := c.Map()
	urls := map[Surveyor][]string{}
	var drivers []Surveyor
	for _, id := range m.Cells() {
		url := c.url(m, id)
		driver, err := c.driver(url)
		if err != nil {
			continue // reported by the status of the cell
		}
		if s, ok := driver.(Surveyor); ok {
			if urls[s] == nil {
				drivers = append(drivers, s)
			}
			urls[s] = append(urls[s], url)
		}
	}
	var all []Server
	for _, s := range drivers {
		all = append(all, s.Survey(ctx, urls[s])...)
	}
	return all
}
