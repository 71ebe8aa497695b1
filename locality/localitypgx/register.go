// SPDX-License-Identifier: Apache-2.0

package localitypgx

import (
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/locus-db/locus/locality"
)

// Register makes m write and read locality.ID and locality.NullID, values and pointers, as uuid, in text and in binary,
// alone and in arrays; other types are unaffected. As in [locality.ID.Scan], NULL sets an ID to Nil(). A pgtype.Map
// belongs to a connection, so call Register in AfterConnect; it is not safe for concurrent use.
func Register(m *pgtype.Map) {
	before, _ := m.TypeForOID(pgtype.UUIDOID) // every Map has it
	m.RegisterType(&pgtype.Type{Name: before.Name, OID: before.OID, Codec: codec{before.Codec}})

	// For statements whose parameter types are not known from the server, as in the simple protocol.
	for _, value := range []any{locality.ID{}, &locality.ID{}, locality.NullID{}, &locality.NullID{}} {
		m.RegisterDefaultPgType(value, "uuid")
	}
	for _, value := range []any{[]locality.ID{}, []locality.NullID{}} {
		m.RegisterDefaultPgType(value, "_uuid")
	}
}

// codec plans for IDs, and delegates everything else to the previous codec.
type codec struct{ pgtype.Codec }

// PlanEncode returns a plan for values of package locality, otherwise that of the previous codec.
func (c codec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	switch value.(type) {
	case locality.ID, *locality.ID, locality.NullID, *locality.NullID:
		return plan(format)
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

// PlanScan returns a plan for targets of package locality, otherwise that of the previous codec.
func (c codec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	switch target.(type) {
	case *locality.ID, *locality.NullID:
		return plan(format)
	}
	return c.Codec.PlanScan(m, oid, format, target)
}

// plan writes and reads IDs in a format: text or binary.
type plan int16

// Encode appends value to buf. A nil result means NULL.
func (format plan) Encode(value any, buf []byte) ([]byte, error) {
	id, ok := idOf(value)
	switch {
	case !ok:
		return nil, nil
	case format == pgtype.TextFormatCode:
		return id.AppendText(buf)
	default:
		return id.AppendBinary(buf)
	}
}

// idOf returns the ID of a value that codec plans for; ok is false for NULL.
func idOf(value any) (id locality.ID, ok bool) {
	switch value := value.(type) {
	case locality.ID:
		return value, true
	case *locality.ID:
		return *value, true // pgx itself maps nil pointers to NULL
	case locality.NullID:
		return value.ID, value.Valid
	case *locality.NullID:
		return value.ID, value.Valid
	}
	return locality.ID{}, false
}

// Scan reads src into target; src is nil for NULL. After an error target is unchanged.
func (format plan) Scan(src []byte, target any) error {
	var id locality.ID
	var err error
	switch {
	case src == nil:
	case format == pgtype.TextFormatCode:
		id, err = locality.ParseBytes(src)
	default:
		id, err = locality.FromBytes(src)
	}
	if err != nil {
		return err
	}
	switch target := target.(type) {
	case *locality.ID:
		*target = id
	case *locality.NullID:
		*target = locality.NullID{ID: id, Valid: src != nil}
	}
	return nil
}
