// SPDX-License-Identifier: Apache-2.0

package httpapi

// Rules returns the permissions of every registered pattern.
func (s *Server) Rules() map[string]string {
	rules := map[string]string{}
	for pattern, needs := range s.rules {
		rules[pattern] = needs.String()
	}
	return rules
}
