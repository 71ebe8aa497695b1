// SPDX-License-Identifier: Apache-2.0

package export

import (
	"context"
	"iter"
	"slices"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/match"
)

// What selects a table.
type What string

// The tables.
const (
	Records   What = "records"   // a row for each live record, with all its attributes
	Entities  What = "entities"  // a row for each entity, with its merged view
	Links     What = "links"     // a row for each live record, with its entity
	Decisions What = "decisions" // a row for each decision that counts, by SOURCE:KEY
)

// All are the tables.
var All = []What{Records, Entities, Links, Decisions}

// Names of columns that are not attributes.
const (
	columnSource   = "source"
	columnKey      = "key"
	columnOp       = "op"
	columnKind     = "kind"
	columnObserved = "observed_at"
	columnEntity   = "entity"
	columnPUID     = "puid"
	columnVersion  = "version"
	columnInto     = "into"
	columnRecords  = "records"
)

// Values of the column op, which tables since a watermark have.
const (
	OpUpsert   = "upsert"   // the row is new or has changed
	OpRedirect = "redirect" // the entity was merged into the one in the column into
	OpDelete   = "delete"   // the row was deleted; only entity is set, or puid for a record
)

// UsualColumns in a list of columns means the usual columns, without those that the list names.
const UsualColumns = "*"

// Query selects the rows and columns of a table.
type Query struct {
	Kind   string // only this kind; "" for all. Not for decisions
	Source string // only this source, and the entities with a record of it; "" for all. Not for decisions
	// Columns are the names of the columns, in order; nil for the usual ones. Others that exist are entity, puid and
	// version of records, puid of links, and at, entity_a and entity_b of decisions; UsualColumns stands for the usual
	// ones.
	Columns []string
	// Since selects what has changed after a watermark, with the column op; nil selects everything. Not for decisions.
	// A cell that the watermark does not name is read from the beginning of its log.
	Since changelog.Watermark
	// Kinds are the kinds that the reader may see, nil for all; others are not listed. With Kinds, Since is refused,
	// because the kind of deleted rows is unknown. Hide are attributes whose values the reader may not see: they have
	// no column.
	Kinds, Hide []string
}

func (q *Query) sees(kind string) bool { return q.Kinds == nil || slices.Contains(q.Kinds, kind) }

// Table is a table that can be read.
type Table struct {
	Columns []exchange.Column
	// Watermark is the end of the logs before the first row is read.
	Watermark changelog.Watermark
	// Rows are the rows. A row is valid until the next one. They can be read again, which reads the cells again.
	Rows iter.Seq2[exchange.Row, error]

	several bool // columns that are no lists may have several values
}

// Open prepares a table. The error is a *locus.InvalidError for an invalid query, whose pointers name its fields, and
// locus.ErrUnavailable if a cell cannot be read. Reading rows since a watermark ends with changelog.ErrTrimmed if
// changes after it are no longer in the logs.
func Open(ctx context.Context, db *locus.DB, what What, q Query) (*Table, error) {
	if !slices.Contains(All, what) {
		return nil, problem.Invalid("/what", "invalid",
			"there is no table %.20q: there are records, entities, links and decisions", what)
	}
	if what == Decisions && (q.Kind != "" || q.Source != "" || q.Since != nil) {
		return nil, problem.Invalid("/what", "invalid", "decisions are exported as a whole: without kind, source and since")
	}
	if q.Kinds != nil && q.Since != nil {
		return nil, problem.Invalid("/since", "invalid",
			"you see some kinds only, and the kind of what was deleted is not known: export everything")
	}
	kinds, err := kindsOf(db, &q)
	if err != nil {
		return nil, err
	}
	t := &Table{}
	if t.Watermark, err = db.Changes().Tail(ctx, nil); err != nil {
		return nil, err
	}
	b := &builder{db: db, query: q}
	switch what {
	case Records:
		b.fixed(columnSource, columnKey)
		b.op(columnPUID)
		b.fixed(columnKind, columnObserved)
		b.attributes(kinds)
		b.usual = len(b.columns)
		b.fixed(columnEntity, columnVersion)
		if q.Since == nil {
			b.fixed(columnPUID)
		}
		t.Rows, t.several = b.records(ctx, false), true
	case Links:
		b.fixed(columnSource, columnKey)
		b.op(columnPUID)
		b.fixed(columnKind, columnEntity)
		b.usual = len(b.columns)
		if q.Since == nil {
			b.fixed(columnPUID)
		}
		t.Rows = b.records(ctx, true)
	case Entities:
		b.fixed(columnEntity)
		b.op(columnInto)
		b.fixed(columnKind)
		b.columns = append(b.columns, exchange.Column{Name: columnRecords, Many: true})
		b.attributes(kinds)
		b.usual = len(b.columns)
		t.Rows = b.entities(ctx)
	case Decisions:
		b.fixed("verdict", "a", "b", "attribute", "value", "author", "reason")
		b.usual = len(b.columns)
		b.fixed("at", "by", "entity_a", "entity_b")
		t.Rows = b.decisions(ctx)
	}
	if err := b.choose(t); err != nil {
		return nil, err
	}
	return t, nil
}

// kindsOf returns the kind of a query, or all kinds that the reader may see.
func kindsOf(db *locus.DB, q *Query) ([]*match.Schema, error) {
	if q.Kind == "" {
		return slices.DeleteFunc(slices.Clone(db.Kinds().Schemas()), func(s *match.Schema) bool { return !q.sees(s.Kind) }), nil
	}
	kind := db.Kinds().Schema(q.Kind)
	if kind == nil || !q.sees(kind.Kind) {
		return nil, problem.Invalid("/kind", "unknown_kind", "there is no kind %.64q", q.Kind)
	}
	return []*match.Schema{kind}, nil
}

// MarkLists reads all rows once and turns every column that has several values in some row into a list: a source may
// send alternatives for an attribute with one value, which only such a column of CSV can hold. Writing CSV fails at a
// row with several values in any other column.
func (t *Table) MarkLists() error {
	if !t.several {
		return nil
	}
	for row, err := range t.Rows {
		if err != nil {
			return err
		}
		for i, values := range row {
			if len(values) > 1 {
				t.Columns[i].Many = true
			}
		}
	}
	return nil
}
