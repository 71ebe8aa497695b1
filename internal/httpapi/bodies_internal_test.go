// SPDX-License-Identifier: Apache-2.0

package httpapi

// BodyRoom returns how many bytes of memory are left for bodies.
func (s *Server) BodyRoom() int {
	s.bodies.mu.Lock()
	defer s.bodies.mu.Unlock()
	return s.bodies.room
}

// Idle returns how many connections wait for a request.
func (s *Server) Idle() (n int) {
	s.connections.mu.Lock()
	defer s.connections.mu.Unlock()
	for _, c := range s.connections.open {
		if c.state == idle {
			n++
		}
	}
	return n
}
