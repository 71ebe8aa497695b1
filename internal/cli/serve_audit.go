// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/audits"
)

// auditing holds the flags of the audit log.
type auditing struct {
	also []string
	file string
}

func (l *auditing) flags(c *cobra.Command) {
	c.Flags().StringSliceVar(&l.also, "audit", nil,
		"also log these requests: write, read; changes of the installation and decisions are always logged")
	c.Flags().StringVar(&l.file, "audit-file", "",
		"also append the audit entries of this process to this file, as JSON lines")
}

func (l *auditing) check() error {
	for _, class := range l.also {
		if class != string(audit.Write) && class != string(audit.Read) {
			return usage("--audit write,read", "--audit %.40q: want write, read, or both", class)
		}
	}
	return nil
}

// options opens the file.
func (l *auditing) options() (*audits.Options, func() error, error) {
	o := &audits.Options{}
	for _, class := range l.also {
		o.Also = append(o.Also, audit.Class(class))
	}
	if l.file == "" {
		return o, func() error { return nil }, nil
	}
	file, err := os.OpenFile(l.file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, usage("name a file in a directory that exists", "--audit-file: %v", err)
	}
	o.Copy = file
	return o, file.Close, nil
}

// noteServing stores in the audit log that the server starts, and how; the action ends when it stops. The server starts
// even if the log cannot be written.
func (s *serving) noteServing(svc *locus.DB) *audits.Action {
	targets := []string{"version=" + version(), "addr=" + s.addr, "scheme=" + s.scheme()}
	if s.insecure {
		targets = append(targets, "insecure-listen")
	}
	if len(s.audit.also) > 0 {
		targets = append(targets, "audit="+strings.Join(s.audit.also, ","))
	}
	return svc.Audit().Note(audit.Entry{Class: audit.Admin, Principal: "local", Action: "serve", Targets: targets})
}
