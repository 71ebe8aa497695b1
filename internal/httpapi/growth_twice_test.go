// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
)

// statement finds SQL in a text for people.
var statement = regexp.MustCompile(`(?i)create (unlogged )?table|insert into|create (unique )?index|select .* from|alter table|pragma |goose`)

// Two concurrent growths to different numbers: one succeeds, the other is refused with a conflict that names the first,
// in its status or, if its answer has begun, in its last line. No answer contains SQL.
func TestP06_TwoGrowthsAtOnce(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for round := range longtest.Part(6) {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			f := setupFor(t, nil, soon)
			answers := make([]answer, 2)
			var both sync.WaitGroup
			begin := make(chan struct{})
			for i, cells := range []int{4, 6} {
				both.Go(func() {
					<-begin
					answers[i] = f.do(http.MethodPost, "/v1/cells/grow", fmt.Sprintf(`{"cells":%d}`, cells))
				})
			}
			close(begin)
			both.Wait()
			done, refused := 0, 0
			for _, a := range answers {
				text := a.Body.String()
				if found := statement.FindString(text); found != "" {
					t.Errorf("an answer holds SQL (%s): %s", found, text)
				}
				body := strings.TrimSpace(text)
				var last struct {
					Type   string
					Status int
					Code   httpapi.Code
					Detail string
				}
				if err := json.Unmarshal([]byte(body[strings.LastIndex(body, "\n")+1:]), &last); err != nil {
					t.Fatalf("%v: %s", err, text)
				}
				switch {
				case a.Code == http.StatusOK && last.Type == httpapi.LineResult:
					done++
				case last.Status == http.StatusConflict && last.Code == httpapi.CodeConflict && strings.Contains(last.Detail, "another growth announced generation 1 of "):
					refused++
				default:
					t.Errorf("%d: %s", a.Code, text)
				}
			}
			if done != 1 || refused != 1 {
				t.Errorf("%d growths were done and %d refused, want one each", done, refused)
			}
			f.good()
		})
	}
}
