// SPDX-License-Identifier: Apache-2.0

//go:build linux

package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/locus-db/locus/internal/httpapi"
)

// stormy are the codes that clients may see in a storm.
var stormy = append(slices.Clone(killing), httpapi.CodeOverloaded, httpapi.CodeStaleMap, httpapi.CodeNoRoom)

// happen does one of the things that can happen now, or ends one.
func (s *storm) happen() {
	s.t.Helper()
	n := s.fleet.nodes[s.random.IntN(len(s.fleet.nodes))]
	server := s.random.IntN(len(s.links))
	switch what := s.random.IntN(8); {
	case s.down[n]:
		if s.adopted && !s.ill(0) { // a process learns from the cell map whether other servers were promoted
			s.start(n)
		}
	case !s.paused[n].IsZero():
		s.resume(n)
	case what < 2 && s.lonely() == nil:
		s.done["kills"]++
		s.down[n] = true
		n.kill()
	case what < 4 && s.lonely() == nil:
		s.done["stops"]++
		s.paused[n] = time.Now()
		n.pause()
	case s.fleet.dead[server]:
		s.fleet.revive(server)
	case s.full[server]:
		s.free(server)
	case s.hung[server]:
		s.wake(server)
	case what == 4 && s.standby[server] != nil:
		s.promote(server)
	case what == 5 && s.disks:
		s.done["full disks"]++
		s.full[server] = true
		s.fleet.pg[server].Fill(s.t)
	case what == 6:
		s.done["stopped servers"]++
		s.hung[server] = true
		s.fleet.pg[server].Pause(s.t)
	default:
		s.done["killed servers"]++
		s.fleet.crash(server)
	}
}

// ill reports whether a server does not answer, or may not.
func (s *storm) ill(server int) bool { return s.fleet.dead[server] || s.full[server] || s.hung[server] }

// lonely returns the only process that runs, or nil while there are others.
func (s *storm) lonely() (only *node) {
	for _, n := range s.fleet.nodes {
		switch {
		case s.down[n] || !s.paused[n].IsZero():
		case only != nil:
			return nil
		default:
			only = n
		}
	}
	return only
}

func (s *storm) start(n *node) {
	s.t.Helper()
	delete(s.down, n)
	n.start()
}

// beyond is longer than every lease lasts.
const beyond = 6 * time.Second

func (s *storm) resume(n *node) {
	s.t.Helper()
	if time.Since(s.paused[n]) > beyond {
		s.done["stops beyond the lease"]++
	}
	delete(s.paused, n)
	n.resume()
}

func (s *storm) free(server int) {
	s.t.Helper()
	s.full[server] = false
	s.fleet.pg[server].Free(s.t)
}

func (s *storm) wake(server int) {
	s.t.Helper()
	s.hung[server] = false
	s.fleet.pg[server].Continue(s.t)
}

// arm gives each server a synchronous standby, while nothing is written.
func (s *storm) arm() {
	s.t.Helper()
	for i, primary := range s.fleet.pg {
		if s.standby[i] == nil {
			s.standby[i] = primary.Standby(s.t)
			s.standby[i].CatchUp(s.t, primary)
			primary.Exec(s.t, "postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'")
			primary.Exec(s.t, "postgres", "SELECT pg_reload_conf()")
		}
	}
}

// promote replaces a server by its standby. If it has the cell map, an operator confirms that the standby has the
// newest.
func (s *storm) promote(server int) {
	s.t.Helper()
	s.done["promotions"]++
	next := s.standby[server]
	next.CatchUp(s.t, s.fleet.pg[server]) // a server that has just come back may show state that only it has
	s.fleet.crash(server)
	next.Promote(s.t)
	s.fleet.pg[server], s.standby[server], s.fleet.dead[server] = next, nil, false
	s.lead(server, next)
	s.adopted = s.adopted && server != 0
	s.adopt()
}

// adopt confirms the server of the cell map, once all are up.
func (s *storm) adopt() {
	s.t.Helper()
	if s.adopted || s.ill(0) || s.ill(1) {
		return
	}
	eventually(s.t, time.Minute, "an operator confirms the server of the map", func() (bool, string) {
		_, err := runCell(s.t, nil, append([]string{"restored"}, s.fleet.place...)...)
		return err == nil, fmt.Sprint(err)
	})
	s.adopted = true
	s.done["confirmed maps"]++
}

// heal ends everything that happened.
func (s *storm) heal() {
	s.t.Helper()
	for i := range s.links {
		switch {
		case s.fleet.dead[i]:
			s.fleet.revive(i)
		case s.full[i]:
			s.free(i)
		case s.hung[i]:
			s.wake(i)
		}
	}
	s.adopt()
	for _, n := range s.fleet.nodes {
		switch {
		case s.down[n]:
			s.start(n)
		case !s.paused[n].IsZero():
			s.resume(n)
		}
	}
}

// work starts operators' actions at the same time: a growth, a move or a compaction, each repeated through one process
// after another until it is done. It returns a function that waits for them.
func (s *storm) work() (wait func()) {
	s.t.Helper()
	m := s.fleet.nodes[0].cellMap()
	s.maps = append(s.maps, m)
	cells := m.Cells()
	id := cells[1+s.random.IntN(len(cells)-1)] // the first keeps the map, and stays
	to, number := 1-s.place(m, id), len(s.maps)
	move := func(again int) []string {
		return []string{"move", id.String(), "--to", s.url(to, fmt.Sprintf("moved_%d_%d", number, again))}
	}
	what, args := "moves", move(0)
	switch size := int(m.Count(m.Current())); {
	case size < 16 && s.random.IntN(3) == 0:
		what, args = "growths", []string{"grow", "--to", fmt.Sprint(2 * size), "--wait"}
	case m.Current() > 0 && s.random.IntN(4) == 0:
		what, args = "compactions", []string{"compact"}
	}
	random := rand.New(rand.NewPCG(s.random.Uint64(), 0))
	healed, done := make(chan bool), make(chan int, 1)
	go func() {
		for failed, since := 0, 0; ; failed++ {
			n := s.fleet.nodes[random.IntN(len(s.fleet.nodes))]
			_, err := n.run(nil, args...)
			if err == nil || s.t.Failed() {
				done <- failed
				return
			}
			switch code := exitCode(err); {
			case code == 1:
				s.t.Errorf("process %d: %v", n.index, err)
			// a database that a move left on a promoted server is not emptied: choose another database
			case code == 5 && what == "moves":
				args = move(1 + failed)
			}
			select {
			case <-healed:
				if since++; since == 20 {
					s.t.Errorf("it is never done: process %d: %v", n.index, err)
				}
			default:
			}
			rest(s.t.Context())
		}
	}()
	return func() {
		close(healed)
		s.done[what]++
		s.done["repeated "+what] += <-done
	}
}

// restore puts back a backup of a cell that lacks nothing that was acknowledged, under the processes.
func (s *storm) restore() {
	s.t.Helper()
	s.done["restored cells"]++
	m := s.fleet.nodes[0].cellMap()
	cells := m.Cells()
	id := cells[1+s.random.IntN(len(cells)-1)]
	server, db := s.fleet.pg[s.place(m, id)], database(m, id)
	backup := server.Copy(s.t, db)
	server.Exec(s.t, "postgres", fmt.Sprintf("DROP DATABASE %s WITH (FORCE)", db))
	server.Exec(s.t, "postgres", fmt.Sprintf("ALTER DATABASE %s RENAME TO %s", backup, db))
	s.fleet.whole()
}
