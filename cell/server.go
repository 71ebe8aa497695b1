// SPDX-License-Identifier: Apache-2.0

package cell

import "context"

// Server is a database server that has cells, as it was found at a moment.
type Server struct {
	// Name has the role, the hosts and the ports, without a password.
	Name string `json:"server"`
	// Trouble is why the server cannot be looked at, and the rest is then unknown; "" if it can.
	Trouble string `json:"trouble,omitempty"`
	Version string `json:"version,omitempty"`
	// Profile is that of a managed platform, "" for a server like any other.
	Profile string `json:"profile,omitempty"`
	// Pooled reports whether there is a pooler in front of the server, PoolerNamed whether the URL says so.
	Pooled      bool `json:"pooled"`
	PoolerNamed bool `json:"pooler_named"`
	// Budget is how many connections this process may have, Own how many it has. Of the server's Connections, Used are open by all processes.
	Budget      int `json:"budget"`
	Own         int `json:"own"`
	Connections int `json:"connections"`
	Used        int `json:"used"`
	// ClockMS is by how many milliseconds the server's clock is ahead of this machine's, 0 if the difference is less than the question took.
	ClockMS int64 `json:"clock_ms"`
	// Recovering reports whether the server is a standby itself.
	Recovering bool `json:"recovering"`
	// Standbys are the replicas that are connected, by name. The role may see their number only: Hidden is then true, and their fields are
	// unknown.
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

// Surveyor is a Driver that can look at the servers of cells.
type Surveyor interface {
	// Survey returns the servers of the databases at urls, by name. One that cannot be reached is listed with the reason.
	Survey(ctx context.Context, urls []string) []Server
}

// Servers looks at the database servers of the cells. Cells in files have none.
func (c *Cells[T]) Servers(ctx context.Context) []Server {
	m := c.Map()
	urls := map[Surveyor][]string{}
	var drivers []Surveyor
	for _, id := range m.Cells() {
		url := c.url(m, id)
		driver, err := c.driver(url)
		if err != nil {
			continue // the status of the cell says so
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
