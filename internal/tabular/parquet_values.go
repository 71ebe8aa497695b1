// SPDX-License-Identifier: Apache-2.0

package tabular

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// walk calls leaf for the leaves of a column in order, with the path that JSON of the same content would have: a list
// has the path of its values, unless these are objects or lists. inList reports that column is the element of a list.
func walk(column *parquet.Column, path string, inList bool, leaf func(*parquet.Column, string)) {
	switch {
	case column.Repeated() && !inList:
		walk(column, path, true, leaf)
	case column.Leaf():
		leaf(column, path)
	default:
		if element := elementOf(column); element != nil {
			if inList {
				path += "[]"
			}
			walk(element, path, true, leaf)
			return
		}
		if pairs := pairsOf(column); pairs != nil {
			column, inList = pairs, true
		}
		if inList {
			path += "[]"
		}
		for _, field := range column.Columns() {
			walk(field, strings.TrimPrefix(path+"."+field.Name(), "."), false, leaf)
		}
	}
}

// elementOf returns the element of a LIST, nil for any other group. Writers name the repeated group and the element as
// they like; a repeated field that is a leaf or has several fields is the element itself.
func elementOf(column *parquet.Column) *parquet.Column {
	fields := column.Columns()
	if len(fields) != 1 || !fields[0].Repeated() {
		return nil
	}
	logical := column.Type().LogicalType()
	if logical == nil {
		return nil
	}
	if _, list := logical.Value.(*format.ListType); !list {
		return nil
	}
	if inner := fields[0].Columns(); len(inner) == 1 && fields[0].Name() != "array" && fields[0].Name() != column.Name()+"_tuple" {
		return inner[0]
	}
	return fields[0]
}

// pairsOf returns the repeated group of a MAP, whose fields are a key and a value, nil for any other group.
func pairsOf(column *parquet.Column) *parquet.Column {
	fields := column.Columns()
	logical := column.Type().LogicalType()
	if len(fields) != 1 || !fields[0].Repeated() || logical == nil {
		return nil
	}
	if _, isMap := logical.Value.(*format.MapType); !isMap {
		return nil
	}
	return fields[0]
}

// textOf returns a function that writes values of a type, or the reason why they have no text, or neither for the type
// of nulls. The function reports false for values that count as null, such as NaN.
func textOf(t parquet.Type) (text func(parquet.Value) (string, bool), binary string) {
	if logical := t.LogicalType(); logical != nil {
		switch of := logical.Value.(type) {
		case *format.DecimalType:
			return func(v parquet.Value) (string, bool) { return decimal(unscaled(v), int(of.Scale)), true }, ""
		case *format.DateType:
			return func(v parquet.Value) (string, bool) {
				return time.Unix(int64(v.Int32())*86400, 0).UTC().Format(time.DateOnly), true
			}, ""
		case *format.TimeType:
			unit := durationOf(of.Unit)
			return func(v parquet.Value) (string, bool) {
				return time.Unix(0, integer(v)*unit).UTC().Format("15:04:05.999999999"), true
			}, ""
		case *format.TimestampType:
			return timestamps(durationOf(of.Unit), of.IsAdjustedToUTC), ""
		case *format.IntType:
			if !of.IsSigned {
				return func(v parquet.Value) (string, bool) { return unsigned(v), true }, ""
			}
		case *format.UUIDType:
			return func(v parquet.Value) (string, bool) { return dashed(v.ByteArray()), true }, ""
		case *format.StringType, *format.EnumType, *format.JsonType:
			return plain, ""
		case *format.BsonType:
			return nil, "BSON"
		case *format.GeometryType, *format.GeographyType:
			return nil, "a binary geometry"
		case *format.Float16Type:
			return nil, "numbers of 16 bits"
		case *format.NullType: // a column of nulls, as pandas writes it
			return nil, ""
		}
	}
	switch t.Kind() {
	case parquet.Boolean:
		return func(v parquet.Value) (string, bool) { return strconv.FormatBool(v.Boolean()), true }, ""
	case parquet.Int32, parquet.Int64:
		return func(v parquet.Value) (string, bool) { return strconv.FormatInt(integer(v), 10), true }, ""
	case parquet.Int96:
		return func(v parquet.Value) (string, bool) { return FormatTime(int96(v.Int96())), true }, ""
	case parquet.Float:
		return func(v parquet.Value) (string, bool) { return FormatFloat(float64(v.Float()), 32) }, ""
	case parquet.Double:
		return func(v parquet.Value) (string, bool) { return FormatFloat(v.Double(), 64) }, ""
	case parquet.ByteArray:
		return plain, ""
	case parquet.FixedLenByteArray:
		return nil, "bytes of a fixed length"
	}
	return nil, "of a type that is not known"
}

