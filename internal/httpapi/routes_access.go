// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"

	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/tokens"
)

// accessRoutes returns the routes of tokens, sessions and the audit log.
func (s *Server) accessRoutes() []route {
	return []route{
		{
			method: "GET", path: "/v1/tokens", class: reads, needs: access.All(access.Access), handle: s.listTokens,
			answer: TokenList{}, failures: readErrors,
			summary: "List API tokens, without their secrets",
		},
		{
			method: "POST", path: "/v1/tokens", class: writes, needs: access.All(access.Access), handle: s.createToken,
			body: TokenRequest{}, answer: TokenMade{},
			statuses: []int{http.StatusCreated}, failures: append([]Code{CodeConflict}, decideErrors...),
			summary: "Create a token. Its secret is in the response and stored nowhere. The first one is an administrator's; from then on requests need a token, for good",
		},
		{
			method: "POST", path: "/v1/tokens/{name}/rotate", class: writes, needs: access.All(access.Access),
			handle: s.rotateToken, body: RotateRequest{}, answer: TokenMade{},
			statuses: []int{http.StatusCreated}, failures: append([]Code{CodeNotFound}, decideErrors...),
			summary: "Give a token a new secret; the old ones stay valid for the overlap",
		},
		{
			method: "DELETE", path: "/v1/tokens", class: writes, needs: access.All(access.Access), handle: s.revokeTokens,
			answer:   TokensRevoked{},
			failures: append([]Code{CodeNotFound, CodeConflict, CodeCommitUnknown}, readErrors...),
			summary:  "Revoke every token and session, for an installation that was restored. Only the operator can, through the socket of the data directory or the databases",
		},
		{
			method: "DELETE", path: "/v1/tokens/{name}", class: writes, needs: access.All(access.Access), handle: s.revokeToken,
			answer:   TokensRevoked{},
			failures: append([]Code{CodeNotFound, CodeConflict, CodeCommitUnknown}, readErrors...),
			summary:  "Revoke all tokens of a name; they end within a second in every process",
		},
		{
			method: "GET", path: "/v1/audit", class: reads, needs: access.All(access.Audit), price: priceSearch,
			handle: s.listAudit, answer: AuditList{}, failures: readErrors,
			summary: "List entries of the audit log, the newest first. A page may have fewer entries than the limit, with a cursor",
			query: append([]param{
				{"class", "Only entries of this class: access, admin, decision, write or read", false},
				{"principal", "Only entries of this principal: the name of a token, or local", false},
				{"record", "Only entries about this record, SOURCE:KEY", false},
			}, pageParams...),
		},
		{
			method: "GET", path: "/v1/audit/export", class: admin, needs: access.All(access.Audit), download: s.exportAudit,
			media:    mediaLines,
			failures: []Code{CodeOverloaded, CodeUnavailable},
			summary:  "The whole audit log, an entry a line, the oldest first; locus audit verify FILE verifies it",
		},
		{
			method: "POST", path: "/v1/audit/verify", class: admin, needs: access.All(access.Audit), handle: s.verifyAudit,
			body: VerifyAuditRequest{}, answer: audit.Report{},
			failures: changeErrors,
			summary:  "Verify that the audit log was not changed: its chains, and that it contains heads that were stored elsewhere",
		},
		{
			method: "GET", path: "/v1/sessions", class: reads, needs: access.All(access.Access), handle: s.listSessions,
			answer: SessionList{}, failures: readErrors,
			summary: "List the sessions of people in the console that have not ended",
		},
		{
			method: "DELETE", path: "/v1/sessions/{id}", class: writes, needs: access.All(access.Access), handle: s.endSession,
			answer:   tokens.Session{},
			failures: append([]Code{CodeNotFound, CodeCommitUnknown}, readErrors...),
			summary:  "End a session, within a second in every process",
		},
		{
			method: "GET", path: "/v1/blocks", class: reads, needs: access.All(access.Access), handle: s.listBlocks,
			answer: BlockList{}, failures: readErrors,
			summary: "List the principals that are blocked",
		},
		{
			method: "PUT", path: "/v1/blocks/{principal}", class: writes, needs: access.All(access.Access), handle: s.block,
			answer:   tokens.Block{},
			failures: append([]Code{CodeConflict, CodeCommitUnknown}, readErrors...),
			summary:  "Block a principal, within a second in every process, with all of its credentials: tokens, sessions, JWTs, certificates",
		},
		{
			method: "DELETE", path: "/v1/blocks/{principal}", class: writes, needs: access.All(access.Access), handle: s.unblock,
			answer:   tokens.Block{},
			failures: append([]Code{CodeNotFound, CodeCommitUnknown}, readErrors...),
			summary:  "Unblock a principal",
		},
		{
			method: "POST", path: "/v1/login", class: writes, needs: access.Public(), handle: s.redeem, body: LoginRequest{},
			answer:   TokenMade{},
			statuses: []int{http.StatusCreated}, failures: append([]Code{CodeUnauthenticated, CodeRateLimited}, decideErrors...),
			summary: "Exchange the code of the login page, and the verifier of its challenge, for a token of 12 hours",
		},
		{
			method: "DELETE", path: "/v1/login", class: writes, needs: access.Anyone().Narrowed(), handle: s.quit,
			answer:   LoggedOut{},
			failures: append([]Code{CodeCommitUnknown}, readErrors...),
			summary:  "End the token of the request, if a login made it",
		},
		{
			method: "GET", path: "/v1/whoami", class: reads, needs: access.Anyone().Narrowed(), handle: s.whoami,
			answer: Whoami{}, failures: []Code{CodeOverloaded, CodeUnavailable},
			summary: "The principal of the request, and its permissions",
		},
	}
}
