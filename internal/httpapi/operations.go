// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// operations names the routes for generated clients: methods are called so in every language. A name is as stable as
// its path.
var operations = map[string]string{
	"GET /livez":                             "getLiveness",
	"POST /mcp":                              "callAgentTools",
	"GET /metrics":                           "getProcessMetrics",
	"GET /openapi.json":                      "getOpenAPI",
	"GET /readyz":                            "getReadiness",
	"GET /v1/audit":                          "listAudit",
	"GET /v1/audit/export":                   "exportAudit",
	"POST /v1/audit/verify":                  "verifyAudit",
	"GET /v1/backup":                         "downloadBackup",
	"GET /v1/backup/mark":                    "getLastBackup",
	"POST /v1/backup/mark":                   "markBackup",
	"GET /v1/blocks":                         "listBlocks",
	"DELETE /v1/blocks/{principal}":          "unblockPrincipal",
	"PUT /v1/blocks/{principal}":             "blockPrincipal",
	"GET /v1/cells":                          "listCells",
	"POST /v1/cells/compact":                 "compactCells",
	"POST /v1/cells/grow":                    "growCells",
	"POST /v1/cells/plan":                    "planCells",
	"GET /v1/cells/{id}":                     "getCell",
	"POST /v1/cells/{id}/move":               "moveCell",
	"GET /v1/changes":                        "listChanges",
	"POST /v1/check":                         "checkInstallation",
	"GET /v1/decisions":                      "listDecisions",
	"POST /v1/decisions":                     "decide",
	"POST /v1/decisions/preview":             "previewDecisions",
	"POST /v1/decisions/bulk":                "decideBulk",
	"POST /v1/decisions/bulk/{batch}/undo":   "undoBulk",
	"GET /v1/dump":                           "downloadDump",
	"GET /v1/entities":                       "listEntities",
	"GET /v1/entities/{id}":                  "getEntity",
	"GET /v1/entities/{id}/history":          "getEntityHistory",
	"GET /v1/entities/{id}/how":              "explainHow",
	"GET /v1/entities/{id}/relations":        "listRelations",
	"POST /v1/entities/{id}/unmerge":         "unmergeEntity",
	"GET /v1/entities/{id}/why":              "explainWhy",
	"GET /v1/export/{what}":                  "exportRows",
	"GET /v1/find":                           "findEntity",
	"POST /v1/hits":                          "addHits",
	"GET /v1/ids":                            "listIDs",
	"POST /v1/ids":                           "lookUpIDs",
	"GET /v1/kinds":                          "listKinds",
	"GET /v1/kinds/{kind}":                   "getKind",
	"PUT /v1/kinds/{kind}":                   "putKind",
	"POST /v1/kinds/{kind}/diff":             "diffKind",
	"POST /v1/kinds/{kind}/migrate":          "migrateKind",
	"DELETE /v1/login":                       "endLogin",
	"POST /v1/login":                         "redeemLogin",
	"GET /v1/map":                            "getMap",
	"GET /v1/map/history":                    "getMapHistory",
	"POST /v1/match":                         "matchRecords",
	"GET /v1/metrics":                        "listMetrics",
	"GET /v1/quality":                        "getQuality",
	"GET /v1/quality/profile":                "getProfile",
	"GET /v1/records":                        "listRecords",
	"POST /v1/records":                       "putRecords",
	"POST /v1/records/delete":                "deleteRecords",
	"DELETE /v1/records/{source}/{key}":      "deleteRecord",
	"GET /v1/records/{source}/{key}":         "getRecord",
	"GET /v1/review":                         "listReview",
	"GET /v1/review/team":                    "getReviewTeam",
	"POST /v1/review/assign":                 "assignReview",
	"GET /v1/rollups":                        "listRollups",
	"DELETE /v1/rollups/{name}":              "deleteRollup",
	"GET /v1/rollups/{name}":                 "getRollup",
	"PUT /v1/rollups/{name}":                 "putRollup",
	"GET /v1/rollups/{name}/explain/{group}": "explainGroup",
	"GET /v1/rollups/{name}/groups":          "listGroups",
	"GET /v1/rollups/{name}/groups/{group}":  "getGroup",
	"POST /v1/rollups/{name}/rebuild":        "rebuildRollup",
	"POST /v1/rollups/{name}/verify":         "verifyRollup",
	"POST /v1/sinks/{name}/verify":           "verifySink",
	"GET /v1/route":                          "explainRoute",
	"GET /v1/schema":                         "getSchema",
	"GET /v1/series":                         "getSeries",
	"GET /v1/series/explain":                 "explainHit",
	"POST /v1/series/query":                  "querySeries",
	"GET /v1/servers":                        "listServers",
	"GET /v1/sessions":                       "listSessions",
	"DELETE /v1/sessions/{id}":               "endSession",
	"GET /v1/sinks":                          "listSinks",
	"DELETE /v1/sinks/{name}":                "deleteSink",
	"POST /v1/sinks/{name}/adopt":            "adoptSink",
	"GET /v1/sinks/{name}":                   "getSink",
	"PUT /v1/sinks/{name}":                   "putSink",
	"GET /v1/sinks/{name}/dead":              "listSinkLetters",
	"POST /v1/sinks/{name}/dead/drop":        "dropSinkLetters",
	"POST /v1/sinks/{name}/dead/retry":       "retrySinkLetters",
	"POST /v1/sinks/{name}/pause":            "pauseSink",
	"POST /v1/sinks/{name}/resume":           "resumeSink",
	"GET /v1/sources":                        "listSources",
	"DELETE /v1/sources/{source}":            "deleteStream",
	"GET /v1/sources/{source}":               "getSource",
	"PUT /v1/sources/{source}":               "putStream",
	"PUT /v1/sources/{source}/import":        "putImport",
	"GET /v1/sources/{source}/dead":          "listSourceLetters",
	"POST /v1/sources/{source}/dead/drop":    "dropSourceLetters",
	"POST /v1/sources/{source}/dead/retry":   "retrySourceLetters",
	"POST /v1/sources/{source}/pause":        "pauseStream",
	"POST /v1/sources/{source}/resume":       "resumeStream",
	"GET /v1/status":                         "getStatus",
	"GET /v1/tail":                           "getTail",
	"GET /v1/term-frequencies":               "listTermFrequencies",
	"POST /v1/term-frequencies":              "learnTermFrequencies",
	"GET /v1/tokens":                         "listTokens",
	"POST /v1/tokens":                        "createToken",
	"DELETE /v1/tokens":                      "revokeTokens",
	"DELETE /v1/tokens/{name}":               "revokeToken",
	"POST /v1/tokens/{name}/rotate":          "rotateToken",
	"GET /v1/top":                            "getTop",
	"GET /v1/upgrade":                        "getUpgrade",
	"POST /v1/upgrade":                       "runUpgrade",
	"POST /v1/vacuum":                        "vacuum",
	"POST /v1/what-if":                       "explainWhatIf",
	"GET /v1/whoami":                         "getPrincipal",
	"GET /v1/why-not":                        "explainWhyNot",
	"GET /version":                           "getVersion",
}

