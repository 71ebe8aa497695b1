// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/httpapi"
)

// A dump sent by a server can be restored, and its headers describe its content.
func TestDump_StreamsAFile(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.do("POST", "/v1/records", `{"records":[{"source":"a","key":"1","attributes":{"name":"Joes Pizza"}},{"source":"b","key":"2","attributes":{"name":"Blue Door Books"}}]}`)
	a := f.get("/v1/dump")
	if media, mark := a.Header().Get("Content-Type"), a.Header().Get(httpapi.WatermarkHeader); media != "application/zstd" || !strings.HasPrefix(mark, "g0-0:") {
		t.Errorf("type %s, watermark %s", media, mark)
	}
	var end struct{ Records, Entities int64 }
	if err := json.Unmarshal([]byte(a.Header().Get(httpapi.TotalsHeader)), &end); err != nil || end.Records != 2 || end.Entities != 2 {
		t.Errorf("totals %+v, %v", end, err)
	}
	r, err := locus.Restore(t.Context(), filepath.Join(t.TempDir(), "restored"), a.Body, nil)
	if err != nil || r.Differs() || r.Records != 2 {
		t.Errorf("restored %+v, %v", r, err)
	}
	if h := f.do("HEAD", "/v1/dump", ""); h.Code != 200 || h.Body.Len() != 0 || h.Header().Get(httpapi.TotalsHeader) != "" {
		t.Errorf("HEAD: %d, %v", h.Code, h.Header())
	}
}
