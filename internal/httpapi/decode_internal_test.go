// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/strictjson"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve"
)

// FuzzDecodePut looks for a document that is neither accepted nor rejected as documented, and for values that change.
func FuzzDecodePut(f *testing.F) {
	for _, seed := range []string{
		`{"records":[{"source":"a","key":"1","attributes":{"name":"x","phones":["1",2]}}]}`,
		`{"records":[{"source":"a","key":"1","observed_at":"2026-01-01T00:00:00Z","attributes":{"name":["x"]}},17,{}]}`,
		`{"records":[{"attributes":{"a/b~c":null}}]}`, `{"records":{}}`, `[]`, `{"records":[{"source":1}]}`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		items, err := decodePut(body)
		if err != nil {
			if fault := toFault(err, ""); fault.Code == CodeInternal || !utf8.ValidString(fault.Detail+fault.Pointer) {
				t.Fatalf("%v becomes %+v", err, fault)
			}
			return
		}
		var standard struct {
			Records []json.RawMessage
		}
		if err := json.Unmarshal(body, &standard); err != nil || len(standard.Records) != len(items) {
			t.Fatalf("%d items of %s: %v", len(items), body, err)
		}
		for i, it := range items {
			if it.fault != nil {
				if !strings.HasPrefix(it.fault.Pointer, itemPointer("records", i)) || len(it.fault.Detail) > 700 {
					t.Fatalf("item %d: %+v", i, it.fault)
				}
				continue
			}
			var in struct {
				Source, Key string
				Attributes  map[string]any
			}
			if err := json.Unmarshal(standard.Records[i], &in); err != nil || in.Source != it.put.Source || in.Key != it.put.Key {
				t.Fatalf("item %d of %s: %+v, %v", i, body, it.put, err)
			}
			for name, values := range it.put.Attributes {
				if text, ok := in.Attributes[name].(string); ok && (len(values) != 1 || values[0] != text) {
					t.Fatalf("item %d: %s is %q, sent %q", i, name, values, text)
				}
			}
		}
	})
}

// FuzzParseQuery checks the strict parser: each parameter once, all valid UTF-8.
func FuzzParseQuery(f *testing.F) {
	for _, seed := range []string{"a=1&b=2", "a=%zz", "a;b", "a=1&a=2", "%ff=1", "&&", "=", "a=b=c", "q=%25_"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		query, err := parseQuery(raw)
		if err != nil {
			if fault := toFault(err, ""); codes[fault.Code].status != 400 || !utf8.ValidString(fault.Detail) {
				t.Fatalf("%+v", fault)
			}
			return
		}
		if raw != "" && len(query) != strings.Count(raw, "&")+1 {
			t.Fatalf("%q gives %v", raw, query)
		}
		for name, value := range query {
			if !utf8.ValidString(name) || !utf8.ValidString(value) {
				t.Fatalf("%q gives %q=%q", raw, name, value)
			}
		}
	})
}

func batch(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"records":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"source":"guide","key":"%06d","observed_at":"2026-01-02T03:04:05Z","attributes":{"name":"Joe's Pizza %d",`+
			`"phones":["+1 415 555 0123"],"address":"%d Main Street","city":"San Francisco","region":"CA","postcode":"94103",`+
			`"latitude":37.7750,"longitude":-122.4183,"websites":["https://joes.example/"],"category":"food > pizza"}}`, i, i, i)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

func TestDecodePut_AgreesWithItsOwnRequestType(t *testing.T) {
	t.Parallel()
	request := PutRequest{Records: []RecordInput{
		{Source: "a", Key: "k\u00e9y/\U0001F600", ObservedAt: "2026-01-02T03:04:05Z",
			Attributes: Attributes{"name": {"x <&> \u2028"}, "phones": {"1", "2"}}},
		{Source: "b", Key: "2", Attributes: Attributes{"name": {"y"}}},
	}}
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	items, err := decodePut(body)
	if err != nil || len(items) != 2 {
		t.Fatalf("%v, %v", items, err)
	}
	for i, it := range items {
		in := request.Records[i]
		if it.fault != nil || it.put.Ref != (entity.Ref{Source: in.Source, Key: in.Key}) ||
			fmt.Sprint(it.put.Attributes) != fmt.Sprint(entity.Attributes(in.Attributes)) {
			t.Errorf("%+v, want %+v", it, in)
		}
	}
	if it := items[1]; !it.put.Observed.IsZero() {
		t.Errorf("observed at %v, want now", it.put.Observed)
	}
}

func TestDecodePut_DepthComesBeforeShape(t *testing.T) {
	t.Parallel()
	if _, err := decodePut([]byte(strings.Repeat("[", 9999) + strings.Repeat("]", 9999))); !errors.Is(err, strictjson.ErrDepth) {
		t.Errorf("%v", err)
	}
}

// BenchmarkDecode decodes 1,000 records from bytes to inputs.
func BenchmarkDecode(b *testing.B) {
	body := batch(1000)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decodePut(body); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/record")
}

// BenchmarkEncode encodes 1,000 results.
func BenchmarkEncode(b *testing.B) {
	answer := PutResponse{}
	for i := range 1000 {
		answer.Results = append(answer.Results, PutResult{
			Source: "guide", Key: fmt.Sprintf("%06d", i), PUID: entity.PUID(i + 1), Version: 1,
			Entity: locality.MustParse("20be0ffc-314a-bd53-7a50-013a65ca76d2"), Outcome: resolve.Created,
		})
	}
	b.ReportAllocs()
	for b.Loop() {
		var body bytes.Buffer
		if err := json.NewEncoder(&body).Encode(answer); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/record")
}
