// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/locus-db/locus/internal/httpapi"
)

var goodSource = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,63}$`)

// tryString sends a string as every identifier and text: as key, source, optional text, required text, in the path, and
// in every search parameter.
func tryString(t *trial, e *badInput) {
	raw := e.bytes(t.T)
	token := quoted(raw)
	if e.As == "json" {
		token = string(raw)
	}
	source := "s" + strings.ToLower(e.ID)
	text := string(raw)

	key := t.post(batchOf(quoted([]byte(source)), token, `"name":"Key"`))
	switch verdict := e.Expect.Identifier; {
	case verdict == "kept" || verdict == "limit" && len(raw) <= 255:
		key.is(t, "as a key", http.StatusOK)
		if r, v := t.record(source, text); r.Key != text {
			t.Errorf("the key came back as %q: %s", r.Key, v.body)
		}
		t.send(http.MethodGet, "/v1/find?address="+url.QueryEscape(source+":"+text), nil).is(t, "as an address",
			http.StatusOK)
	default:
		key.check(t, e)
		if e.As != "json" && len(raw) < 8000 {
			_, v := t.record(source, text)
			v.is(t, "as a key in the path", slices.Concat(e.Expect.Status, []int{404})...)
			t.send(http.MethodGet, "/v1/find?address="+url.QueryEscape(source+":"+text), nil).is(t, "as an address",
				slices.Concat(e.Expect.Status, []int{404})...)
		}
	}

	named := t.post(batchOf(token, `"1"`, `"name":"Source"`))
	if e.As != "json" && goodSource.MatchString(text) {
		named.is(t, "as a source", http.StatusOK)
	} else {
		named.is(t, "as a source", 400, 413, 422)
	}

	described := t.post(batchOf(quoted([]byte(source)), `"text"`, `"name":"Text","description":`+token))
	required := t.post(batchOf(quoted([]byte(source)), `"name"`, `"name":`+token))
	switch e.Expect.Text {
	case "kept", "limit":
		described.is(t, "as a text", http.StatusOK)
		if r, v := t.record(source, "text"); !slices.Equal(r.Attributes["description"], []string{text}) {
			t.Errorf("the text came back as %q: %.300s", r.Attributes["description"], v.body)
		}
		required.is(t, "as a name", http.StatusOK)
		if r, _ := t.record(source, "name"); !slices.Equal(r.Attributes["name"], []string{text}) {
			t.Errorf("the name came back as %q", r.Attributes["name"])
		}
		t.send(http.MethodGet, "/v1/entities/"+required.result.Entity.String()+"/why", nil).is(t, "why", http.StatusOK)
	case "absent":
		described.is(t, "as an optional text", http.StatusOK)
		if r, _ := t.record(source, "text"); r.Attributes["description"] != nil {
			t.Errorf("a text that counts as not sent is stored: %q", r.Attributes["description"])
		}
		required.is(t, "as a required text", http.StatusUnprocessableEntity)
	default:
		described.check(t, e)
		required.check(t, e)
	}

	tryStringAsMetric(t, e, token, raw)

	for _, attribute := range []string{"phones", "websites", "emails", "category", "address", "vendor_id", "latitude", "postcode", "hours"} {
		t.post(batchOf(quoted([]byte(source)), quoted([]byte(attribute)), `"name":"Text","`+attribute+`":[`+token+`]`)).is(t,
			attribute, 200, 400, 413, 422)
	}
	t.post(batchOf(quoted([]byte(source)), `"1"`, `"name":"Name",`+token+`:"x"`)).is(t, "as the name of an attribute",
		400, 413, 422)
	if len(raw) > 8000 || e.As == "json" {
		return
	}
	searches := []string{"/v1/entities?q=", "/v1/entities?filter=name:", "/v1/entities?filter=phones:",
		"/v1/records?source="}
	for _, search := range searches {
		v := t.send(http.MethodGet, search+url.QueryEscape(text), nil)
		v.is(t, search, 200, 400, 414, 422)
		if utf8.Valid(raw) && len(raw) <= 256 && e.Expect.Text == "kept" && strings.HasSuffix(search, "q=") &&
			!strings.ContainsAny(text, "\t\n\r") {
			v.is(t, search, http.StatusOK)
		}
	}
	for _, search := range []string{"/v1/entities?has=" + url.QueryEscape(text), "/v1/entities/" + segment(text), "/v1/why-not?b=x:1&a=" + url.QueryEscape(text)} {
		t.send(http.MethodGet, search, nil).is(t, search, 400, 404, 414, 422)
	}
}

func segment(text string) string {
	path := httpapi.RecordPath("x", text)
	return strings.TrimPrefix(path, "/v1/records/x/")
}

// tryNumber sends a token as latitude, longitude, another attribute, and as the limit of a list.
func tryNumber(t *trial, e *badInput) {
	token := string(e.bytes(t.T))
	for attribute, limit := range map[string]float64{"latitude": 90, "longitude": 180} {
		v := t.post(batchOf(`"n"`, quoted([]byte(e.ID+attribute)), `"name":"Number","`+attribute+`":`+token))
		if !json.Valid([]byte(token)) || len(token) > 32 {
			v.is(t, attribute, http.StatusBadRequest)
			continue
		}
		degrees, err := strconv.ParseFloat(token, 64)
		if err != nil || degrees < -limit || degrees > limit {
			v.is(t, attribute, http.StatusUnprocessableEntity)
			continue
		}
		v.is(t, attribute, http.StatusOK)
		if r, _ := t.record("n", e.ID+attribute); !slices.Equal(r.Attributes[attribute], []string{token}) {
			t.Errorf("%s came back as %q", token, r.Attributes[attribute])
		}
	}
	for _, list := range []string{"/v1/entities", "/v1/records", "/v1/metrics"} {
		t.send(http.MethodGet, list+"?limit="+url.QueryEscape(token), nil).is(t, "as a limit", 400, 422)
	}
	tryNumberAsN(t, token, 400, 422)
}

// tryTime sends a time as observed_at.
func tryTime(t *trial, e *badInput) {
	text := inTime(string(e.bytes(t.T)))
	v := t.post([]byte(`{"records":[{"source":"d","key":` + quoted([]byte(e.ID)) + `,"observed_at":` + quoted([]byte(text)) + `,"attributes":{"name":"Time"}}]}`))
	switch e.ID {
	case "D10", "D16":
		v.is(t, "as the observed time of a record", http.StatusOK)
	case "D01", "D13":
		v.is(t, "as the observed time of a record", http.StatusUnprocessableEntity)
	default:
		v.check(t, e)
	}
	hit := t.hit("times", `"at":`+quoted([]byte(text)))
	switch e.ID {
	case "D07": // part of the day before may be too far in the future
		hit.is(t, "as the time of a hit", http.StatusOK)
	case "D16":
		hit.is(t, "as the time of a hit", http.StatusGone)
	default:
		hit.check(t, e)
	}
	if v.status == http.StatusOK {
		if r, got := t.record("d", e.ID); r.ObservedAt.IsZero() || !strings.HasSuffix(field(got.body, "observed_at"), "Z") {
			t.Errorf("came back as %s", got.body)
		}
	}
}

func field(body []byte, name string) string {
	var object map[string]any
	if json.Unmarshal(body, &object) != nil {
		return ""
	}
	text, _ := object[name].(string)
	return text
}

const goodRecord = `{"source":"j","key":"1","attributes":{"name":"Good"}}`

// documents applies the faults of the list to the smallest valid document of this API.
var documents = map[string]string{
	"J05": `{"records":[` + goodRecord + `]}{"records":[` + goodRecord + `]}`,
	"J06": `{"records":[` + goodRecord + `]}xyz`,
	"J08": `{"records":[` + goodRecord + `],"records":[]}`,
	"J09": `{"records":[` + goodRecord + `],"RECORDS":[]}`,
	"J10": `{"records":[` + goodRecord + `],"is_admin":true}`,
	"J11": `{"records":[{"source":"j","key":"1","puid":"1","cell":3,"created":"2020-01-01T00:00:00Z","attributes":{"name":"Good"}}]}`,
	"J12": `{"records":[` + goodRecord + `],}`,
	"J13": `{"records":`,
	"J20": `{"records":[` + goodRecord + `]}`,
	"J21": `{"records":[]}`,
	"J27": `{/*x*/"records":[` + goodRecord + `]}`,
	"J28": `{'records':[]}`,
	"J30": `{"records":[` + goodRecord + `]}`,
	"J31": `{records:[]}`,
}

// tryJSON sends invalid documents. None of them may store anything.
func tryJSON(t *trial, e *badInput) {
	switch e.ID {
	case "J24", "J25", "J26":
		tryKeys(t, e)
		return
	case "J19":
		body := gzipZeros(int64(e.Payload.Args[0].(float64)))
		defer body.Close()
		t.postStream(body, "Content-Encoding", "gzip").check(t, e)
	case "J20":
		t.post([]byte(documents[e.ID]), "Content-Type", "text/plain").check(t, e)
	case "J30":
		t.post([]byte(documents[e.ID]), "Content-Type", "").check(t, e)
	case "J22":
		t.post([]byte(`{"records":[`+list(1001, func(i int) string { return strings.Replace(goodRecord, `"1"`, `"`+strconv.Itoa(i)+`"`, 1) }, ",")+`]}`)).check(t, e)
	case "J23":
		v := t.post([]byte(`{"records":[` + strings.Replace(goodRecord, `"j"`, `"fine"`, 1) + `,{"source":"j","key":"","attributes":{"name":"Bad"}}]}`))
		v.is(t, "the bad item", http.StatusUnprocessableEntity)
		if r, got := t.record("fine", "1"); r.Version != 1 {
			t.Errorf("the good item: %s", got.body)
		}
	case "J33":
		t.postStream(openString(int64(e.Payload.Args[0].(float64)))).check(t, e)
	default:
		body := []byte(documents[e.ID])
		if len(body) == 0 {
			body = e.bytes(t.T)
		}
		t.post(body).check(t, e)
	}
	if v := t.send(http.MethodGet, "/v1/records?source=j", nil); string(bytes.TrimSpace(v.body)) != `{"records":[]}` {
		t.Errorf("a refused document stored %s", v.body)
	}
}

var puidIDs = []string{"I14", "I15", "I16", "I18", "I19", "I24"}

// tryID sends an id everywhere an id is accepted.
func tryID(t *trial, e *badInput) {
	switch e.ID {
	case "I17":
		for _, c := range t.svc.Cells().Map().Cells() {
			if _, last := t.svc.Cells().Map().PuidRange(c); last < 1<<62 {
				t.send(http.MethodGet, "/v1/find?address="+strconv.FormatInt(last+1, 10), nil).check(t, e)
				return
			}
		}
		return // a single cell covers all numbers
	case "I20":
		t.post([]byte(`{"records":[{"source":"i","key":"1","puid":9007199254740993,"attributes":{"name":"Number"}}]}`)).check(t, e)
		return
	case "I21":
		tryRedirect(t, e)
		return
	case "I25":
		first := t.post(batchOf(`"i"`, `"erased"`, `"name":"Erased Marker Quagga"`)).result
		t.send(http.MethodDelete, "/v1/records/i/erased", nil).is(t, "delete", http.StatusOK)
		for _, path := range []string{"/v1/entities/" + first.Entity.String(), "/v1/records/i/erased", "/v1/find?address=" + first.PUID.String()} {
			v := t.send(http.MethodGet, path, nil)
			v.check(t, e)
			if bytes.Contains(v.body, []byte("Quagga")) {
				t.Errorf("%s: %s", path, v.body)
			}
		}
		if v := t.send(http.MethodGet, "/v1/entities?q=quagga", nil); bytes.Contains(v.body, []byte("Quagga")) {
			t.Errorf("still found: %s", v.body)
		}
		return
	}
	text := string(e.bytes(t.T))
	if text == "" {
		t.send(http.MethodGet, "/v1/entities/", nil).check(t, e)
	} else if slices.Contains(puidIDs, e.ID) {
		t.send(http.MethodGet, "/v1/entities/"+segment(text), nil).is(t, "a puid as an entity id",
			http.StatusUnprocessableEntity)
	} else {
		t.send(http.MethodGet, "/v1/entities/"+segment(text), nil).check(t, e)
		t.send(http.MethodGet, "/v1/entities/"+segment(text)+"/why", nil).check(t, e)
	}
	for _, path := range []string{"/v1/find?address=", "/v1/why-not?b=i:none&a="} {
		v := t.send(http.MethodGet, path+url.QueryEscape(text), nil)
		if strings.HasPrefix(text, "urn:") {
			v.is(t, "an address of the source urn", http.StatusNotFound)
			continue
		}
		v.check(t, e)
	}
	t.send(http.MethodGet, "/v1/route?address="+url.QueryEscape(text), nil).is(t, "route", 200, 404, 422)
}

func tryRedirect(t *trial, e *badInput) {
	alike := `"name":"Okapi Bookshop","phones":"(415) 555-0177","address":"77 Rift Road","city":"Springfield"`
	first := t.post(batchOf(`"i"`, `"a"`, alike)).result
	second := t.post(batchOf(`"i2"`, `"b"`, `"name":"Entirely Different"`)).result
	t.post(batchOf(`"i2"`, `"b"`, alike)).is(t, "merge", http.StatusOK)
	survivor, _ := t.record("i2", "b")
	for _, id := range []string{first.Entity.String(), second.Entity.String()} {
		v := t.send(http.MethodGet, "/v1/entities/"+id, nil)
		v.check(t, e)
		if got := field(v.body, "id"); got != survivor.Entity.String() {
			t.Errorf("%s leads to %s, not to %v", id, got, survivor.Entity)
		}
	}
}

// attributeNames maps the attribute names of the list to the names of the kind.
var attributeNames = strings.NewReplacer(`"phone"`, `"phones"`, `"street"`, `"address"`, `"lat"`, `"latitude"`, `"lon"`,
	`"longitude"`, `"website"`, `"websites"`)

// tryRecord sends unusual records.
func tryRecord(t *trial, e *badInput) {
	if tryDecision(t, e) {
		return
	}
	phone := `"phones":"(415) 555-0199"`
	switch e.ID {
	case "P05":
		const n = 1000 // the list has ten times as many
		for at := 0; at < n; at += 500 {
			t.post([]byte(`{"records":[`+list(500, func(i int) string {
				return fmt.Sprintf(`{"source":"p5","key":"%d","attributes":{"name":"%s",%s}}`, at+i,
					randomASCII(12, uint32(at+i)), phone)
			}, ",")+`]}`)).check(t, e)
		}
		v := t.send(http.MethodGet, "/v1/find?address=p5:0", nil)
		var entity httpapi.Entity
		if err := json.Unmarshal(v.body, &entity); err != nil || entity.Records > 10 {
			t.Errorf("an entity of %d records: %v", entity.Records, err)
		}
	case "P08":
		t.post(batchOf(`"p"`, `"8"`, `"name":"Long","address":`+quoted(e.bytes(t.T)))).check(t, e)
	case "P09":
		record := batchOf(`"p"`, `"9"`, `"name":"Twice"`)
		t.post(record).check(t, e)
		if v := t.post(record); v.result.Outcome != "unchanged" || v.result.Version != 1 {
			t.Errorf("the second time: %+v", v.result)
		}
	case "P18":
		stay := `"name":"Ocelot Laundry","phones":"(415) 555-0144","address":"4 Dune Street","city":"Springfield"`
		move := `"name":"Pangolin Dentist","phones":"(415) 555-0155","address":"5 Reef Street","city":"Riverside"`
		a, b := t.post(batchOf(`"p18"`, `"a"`, stay)).result, t.post(batchOf(`"p18b"`, `"b"`, stay)).result
		if a.Entity != b.Entity {
			t.Fatalf("not joined: %+v %+v", a, b)
		}
		moved := t.post(batchOf(`"p18b"`, `"b"`, move))
		moved.check(t, e)
		v := t.send(http.MethodGet, "/v1/find?address=p18:a", nil)
		if moved.result.Entity == a.Entity || bytes.Contains(v.body, []byte("Pangolin")) ||
			field(v.body, "id") != a.Entity.String() {
			t.Errorf("it left a trace: %s", v.body)
		}
	case "P20":
		const n = 1000
		for at := 0; at < n; at += 250 {
			t.post([]byte(`{"records":[`+list(250, func(i int) string {
				return fmt.Sprintf(`{"source":"p20-%d","key":"1","attributes":{"name":"Wombat Aquarium","phones":"(415) 555-0166","address":"6 Bay Street","city":"Springfield"}}`, at+i)
			}, ",")+`]}`)).check(t, e)
		}
		v := t.send(http.MethodGet, "/v1/find?address=p20-0:1", nil)
		v.is(t, "read", http.StatusOK)
		t.send(http.MethodDelete, "/v1/records/p20-500/1", nil).is(t, "erase", http.StatusOK)
	case "P22":
		t.post(batchOf(`"p"`, `"22"`, `"name":"Deep","category":`+quoted([]byte(list(100, strconv.Itoa, " > "))))).check(t, e)
	default:
		record := attributeNames.Replace(string(e.bytes(t.T)))
		if !strings.Contains(record, `"name"`) {
			record = strings.Replace(record, `"attributes":{`, `"attributes":{"name":"Strange `+e.ID+`",`, 1)
		}
		record = strings.NewReplacer(`"source":"x"`, `"source":"p"`, `"key":"1"`, `"key":"`+e.ID+`"`).Replace(record)
		v := t.post([]byte(`{"records":[` + record + `]}`))
		v.check(t, e)
		if v.status == http.StatusOK && v.result.Outcome != "created" {
			t.Errorf("merged with another: %+v", v.result)
		}
	}
}

// tryQuery sends queries to both lists.
func tryQuery(t *trial, e *badInput) {
	lists := []string{"/v1/entities", "/v1/records"}
	switch e.ID {
	case "Q07", "Q08", "Q14", "Q18":
		tryCursor(t, e)
		return
	case "Q11", "Q12":
		lists = lists[:1]
	}
	for _, list := range lists {
		t.send(http.MethodGet, list+"?"+string(e.bytes(t.T)), nil).check(t, e)
	}
}

func tryCursor(t *trial, e *badInput) {
	for i := range 4 {
		t.putKept("q", e.ID+strconv.Itoa(i), "description", "paged")
	}
	page := func(query string) (list httpapi.RecordList, v verdict) {
		v = t.send(http.MethodGet, "/v1/records?"+query, nil)
		_ = json.Unmarshal(v.body, &list)
		return list, v
	}
	first, _ := page("source=q&limit=2")
	switch e.ID {
	case "Q07":
		raw, err := base64.RawURLEncoding.DecodeString(first.Cursor)
		if err != nil || len(raw) == 0 {
			t.Fatalf("cursor %q: %v", first.Cursor, err)
		}
		for bit := range 8 * len(raw) {
			raw[bit/8] ^= 1 << (bit % 8)
			_, v := page("source=q&limit=2&cursor=" + base64.RawURLEncoding.EncodeToString(raw))
			v.check(t, e)
			raw[bit/8] ^= 1 << (bit % 8)
		}
	case "Q08":
		gone := first.Records[1].Key
		t.send(http.MethodDelete, httpapi.RecordPath("q", gone), nil).is(t, "delete", http.StatusOK)
		rest, v := page("source=q&limit=1000&cursor=" + first.Cursor)
		v.check(t, e)
		if len(rest.Records) == 0 || rest.Records[0].PUID <= first.Records[1].PUID {
			t.Errorf("goes on with %s", v.body)
		}
	case "Q14":
		_, v := page("source=other&limit=2&cursor=" + first.Cursor)
		v.check(t, e)
	case "Q18":
		t.send(http.MethodGet, "/v1/entities?cursor="+first.Cursor, nil).check(t, e)
	}
}