// checkType refuses integers of a size that their values cannot have: the library would read others.
func checkType(path string, t parquet.Type) error {
	logical := t.LogicalType()
	if logical == nil {
		return nil
	}
	if of, integer := logical.Value.(*format.IntType); integer {
		switch kind := t.Kind(); {
		case kind == parquet.Int64 && of.BitWidth == 64:
		case kind == parquet.Int32 && (of.BitWidth == 8 || of.BitWidth == 16 || of.BitWidth == 32):
		default:
			return fmt.Errorf("column %.60q has integers of %d bits as %v", path, of.BitWidth, kind)
		}
	}
	return nil
}

func plain(v parquet.Value) (string, bool) { return string(v.ByteArray()), true }

func integer(v parquet.Value) int64 {
	if v.Kind() == parquet.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

func unsigned(v parquet.Value) string {
	if v.Kind() == parquet.Int32 {
		return strconv.FormatUint(uint64(v.Uint32()), 10)
	}
	return strconv.FormatUint(v.Uint64(), 10)
}

// durationOf returns a unit in nanoseconds.
func durationOf(unit format.TimeUnit) int64 {
	if unit.Value == nil {
		return 1
	}
	return int64(unit.Value.Duration())
}

// timestamps returns the text of times that count units of nanoseconds: in UTC with a Z, or without a zone.
func timestamps(unit int64, utc bool) func(parquet.Value) (string, bool) {
	perSecond := int64(time.Second) / unit
	return func(v parquet.Value) (string, bool) {
		n := integer(v)
		seconds, rest := n/perSecond, n%perSecond
		at := time.Unix(seconds, rest*unit).UTC()
		if utc {
			return FormatTime(at), true
		}
		return FormatLocal(at), true
	}
}

// int96 returns the time that Impala and old versions of Spark write: nanoseconds of the day, and the Julian day.
func int96(i deprecated.Int96) time.Time {
	const epoch = 2440588 // the Julian day of 1970-01-01
	nanos := int64(i[1])<<32 | int64(i[0])
	return time.Unix((int64(i[2])-epoch)*86400, nanos).UTC()
}

// unscaled returns the digits of a decimal.
func unscaled(v parquet.Value) *big.Int {
	switch v.Kind() {
	case parquet.Int32, parquet.Int64:
		return big.NewInt(integer(v))
	}
	bytes := v.ByteArray() // big-endian, two's complement
	n := new(big.Int).SetBytes(bytes)
	if len(bytes) > 0 && bytes[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(bytes))))
	}
	return n
}

// decimal writes n / 10^scale with all digits of the scale.
func decimal(n *big.Int, scale int) string {
	if scale <= 0 || scale > math.MaxInt16 {
		return n.String()
	}
	text := new(big.Int).Abs(n).String()
	if len(text) <= scale {
		text = strings.Repeat("0", scale+1-len(text)) + text
	}
	text = text[:len(text)-scale] + "." + text[len(text)-scale:]
	if n.Sign() < 0 {
		text = "-" + text
	}
	return text
}

func dashed(b []byte) string {
	if len(b) != 16 {
		return hex.EncodeToString(b)
	}
	return strings.Join([]string{hex.EncodeToString(b[:4]), hex.EncodeToString(b[4:6]), hex.EncodeToString(b[6:8]),
		hex.EncodeToString(b[8:10]), hex.EncodeToString(b[10:])}, "-")
}
