// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/sinks"
	"github.com/locus-db/locus/sources"
)

// Format is the version of the format. A reader refuses higher ones.
const Format = 3

// The types of lines, in the order of the file.
const (
	typeHeader   = "locus dump"
	typeRules    = "rules"
	typeTerms    = "terms"
	typeRollup   = "rollup"
	typeSink     = "sink"
	typeSource   = "source"
	typeImport   = "import"
	typeDecision = "decision"
	typeRecord   = "record"
	typeDeleted  = "deleted"
	typeBirth    = "birth"
	typeMetric   = "metric"
	typeBucket   = "bucket"
	typeDay      = "day"
	typeBatch    = "batch"
	typeHorizon  = "horizon"
	typeEnd      = "end"
)

// Header is the first line.
type Header struct {
	Type   string `json:"type"`
	Format int    `json:"format"`
	// Matcher identifies the code that made the entities.
	Matcher string `json:"matcher"`
	// Map is the id of the cell map, Cells the number of cells.
	Map   string `json:"map"`
	Cells int    `json:"cells"`
	// Salt of the digests of deleted keys.
	Salt hexBytes `json:"salt"`
	// At is when the snapshots were opened, Watermark the end of each cell's log in its snapshot.
	At        time.Time `json:"at"`
	Watermark string    `json:"watermark"`
}

type rulesLine struct {
	Type  string          `json:"type"`
	Rules json.RawMessage `json:"rules"` // as package resolve stores them
}

type termsLine struct {
	Type string `json:"type"`
	Hash string `json:"hash"`
	Body []byte `json:"body"`
}

type rollupLine struct {
	Type       string            `json:"type"`
	Definition rollup.Definition `json:"definition"`
}

type sinkLine struct {
	Type string `json:"type"`
	sinks.Dumped
}

type sourceLine struct {
	Type string `json:"type"`
	sources.Dumped
}

type importLine struct {
	Type   string `json:"type"`
	Source string `json:"source"`
	sources.Import
}

type decisionLine struct {
	Type string `json:"type"`
	entity.Decision
}

type recordLine struct {
	Type       string            `json:"type"`
	PUID       entity.PUID       `json:"puid"` // the number that decisions of the same file name
	Source     string            `json:"source"`
	Key        string            `json:"key"`
	Kind       string            `json:"kind"`
	Version    int64             `json:"version"`
	Birth      locality.ID       `json:"birth"`
	Observed   time.Time         `json:"observed_at"`
	Attributes entity.Attributes `json:"attributes"`
}

type deletedLine struct {
	Type    string      `json:"type"`
	PUID    entity.PUID `json:"puid"`
	Key     hexBytes    `json:"key"` // ring position and salted digest, 24 bytes
	Version int64       `json:"version"`
	Birth   locality.ID `json:"birth,omitzero"` // zero if the record was erased
}

type birthLine struct {
	Type      string      `json:"type"`
	ID        locality.ID `json:"id"`
	Successor locality.ID `json:"successor,omitzero"`
}

type metricLine struct {
	Type  string         `json:"type"`
	Name  counter.Metric `json:"name"`
	Kind  string         `json:"kind"`  // counter or gauge
	First int64          `json:"first"` // day since 1970
}

type bucketLine struct {
	Type   string         `json:"type"`
	Table  string         `json:"table"`
	Metric counter.Metric `json:"metric"`
	Unit   int64          `json:"unit"` // hour, quarter of an hour or day since 1970
	Values []int64        `json:"values"`
}

type dayLine struct {
	Type   string         `json:"type"`
	Metric counter.Metric `json:"metric"`
	Unit   int64          `json:"unit"` // day since 1970
	N      int64          `json:"n"`
	Detail counter.Detail `json:"detail"`
	Body   []byte         `json:"body"` // sealed for metric 0
}

// batchLine is a dedup record: of a batch with a key, or of the last one of a producer.
type batchLine struct {
	Type     string      `json:"type"`
	Key      counter.Key `json:"key,omitempty"`
	Producer hexBytes    `json:"producer,omitempty"`
	Seq      uint64      `json:"seq,omitempty,string"`
	Newest   int64       `json:"newest"` // milliseconds since 1970
	Digest   hexBytes    `json:"digest"`
	Results  []byte      `json:"results,omitempty"` // bitmap of the counted hits; none if all were counted
}

type horizonLine struct {
	Type    string `json:"type"`
	Horizon int64  `json:"horizon"` // milliseconds since 1970
}

// Totals are the numbers of things in a dump.
type Totals struct {
	Records   int64 `json:"records"`
	Deleted   int64 `json:"deleted"`
	Births    int64 `json:"births"` // ids whose record is deleted
	Decisions int64 `json:"decisions"`
	Rollups   int64 `json:"rollups"`
	Sinks     int64 `json:"sinks"`
	Sources   int64 `json:"sources"` // streams
	Imports   int64 `json:"imports"` // the last ones of sources
	Metrics   int64 `json:"metrics"`
	Buckets   int64 `json:"buckets"`
	Batches   int64 `json:"batches"`
}

// End is the last line.
type End struct {
	Type string `json:"type"`
	Totals
	Entities int64 `json:"entities"`
	// Hash is over the id and the sorted keys of each entity, "" if Unsettled.
	Hash string `json:"hash"`
	// Unsettled is the reason why entities did not follow from the records when the dump was taken, "" if they did.
	Unsettled string `json:"unsettled,omitempty"`
}

type hexBytes []byte

// MarshalText returns the hexadecimal form.
func (b hexBytes) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, b), nil }

// UnmarshalText parses the hexadecimal form.
func (b *hexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.AppendDecode(nil, text)
	return err
}

// keyBytes returns a key as in a line.
func keyBytes(k cell.Key) hexBytes {
	return append(binary.BigEndian.AppendUint64(nil, uint64(k.Ring)), k.Digest[:]...)
}

// parseKey parses the result of keyBytes.
func parseKey(b hexBytes) (k cell.Key, err error) {
	if len(b) != 24 {
		return k, fmt.Errorf("a key has 24 bytes, not %d", len(b))
	}
	return cell.Key{Ring: int64(binary.BigEndian.Uint64(b)), Digest: [16]byte(b[8:])}, nil
}

// bucketTable is a table of buckets, with its names in a dump and in a cell.
type bucketTable struct {
	name, row string
	table     counter.Table
}

// tables are the tables of buckets. Days precede their hours, because an hour exists only within a day.
var tables = []bucketTable{
	{"days", "counter_day", counter.Days},
	{"hours", "counter_hour", counter.Hours},
	{"gauge_days", "gauge_day", counter.GaugeDays},
	{"gauge_quarters", "gauge_quarter", counter.GaugeQuarters},
}

func writeLine(w io.Writer, value any) error {
	var l lines
	if err := l.put(value); err != nil {
		return err
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	if _, err := z.Write(l.Bytes()); err != nil {
		return err
	}
	return z.Close()
}
