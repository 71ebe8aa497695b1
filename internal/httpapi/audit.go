// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/internal/strictjson"
	"github.com/locus-db/locus/records"
)

// AuditList is a page of the audit log, the newest entry first.
type AuditList struct {
	Entries []audit.Entry `json:"entries"`
	Cursor  string        `json:"cursor,omitempty" doc:"Cursor of the next page; missing on the last page only"`
}

// VerifyAuditRequest is the body of POST /v1/audit/verify.
type VerifyAuditRequest struct {
	Heads []audit.Head `json:"heads,omitempty" maxItems:"50000" doc:"Entries that the log must contain, such as the heads of an earlier verification"`
}

const (
	// maxHeads limits the heads of a request to verify.
	maxHeads = 50_000
	// auditScan limits the entries that one request reads in search of matching ones.
	auditScan = 20_000
	// auditPage is how many of them it reads at a time.
	auditPage = 1000
)

func (s *Server) listAudit(c *call) (any, error) {
	limit, err := c.query.limit()
	if err != nil {
		return nil, err
	}
	before, err := s.beforeAudit(c)
	if err != nil {
		return nil, err
	}
	matches, err := s.auditFilter(c)
	if err != nil {
		return nil, err
	}
	list := AuditList{Entries: []audit.Entry{}}
	for scanned := 0; scanned < auditScan && len(list.Entries) < limit; {
		rows, err := s.svc.Audit().Before(c, before, auditPage)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if len(list.Entries) == limit {
				break
			}
			e, err := r.Entry()
			if err != nil {
				e.Chain, e.Seq, e.Outcome = audit.ChainName(r.Chain), r.Seq, "damaged: see locus audit verify"
			}
			if before = r.Position; matches(&e) {
				list.Entries = append(list.Entries, e)
			}
		}
		if len(rows) < auditPage && (len(rows) == 0 || before == rows[len(rows)-1].Position) {
			return list, nil
		}
		scanned += len(rows)
	}
	position := binary.BigEndian.AppendUint64(nil, uint64(before.At))
	position = binary.BigEndian.AppendUint64(position, uint64(before.Chain))
	list.Cursor = s.seal(c, binary.BigEndian.AppendUint64(position, uint64(before.Seq)))
	return list, nil
}

// beforeAudit returns the position in the cursor of a list request, or the end of the log without a cursor.
func (s *Server) beforeAudit(c *call) (audit.Position, error) {
	position, err := s.unseal(c, "cursor")
	if err != nil || position == nil {
		return audit.End, err
	}
	if len(position) != 24 {
		return audit.End, notOfList("cursor")
	}
	number := func(i int) int64 { return int64(binary.BigEndian.Uint64(position[8*i:])) }
	return audit.Position{At: number(0), Chain: number(1), Seq: number(2)}, nil
}

// auditFilter returns the condition of a list.
func (s *Server) auditFilter(c *call) (func(*audit.Entry) bool, error) {
	target, puid := "", ""
	if text := c.query["record"]; text != "" {
		ref, err := records.ParseRef(text)
		if err != nil {
			return nil, fault(CodeInvalid, pointerTo("record"), "%.80q is not SOURCE:KEY", text)
		}
		if target, err = s.svc.Audit().RecordTarget(c, ref.Source, ref.Key); err != nil {
			return nil, err
		}
		if r, err := s.svc.Records().Stored(c, ref); err == nil {
			puid = r.PUID.String()
		} else if !errors.Is(err, locus.ErrNotFound) && !errors.Is(err, locus.ErrErased) {
			return nil, err
		}
	}
	class := audit.Class(c.query["class"])
	if class != "" && !slices.Contains(audit.Classes(), class) {
		return nil, fault(CodeInvalid, pointerTo("class"),
			"there is no class %.40q: the classes are access, admin, decision, write, read", class)
	}
	principal := c.query["principal"]
	return func(e *audit.Entry) bool {
		return (class == "" || e.Class == class) && (principal == "" || e.Principal == principal) &&
			(target == "" || slices.Contains(e.Targets, target) || concernsRecord(e, puid))
	}, nil
}

// concernsRecord reports whether a decision is about the record with a puid, "" for none: entries of decisions have the
// puids of both records.
func concernsRecord(e *audit.Entry, puid string) bool {
	return puid != "" && slices.ContainsFunc(e.Targets, func(target string) bool {
		_, about, _ := strings.Cut(target, "=")
		a, b, _ := strings.Cut(about, "/")
		return a == puid || b == puid
	})
}

// exportAudit writes the log as JSON lines, the oldest entry first.
func (s *Server) exportAudit(c *call) error {
	c.w.Header().Set("Content-Type", mediaLines)
	if c.r.Method == http.MethodHead {
		return nil
	}
	return s.send(c, func(w io.Writer) error {
		return s.svc.Audit().Each(c, func(r audit.Row) error {
			_, err := io.WriteString(w, r.Body+"\n")
			return err
		})
	})
}

func (s *Server) verifyAudit(c *call) (any, error) {
	body, err := object(c.body, "heads")
	if err != nil {
		return nil, err
	}
	var heads []audit.Head
	if v, given := body["heads"]; given {
		if heads, err = headsOf(v); err != nil {
			return nil, err
		}
	}
	report, err := s.svc.Audit().Verify(c, heads)
	if err != nil {
		return nil, err
	}
	c.concerns("problems=%d", len(report.Problems))
	return report, nil
}

// headsOf reads the heads of a request.
func headsOf(v strictjson.Value) (heads []audit.Head, err error) {
	if v.Kind() != strictjson.Array {
		return nil, wrongKind("/heads", v, "an array of heads")
	}
	if err := json.Unmarshal(v.Raw(), &heads); err != nil {
		return nil, fault(CodeInvalid, "/heads", "each head has chain, seq and hash: %v", err)
	}
	if len(heads) > maxHeads {
		return nil, fault(CodeInvalid, "/heads", "%d heads: at most %d", len(heads), maxHeads)
	}
	return heads, nil
}
