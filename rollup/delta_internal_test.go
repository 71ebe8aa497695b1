// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/changelog"
)

func parsed(t interface {
	Helper()
	Fatal(...any)
}, text string,
) *Definition {
	t.Helper()
	d, err := Parse([]byte("{ rollup: a, kind: k, " + text + " }"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func imageOf(tag, city, weight string) *changelog.Image {
	return &changelog.Image{Kind: "k", Attributes: map[string][]string{"tags": {tag}, "city": {city}, "weight": {weight}}}
}

// The stored format is frozen: rows written once are read by every later version.
func TestRows_Golden(t *testing.T) {
	t.Parallel()
	d := parsed(t, `group: [tags, city], dimension: weight, measures: { m: { avg: weight, scale: 1 }, n: count, o: { max: weight, scale: 1 }, p: { distinct: tags }, s: { sum: weight, scale: 1 } }`)
	dl := newDelta(d)
	for _, im := range []*changelog.Image{
		imageOf("ears", "Paris", "-1.5"), imageOf("ears", "Paris", "300"), imageOf("ears", "Paris", "300"),
		imageOf("ears", "Paris", "n/a"),
	} {
		dl.add(im, 1)
	}
	keys := dl.keys()
	rows, groups, err := dl.apply(keys, make([][]byte, len(keys)))
	if err != nil || groups != 1 {
		t.Fatal(groups, err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%q %s", r.Key, hex.EncodeToString(r.Body)))
	}
	want := []string{
		`"gears\x00Paris" 03042d312e350200011d02011d03333030040000e05d0400e05d036e2f6102060000000000`,
		`"vears\x00Paris\x00-1.5\x00\x02\x7f\xff\xff\xff\xff\xff\xff\xf1" 01`,
		`"vears\x00Paris\x00-1.5\x00\x03ears" 01`,
		`"vears\x00Paris\x00300\x00\x02\x80\x00\x00\x00\x00\x00\v\xb8" 02`,
		`"vears\x00Paris\x00300\x00\x03ears" 02`,
		`"vears\x00Paris\x00n/a\x00\x03ears" 01`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestDelta_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	const sum = `group: tags, measures: { s: { sum: weight }, m: { max: weight } }`
	whole := func(n int64) *changelog.Image { return imageOf("ears", "a", fmt.Sprint(n)) }
	for name, c := range map[string]struct {
		first, second []*changelog.Image // images to add; the images of second are subtracted if times is -1
		times         int64
		want          string
	}{
		"fewer than none":  {nil, []*changelog.Image{whole(1)}, -1, `group "ears" has -1 things`},
		"a sum of nothing": {[]*changelog.Image{whole(1)}, []*changelog.Image{whole(2)}, -1, "sums of nothing"},
		"a value that is not there": {[]*changelog.Image{whole(1), whole(3)}, []*changelog.Image{whole(2)}, -1,
			"is there -1 times"},
		"too many values of a dimension": {nil, slots(), 1, "5 values of city, 4 are allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := parsed(t, sum)
			if len(c.second) > maxSlots {
				d = parsed(t, `group: tags, dimension: city`)
			}
			stored := map[string][]byte{}
			apply := func(images []*changelog.Image, times int64) error {
				dl := newDelta(d)
				for _, im := range images {
					dl.add(im, times)
				}
				keys := dl.keys()
				bodies := make([][]byte, len(keys))
				for i, k := range keys {
					bodies[i] = stored[string(k)]
				}
				rows, _, err := dl.apply(keys, bodies)
				if err == nil {
					err = d.boundedRows(rows)
				}
				for _, r := range rows {
					stored[string(r.Key)] = r.Body
				}
				return err
			}
			if err := apply(c.first, 1); err != nil {
				t.Fatal(err)
			}
			if err := apply(c.second, c.times); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want one with %q", err, c.want)
			}
		})
	}
}

func slots() []*changelog.Image {
	var images []*changelog.Image
	for i := range maxSlots + 1 {
		images = append(images, imageOf("ears", fmt.Sprint(i), "1"))
	}
	return images
}

// The result does not depend on the order of changes or the batch boundaries.
func TestDelta_OrderMakesNoDifference(t *testing.T) {
	t.Parallel()
	d := parsed(t, `group: tags, dimension: city, measures: { a: { avg: weight }, s: { sum: weight }, m: { min: weight }, t: { distinct: weight } }`)
	word := func(words ...string) *rapid.Generator[string] { return rapid.SampledFrom(words) }
	image := rapid.Custom(func(t *rapid.T) *changelog.Image {
		if rapid.IntRange(0, 4).Draw(t, "nothing") == 0 {
			return nil
		}
		return imageOf(word("ears", "wings").Draw(t, "tag"), word("a", "b").Draw(t, "city"),
			word("1", "2", "x", fmt.Sprint(math.MaxInt64), fmt.Sprint(math.MinInt64)).Draw(t, "weight"))
	})
	rapid.Check(t, func(t *rapid.T) {
		var changes []changelog.Change
		things := map[int]*changelog.Image{}
		for range rapid.IntRange(0, 20).Draw(t, "changes") {
			i, is := rapid.IntRange(0, 3).Draw(t, "thing"), image.Draw(t, "is")
			changes = append(changes, changelog.Change{Kind: changelog.Changed, Was: things[i], Is: is})
			things[i] = is
		}
		rows := func(changes []changelog.Change) []Row {
			dl := newDelta(d)
			for i := range changes {
				dl.change(&changes[i])
			}
			keys := dl.keys()
			rows, _, err := dl.apply(keys, make([][]byte, len(keys)))
			if err != nil {
				t.Fatal(err)
			}
			return rows
		}
		want := rows(changes)
		got := rows(rapid.Permutation(changes).Draw(t, "permuted"))
		same := func(a, b Row) bool { return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Body, b.Body) }
		if !slices.EqualFunc(got, want, same) {
			t.Fatalf("rows are %v, want %v", got, want)
		}
		var now []changelog.Change
		for _, is := range things {
			now = append(now, changelog.Change{Kind: changelog.Changed, Is: is})
		}
		if fresh := rows(now); !slices.EqualFunc(fresh, want, same) {
			t.Fatalf("counted anew rows are %v, want %v", fresh, want)
		}
	})
}

func FuzzDecodeGroup(f *testing.F) {
	f.Add([]byte{}, 2)
	f.Add(encodeGroup(group{{"", slot{1, 0}}, {"a", slot{-1, math.MaxInt64}}}), 2)
	f.Add([]byte{2, 1, 'a', 2, 1, 'a', 4}, 1)
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 1}, 1)
	f.Fuzz(func(t *testing.T, body []byte, width int) {
		if width < 0 || width > 100 {
			return
		}
		g, err := decodeGroup(body, width)
		if err != nil {
			return
		}
		again, err := decodeGroup(encodeGroup(g), width)
		if err != nil || len(again) != len(g) {
			t.Fatalf("%x is %v, and again %v, %v", body, g, again, err)
		}
		for i, s := range g {
			if again[i].value != s.value || !slices.Equal(again[i].slot, s.slot) {
				t.Fatalf("%x is %v, and again %v", body, g, again)
			}
		}
		if _, err := decodeCount(body); err == nil && len(body) > binaryMax {
			t.Fatalf("%x is a count", body)
		}
	})
}

// binaryMax is the maximum length of an encoded count.
const binaryMax = 10
