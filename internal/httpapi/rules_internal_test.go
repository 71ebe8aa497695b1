// SPDX-License-Identifier: Apache-2.0

package httpapi

// Forget forgets which credentials failed and what principals did.
func (s *Server) Forget() {
	s.spent, s.failures = newBuckets[spending](0), newBuckets[string](failuresInAll)
}

// Rules returns the permissions of every registered pattern.
func (s *Server) Rules() map[string]string {
	rules := map[string]string{}
	for pattern, needs := range s.rules {
		rules[pattern] = needs.String()
	}
	return rules
}
