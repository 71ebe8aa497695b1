// SPDX-License-Identifier: Apache-2.0

package running_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/running"
)

// TestP10_SecretsAreBoundToHosts is about definitions that come over the network: they cannot send a variable of the
// server to a host that its operator has not named for it.
func TestP10_SecretsAreBoundToHosts(t *testing.T) {
	t.Setenv("CRM_PASSWORD", "value")
	t.Setenv("CLOUD_KEY", "value")
	v, err := running.ParseVariables([]string{"CRM_PASSWORD=db1,DB2", "CRM_PASSWORD=[::1]", "UNSET=db1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, to, want string }{
		{"CRM_PASSWORD", "postgres://crm@db1/crm?table=t", ""},
		{"CRM_PASSWORD", "postgres://crm@DB1:5433/crm", ""},
		{"CRM_PASSWORD", "kafka://u@db1:9092,db2:9093/topic", ""},
		{"CRM_PASSWORD", "nats://[::1]:4222/S", ""},
		{"CRM_PASSWORD", "postgres://crm@db3/crm", "does not send CRM_PASSWORD to db3"},
		{"CRM_PASSWORD", "kafka://u@db1:9092,evil:9092/topic", "to evil"},
		{"CRM_PASSWORD", "postgres://crm@db1/crm?host=evil", "to evil"},
		{"CRM_PASSWORD", "postgres://crm@db1/crm?host=db2,evil", "to evil"},
		{"CRM_PASSWORD", "postgres:///crm", "does not send"},
		{"CLOUD_KEY", "postgres://crm@db1/crm", "--secret-env CLOUD_KEY=db1"},
		{"UNSET", "postgres://crm@db1/crm", "UNSET of the server is not set"},
	} {
		u, err := url.Parse(c.to)
		if err != nil {
			t.Fatal(err)
		}
		value, err := v.Value(c.name, u)
		if c.want == "" && (err != nil || value != "value") || c.want != "" &&
			(err == nil || value != "" || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s to %s: %q, %v", c.name, c.to, value, err)
		}
	}
	for _, wrong := range []string{"", "CRM", "CRM=", "CRM=db1,", "=db1", "PGPASSWORD=db1", "LOCUS_TOKEN=db1", "CRM=postgres://db1", "CRM=a b", "A-B=db1"} {
		if v, err := running.ParseVariables([]string{wrong}); err == nil {
			t.Errorf("%q is taken: %v", wrong, v)
		}
	}
}
