// SPDX-License-Identifier: Apache-2.0

// Package audits writes, reads and verifies the audit log of an installation. Package audit defines the log.
//
//	Begin ──► one commit for all that wait ──► the action ──► End ──► with the next commit
//	   │ the log cannot be written
//	   ▼
//	locus.ErrUnavailable, and the action does not begin
//
// The log is stored in the authority of the cell map. A process writes a chain of its own, and starts another after an
// error, because it cannot know whether the rows were stored.
//
// Use it through DB.Audit of package locus.
package audits
