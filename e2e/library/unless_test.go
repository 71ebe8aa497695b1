// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"errors"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/records"
)

// A conditional write leaves the record that it must not replace, and in all other cases does the same as without a
// condition.
func TestUnless_LeavesWhatIsStored(t *testing.T) {
	t.Parallel()
	db, err := locus.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	ref := func(key string) entity.Ref { return entity.Ref{Source: "crm", Key: key} }
	never := func(*entity.Record) bool { return true }
	named := func(name string) func(*entity.Record) bool {
		return func(stored *entity.Record) bool { return stored.Attributes["name"][0] == name }
	}
	put := func(key, name string, unless func(*entity.Record) bool) error {
		t.Helper()
		done, err := db.Records().Put(t.Context(),
			[]records.Input{{Ref: ref(key), Attributes: entity.Attributes{"name": {name}}, Unless: unless}})
		if err != nil {
			t.Fatal(err)
		}
		return done[0].Err
	}
	if err := put("1", "Joes Pizza", never); err != nil {
		t.Errorf("nothing was stored: %v", err)
	}
	if err := put("1", "Annas Bakery", named("Joes Pizza")); !errors.Is(err, entity.ErrRefused) || !errors.Is(err, locus.ErrConflict) {
		t.Errorf("%v", err)
	}
	if rec, err := db.Records().Get(t.Context(), ref("1")); err != nil || rec.Version != 1 || rec.Attributes["name"][0] != "Joes Pizza" {
		t.Errorf("%+v %v", rec, err)
	}
	if err := put("1", "Annas Bakery", named("another")); err != nil {
		t.Error(err)
	}
	remove := func(erase bool, unless func(*entity.Record) bool) error {
		t.Helper()
		do := db.Records().DeleteIf
		if erase {
			do = db.Records().EraseIf
		}
		done, err := do(t.Context(), []records.Deletion{{Ref: ref("1"), Unless: unless}})
		if err != nil {
			t.Fatal(err)
		}
		return done[0].Err
	}
	if err := errors.Join(put("2", "Annas Bakery", nil), put("1", "Joes Pizza", nil)); err != nil {
		t.Fatal(err)
	}
	for _, erase := range []bool{false, true} {
		if err := remove(erase, never); !errors.Is(err, entity.ErrRefused) {
			t.Errorf("erase %v: %v", erase, err)
		}
	}
	if err := remove(false, nil); err != nil {
		t.Error(err)
	}
	// A deleted record has no kind, so no condition applies to it, and nothing is left to erase.
	if err := remove(true, never); !errors.Is(err, entity.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if _, err := db.Records().Get(t.Context(), ref("1")); !errors.Is(err, entity.ErrErased) {
		t.Errorf("%v", err)
	}
	if err := put("1", "Joes Pizza", never); err != nil {
		t.Errorf("a deleted record is one that is not there: %v", err)
	}
}
