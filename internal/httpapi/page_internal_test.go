// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entity"
)

// thing is a minimal item of a list.
type thing struct {
	at    entity.PUID
	bytes int
}

func (t thing) position() entity.PUID { return t.at }
func (t thing) size() int             { return t.bytes }

// reader reads a list as a service does.
func reader(t rapid.TB, list []thing) func(entity.PUID, int) ([]thing, entity.PUID, error) {
	return func(after entity.PUID, limit int) ([]thing, entity.PUID, error) {
		if limit < 1 || limit > stride {
			t.Fatalf("%d items are read at once", limit)
		}
		rest := list[slices.IndexFunc(append(list, thing{at: after + 1}), func(i thing) bool { return i.at > after }):]
		if len(rest) <= limit {
			return rest, 0, nil
		}
		return rest[:limit], rest[limit-1].at, nil
	}
}

func TestFill_PagesAreTheListAndBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(1, 1000), rapid.IntRange(1, 2*pageBytes)), 0, 300).Draw(t, "sizes")
		list := make([]thing, len(sizes))
		for i, size := range sizes {
			list[i] = thing{entity.PUID(3*i + 1), size}
		}
		limit := rapid.IntRange(1, locus.MaxLimit).Draw(t, "limit")
		var got []thing
		for after := entity.PUID(0); ; {
			page, next, err := fill(after, limit, reader(t, list))
			if err != nil {
				t.Fatal(err)
			}
			sum := 0
			for _, i := range page {
				sum += i.bytes
			}
			if len(page) > limit || sum > pageBytes && len(page) > 1 {
				t.Fatalf("%d items of %d bytes in a page", len(page), sum)
			}
			got = append(got, page...)
			if next == 0 {
				break
			}
			rest := list[len(got):]
			if len(page) == 0 || len(rest) == 0 {
				t.Fatalf("a page of %d items, %d behind it, leads on", len(page), len(rest))
			}
			if len(page) < limit && sum+rest[0].bytes <= pageBytes {
				t.Fatalf("a page ends with %d items of %d bytes, the next has %d", len(page), sum, rest[0].bytes)
			}
			after = next
		}
		if !slices.Equal(got, list) {
			t.Fatalf("the pages have %d items, the list %d", len(got), len(list))
		}
	})
}

func TestFill_IsCompleteOrAnError(t *testing.T) {
	t.Parallel()
	list, broken := make([]thing, 100), errors.New("broken")
	for i := range list {
		list[i] = thing{entity.PUID(i + 1), 1}
	}
	whole := reader(t, list)
	page, next, err := fill(0, 100, func(after entity.PUID, limit int) ([]thing, entity.PUID, error) {
		if after > 0 {
			return nil, 0, broken
		}
		return whole(after, limit)
	})
	if !errors.Is(err, broken) || page != nil || next != 0 {
		t.Errorf("%d items, %v, %v", len(page), next, err)
	}
	if page, _, _ := fill(0, 1, reader(t, nil)); page == nil {
		t.Error("an empty page is null in JSON")
	}
}

// TestSize_IsAboutWhatIsSent compares the estimate with the document.
func TestSize_IsAboutWhatIsSent(t *testing.T) {
	t.Parallel()
	text, ref := strings.Repeat("value ", 50), entity.Ref{Source: "source", Key: strings.Repeat("key", 20)}
	many := make([]entity.Ref, 40)
	members := make([]entity.Member, 40)
	for i := range many {
		many[i], members[i] = ref, entity.Member{PUID: 1 << 60, Ref: ref, Version: 3}
	}
	for name, item := range map[string]interface{ size() int }{
		"record": Record{Source: "source", Key: "key", PUID: 1 << 60,
			Attributes: Attributes{"name": {text}, "phones": {text, text}}},
		"small record": Record{Source: "s", Key: "k", PUID: 1, Attributes: Attributes{"name": {"x"}}},
		"entity": Entity{Stamp: "12345678901234567890", Members: members,
			View: View{{Name: "name", Value: &text, Values: []ViewValue{{text, many, false}}}}},
		"small entity": Entity{Stamp: "1", Members: members[:1],
			View: View{{Name: "name", Value: &text, Values: []ViewValue{{"x", many[:1], false}}}}},
		"many in a row": Record{Attributes: Attributes{"hours": slices.Repeat([]string{""}, 32)}},
	} {
		document, err := json.Marshal(item)
		if err != nil {
			t.Fatal(err)
		}
		if ratio := float64(item.size()) / float64(len(document)); ratio < 0.5 || ratio > 15 {
			t.Errorf("%s: %d bytes are taken for %d", name, len(document), item.size())
		}
	}
}
