// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"slices"
	"testing"

	"github.com/locus-db/locus/internal/httpapi"
)

// A record of another kind is validated, resolved, shown and listed by that kind.
func TestRecords_OfAKind(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	a := f.item(`{"source":"crm","key":"1","kind":"person","attributes":{"name":"John Smith","birth_date":"1969-07-20"}}`)
	b := f.item(`{"source":"web","key":"7","kind":"person","attributes":{"given_name":"John","family_name":"Smith","birth_date":"20.7.1969"}}`)
	c := f.item(`{"source":"crm","key":"2","attributes":{"name":"John Smith"}}`)
	if a.Entity != b.Entity || a.Entity == c.Entity {
		t.Errorf("the entities are %v, %v and %v", a.Entity, b.Entity, c.Entity)
	}
	if r := decode[httpapi.Record](f.get("/v1/records/web/7")); r.Kind != "person" {
		t.Errorf("the record is a %q", r.Kind)
	}
	if e := decode[httpapi.Entity](f.get("/v1/entities/" + c.Entity.String())); e.Kind != "place" {
		t.Errorf("the entity is a %q", e.Kind)
	}
	list := decode[httpapi.RecordList](f.get("/v1/records?kind=person&limit=1"))
	if len(list.Records) != 1 || list.Records[0].Kind != "person" {
		t.Errorf("%+v", list)
	}
	if s := decode[httpapi.Schema](f.get("/v1/schema?kind=product")); s.Kind != "product" || !slices.Equal(s.Kinds, []string{"person", "place", "product"}) {
		t.Errorf("%s of %v", s.Kind, s.Kinds)
	}
	if r := f.item(`{"source":"crm","key":"3","kind":"boat","attributes":{"name":"x"}}`); r.Error == nil {
		t.Error("a kind that there is not is taken")
	}
	if r := f.item(`{"source":"crm","key":"3","kind":"person","attributes":{"name":" "}}`); r.Error == nil {
		t.Error("a person of whom nothing is known is taken")
	}
}
