// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/httpapi"
	_ "github.com/locus-db/locus/sink/postgres"
	_ "github.com/locus-db/locus/sink/webhook"
)

func TestSinks_CreateChangeDelete(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	const path, body = "/v1/sinks/hook", `{"to": "https://crm.example/locus", "secret_env": "HOOK_SECRET"}`
	json := []string{"Content-Type", "application/json"}
	made := with[httpapi.Sink](f.do(http.MethodPut, path, body, json...), http.StatusCreated)
	if made.State != "waiting" || made.Hold != "72h0m0s" || made.SecretEnv != "HOOK_SECRET" || made.LagMS != nil {
		t.Errorf("%+v", made)
	}
	with[httpapi.Sink](f.do(http.MethodPut, path, body, json...), http.StatusOK)
	if changed := with[httpapi.Sink](f.do(http.MethodPut, path, `{"to": "https://crm.example/locus", "hold": "1h"}`, json...), http.StatusCreated); changed.Hold != "1h0m0s" {
		t.Errorf("%+v", changed)
	}
	for _, wrong := range []struct {
		status     int
		body, want string
	}{
		{http.StatusConflict, `{"to": "https://other.example/"}`, "delete it first"},
		{http.StatusUnprocessableEntity, `{"to": "https://crm.example/locus?token=hidden"}`, "/to"},
		{http.StatusUnprocessableEntity, `{"to": "postgres://crm:hidden@db/crm?table=golden"}`, "password"},
		{http.StatusUnprocessableEntity, `{"to": "postgres://crm@db/crm?table=golden&sslkey=/etc/hidden"}`, "sslkey"},
		{http.StatusUnprocessableEntity, `{"to": "file:///etc/hidden"}`, "scheme"},
		{http.StatusUnprocessableEntity, `{"to": "https://crm.example/locus", "kind": "plaace"}`, "plaace"},
		{http.StatusUnprocessableEntity, `{"to": "https://crm.example/locus", "hold": "73h"}`, "/hold"},
		{http.StatusUnprocessableEntity, `{"to": "https://crm.example/locus", "secret_env": "whsec_hidden="}`, "/secret_env"},
	} {
		a := f.do(http.MethodPut, path, wrong.body, json...)
		if text := a.Body.String(); a.Code != wrong.status || !strings.Contains(text, wrong.want) || strings.Contains(text, "hidden") {
			t.Errorf("%s: %d %s", wrong.body, a.Code, text)
		}
	}
	if paused := decode[httpapi.Sink](f.do(http.MethodPost, path+"/pause", "")); paused.State != "paused" {
		t.Errorf("%+v", paused)
	}
	if resumed := decode[httpapi.Sink](f.do(http.MethodPost, path+"/resume", "")); resumed.State != "waiting" {
		t.Errorf("%+v", resumed)
	}
	for body, want := range map[string]string{"": "stores no position", `{"rev": "x"}`: "not a rev", `{"rev": "9223372036854775807"}`: "would not fit"} {
		if a := f.do(http.MethodPost, path+"/adopt", body); a.Code != http.StatusUnprocessableEntity || !strings.Contains(a.Body.String(), want) {
			t.Errorf("adopt %s: %d %s", body, a.Code, a.Body)
		}
	}
	if a := f.do(http.MethodPost, path+"/verify", `{"repair": true}`); a.Code != http.StatusConflict || !strings.Contains(a.Body.String(), "cannot be verified") {
		t.Errorf("verify: %d %s", a.Code, a.Body)
	}
	if a := f.do(http.MethodPost, path+"/verify", `{"repair": 1}`); a.Code != http.StatusUnprocessableEntity {
		t.Errorf("verify: %d %s", a.Code, a.Body)
	}
	with[httpapi.Sink](f.do(http.MethodPost, path+"/pause", ""), http.StatusOK)
	if adopted := decode[httpapi.Sink](f.do(http.MethodPost, path+"/adopt", `{"rev": "18014398509481985"}`)); adopted.State != "waiting" {
		t.Errorf("%+v", adopted)
	}
	if dead := decode[httpapi.SinkLetterList](f.get(path + "/dead")); len(dead.Letters) != 0 {
		t.Errorf("%+v", dead)
	}
	if done := decode[httpapi.SinkDeadAnswer](f.do(http.MethodPost, path+"/dead/retry", `{"ids": ["20be0ffc-314a-bd53-7a50-013a65ca76d2"]}`)); done.Letters != 0 {
		t.Errorf("%+v", done)
	}
	if a := f.do(http.MethodDelete, path, ""); a.Code != http.StatusNoContent {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	for _, gone := range []answer{f.get(path), f.get(path + "/dead"), f.do(http.MethodDelete, path, ""), f.do(http.MethodPost, path+"/dead/drop", "{}")} {
		if gone.Code != http.StatusNotFound || !strings.Contains(gone.Body.String(), "no such sink") {
			t.Errorf("%d %s", gone.Code, gone.Body)
		}
	}
}