// once lists the operations that have another effect if they are repeated: clients do not repeat them after a lost
// response. Hits are counted twice unless they have a key.
var once = map[string]bool{
	"createToken": true, "rotateToken": true, "redeemLogin": true, "callAgentTools": true, "addHits": true,
}

// parameters has the schemas of parameters whose values are not plain texts.
var parameters = map[string]*huma.Schema{
	"limit": {Type: huma.TypeInteger}, "k": {Type: huma.TypeInteger}, "top": {Type: huma.TypeInteger},
	"latest": {Type: huma.TypeBoolean}, "partial": {Type: huma.TypeBoolean}, "erase": {Type: huma.TypeBoolean},
	"count": {Type: huma.TypeBoolean}, "withdrawn": {Type: huma.TypeBoolean},
	"filter": texts, "has": texts, "without": texts,
	"day": {Type: huma.TypeString, Format: "date"}, "at": {Type: huma.TypeString, Format: "date-time"},
	timeoutHeader: {Type: huma.TypeInteger}, seqHeader: {Type: huma.TypeInteger},
}

var (
	text  = &huma.Schema{Type: huma.TypeString}
	texts = &huma.Schema{Type: huma.TypeArray, Items: text}
)

// parameter describes a parameter, whose schema follows from its name.
func parameter(p param, in string) *huma.Param {
	schema := parameters[p.name]
	switch {
	case in == "path" && p.name == "group":
		schema, p.doc = texts, "Values of the grouping attributes, each a segment of the path"
	case schema == nil || in == "path":
		schema = text
	}
	return &huma.Param{Name: p.name, In: in, Required: p.required, Description: p.doc, Schema: schema}
}

// contents has the media types of answers that are not JSON of a type here.
var contents = map[string]*huma.Response{
	"getProcessMetrics": {Content: map[string]*huma.MediaType{"text/plain": {Schema: text}}},
	"getOpenAPI":        {Content: map[string]*huma.MediaType{mediaJSON: {Schema: &huma.Schema{Type: huma.TypeObject}}}},
}

// unite makes one schema of types that look alike in JSON.
func unite(registry huma.Registry) {
	registry.RegisterTypeAlias(reflect.TypeFor[match.NodeKey](), reflect.TypeFor[entity.Ref]())
	registry.RegisterTypeAlias(reflect.TypeFor[SinkDeadAnswer](), reflect.TypeFor[Handled]())
}
