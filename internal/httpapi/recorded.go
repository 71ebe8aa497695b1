// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/internal/access"
)

// maxTargets limits the targets of one entry of the audit log.
const maxTargets = 100

// auditClass returns the class of a call in the audit log, "" if it is never stored.
func (s *Server) auditClass(c *call) audit.Class {
	needs := s.rules[c.r.Pattern]
	erase, _ := c.query.flag("erase") // an error is the handler's
	switch {
	case c.class == health || needs.Open():
		return ""
	case c.route.audit != "":
		return c.route.audit
	case c.r.Method == http.MethodGet || c.r.Method == http.MethodHead:
		return audit.Read
	case needs.Takes(access.Access) || needs.Takes(access.Audit):
		return audit.Access
	case needs.Takes(access.Decide):
		return audit.Decision
	case needs.Takes(access.Define) || needs.Takes(access.Operate) || erase || needs == access.All(access.Erase):
		return audit.Admin
	case needs.Takes(access.Write) || needs.Takes(access.Count):
		return audit.Write
	}
	return audit.Read
}

// recorded runs a handler between two entries of the audit log. The first is durable before the handler runs; without
// it the handler does not.
func (s *Server) recorded(c *call, handle func() error) error {
	class := s.auditClass(c)
	if class == "" || s.svc == nil || !s.svc.Audit().Stores(class) {
		return handle()
	}
	targets, err := s.targets(c, class)
	if err != nil {
		return err
	}
	e := audit.Entry{
		Class: class, Principal: "local", Address: s.recordedAddress(c.r), RequestID: c.w.Header().Get(requestIDHeader),
		Action:  c.r.Pattern,
		Targets: targets,
	}
	if who := access.From(c); who.Named() {
		e.Principal, e.Credential = who.Name, who.ID
	}
	action, err := s.svc.Audit().Begin(c, e)
	if err != nil {
		return err
	}
	outcome := "aborted" // for a handler that does not return
	defer func() { action.End(outcome, append(targets, c.about...)...) }()
	err = handle()
	if outcome = "ok"; err != nil {
		outcome = string(toFault(err, "").Code)
	} else if c.failed != nil {
		outcome = string(toFault(c.failed, "").Code)
	}
	return err
}

// recordedAddress returns the address that a request comes from, "" for one of this process, or without a network.
func (s *Server) recordedAddress(r *http.Request) string {
	if at := s.peerOf(r); at.IsValid() && !s.opts.Local {
		return at.Unmap().String()
	}
	return ""
}

// concerns adds the subject of a call to its entry in the audit log. It must contain no value of a record.
func (c *call) concerns(format string, args ...any) {
	if len(c.about) < maxTargets {
		c.about = append(c.about, fmt.Sprintf(format, args...))
	}
}

// plainTarget matches names that are stored as they are. All else is stored as a keyed hash.
var plainTarget = regexp.MustCompile(`^[A-Za-z0-9_.\-]{1,64}$`)

// targets returns the subjects of a call that are in its path and, for class read, in its query. Keys of records,
// groups of rollups and values of queries are keyed hashes.
func (s *Server) targets(c *call, class audit.Class) (targets []string, err error) {
	add := func(name, value string, plain bool) error {
		if !plain {
			hash, err := s.svc.Audit().Hash(c, value)
			if err != nil {
				return err
			}
			value = "#" + hash
		}
		targets = append(targets, name+"="+value)
		return nil
	}
	source, key := c.r.PathValue("source"), c.r.PathValue("key")
	if key != "" {
		target, err := s.svc.Audit().RecordTarget(c, source, key)
		if err != nil {
			return nil, err
		}
		targets = append(targets, target)
	} else if source != "" {
		if err := add("source", source, plainTarget.MatchString(source)); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"id", "kind", "name", "what", "group", "principal"} {
		if value := c.r.PathValue(name); value != "" {
			if err := add(name, value, name == "principal" || name != "group" && plainTarget.MatchString(value)); err != nil {
				return nil, err
			}
		}
	}
	if class != audit.Read {
		return targets, nil
	}
	for _, name := range slices.Sorted(maps.Keys(c.query)) {
		if name == "limit" || name == "cursor" {
			continue
		}
		if err := add("query."+name, strings.TrimSpace(c.query[name]), false); err != nil {
			return nil, err
		}
	}
	return targets, nil
}
