// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/listen"
	"github.com/locus-db/locus/internal/running"
)

// check rejects flags that do not apply to the kind of installation.
func (s *serving) check(w where) error {
	switch {
	case s.rollups < 0 || s.kinds < 0:
		return usage("--max-rollups 32", "--max-rollups and --max-kinds cannot be below 0")
	case s.grace < leastGrace || s.grace > mostGrace:
		return usage("--access-grace 5m",
			"--access-grace %v: want %v to %v: this is how long a revoked token stays valid in a process that is cut off",
			s.grace, leastGrace, mostGrace)
	case s.readOnly && s.cells > 0:
		return usage("leave it out", "--cells is for a new installation, and --read-only makes none")
	case s.cells < 0 || s.connections < 0:
		return usage("leave them out", "--cells and --connections cannot be below 0")
	case s.retain < leastRetain:
		return usage("--retain 24h", "--retain %v: want at least %v, so that followers can resume", s.retain, leastRetain)
	case w.shared && s.mode() == listen.SelfSigned:
		return usage("--tls-cert FILE --tls-key FILE", "--tls self-signed is for a data directory: servers that share databases use files, or each would have an authority of its own")
	case !w.shared && s.connections > 0:
		return usage("leave it out", "--connections needs --map")
	}
	for _, at := range s.places {
		if err := httpapi.CheckPlace(at); err != nil {
			return usage("--place postgres://db2; or --place sqlite:/srv/locus", "--place: %v", err)
		}
	}
	if _, err := running.ParseVariables(s.secretEnv); err != nil {
		return usage("--secret-env CRM_PASSWORD=db1", "--secret-env: %v", err)
	}
	if err := s.checkPeers(w); err != nil {
		return err
	}
	if err := s.checkLine(); err != nil {
		return err
	}
	if err := s.people.check(s.public); err != nil {
		return err
	}
	if err := s.audit.check(); err != nil {
		return err
	}
	if err := s.traces.check(); err != nil {
		return err
	}
	return s.hits.check()
}
