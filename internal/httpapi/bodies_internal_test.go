// SPDX-License-Identifier: Apache-2.0

package httpapi

// BodyRoom returns how many bytes of memory are left for bodies.
func (s *Server) BodyRoom() int {
	s.bodies.mu.Lock()
	defer s.bodies.mu.Unlock()
	return s.bodies.room
}
