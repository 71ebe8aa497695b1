// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/locality"
)

// otherVersions are versions of RFC 9562 that Locus does not mint.
var otherVersions = map[int]string{
	1: "time and MAC address", 2: "DCE security", 3: "MD5 of a name", 4: "random", 5: "SHA-1 of a name",
	6: "time and MAC address, sortable", 7: "Unix time and randomness",
}

// parseID parses an id with readable fields: a Locality UUID, or a UUID of version 8, which may be one.
func parseID(text string) (locality.ID, error) {
	const hint = "ids of Locus have a b after the second hyphen: " + exampleID
	id, err := locality.ParseLenient(text)
	if err != nil {
		return id, usage("locus id "+exampleID,
			"%.60q is not an id: want 32 hex digits, in groups of 8-4-4-4-12 or without hyphens", text)
	}
	_, laidOut := locality.FieldsV8(id)
	version := id.Version()
	switch kind, known := otherVersions[version]; {
	case version == 0xb || laidOut:
		return id, nil
	case id == locality.Nil() || id == locality.Max():
		return id, usage(hint, "%s is the nil or the max UUID, which identifies nothing", id)
	case version == 8:
		return id, usage(hint, "%s has version 8, but not the variant of a UUID: its fields are unknown", id)
	case known:
		return id, usage(hint, "%s is a UUID of version %d (%s), not a Locality UUID: its beginning is not a position", id,
			version, kind)
	default:
		return id, usage(hint, "%s has version %x, which is neither a Locality UUID nor a UUID of RFC 9562", id, version)
	}
}

// maxLine limits a line of ids, so that a stream without line ends does not fill the memory. maxLanes limits the number
// of processes and nodes whose last id is kept.
const (
	maxLine  = 64 << 10
	maxLanes = 1 << 16
)

// explainIDs explains ids, one per line. It reports a bad line and continues.
func (a *app) explainIDs(ctx context.Context, e *explainer) error {
	out := bufio.NewWriterSize(a.stdout, 64<<10)
	if !a.json {
		out.WriteString("id\tposition\tcounter\tprocess\tnode\ttime\tversion\torder_guess\twindow_number\tsteps\tcell\n")
	}
	in := bufio.NewReaderSize(a.stdin, maxLine)
	bad := 0
	for number := 1; ; number++ {
		line, err := readLine(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return errors.Join(fmt.Errorf("read ids: %w", err), out.Flush())
		}
		id, err := parseID(line)
		if err != nil {
			bad++
			if err := out.Flush(); err != nil {
				return err
			}
			a.say("line %d: %s", number, term.Escape(err.Error()))
			continue
		}
		f := e.explain(id)
		f.Type, f.Steps = "result", e.steps(f)
		if err := a.writeFields(out, f); err != nil {
			return err
		}
		// Flush when no input is waiting, so that interactive or slow input gets each answer at once.
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if bad > 0 {
		return &failure{Code: "invalid", Message: plural(bad, "line") + " could not be explained",
			Hint: "the numbers are above", Exit: exitPartly}
	}
	return nil
}

// readLine reads a line without its end. A line that is too long is truncated with an ellipsis, which no id contains.
func readLine(in *bufio.Reader) (string, error) {
	line, err := in.ReadSlice('\n')
	text := string(line)
	if errors.Is(err, bufio.ErrBufferFull) {
		text = text[:100] + "…"
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = in.ReadSlice('\n')
	}
	if err != nil && (text == "" || !errors.Is(err, io.EOF)) {
		return "", err
	}
	return strings.TrimSuffix(text, "\n"), nil
}

// writeFields writes the line of an id.
func (a *app) writeFields(out *bufio.Writer, f *fields) error {
	if a.json {
		line, err := json.Marshal(f)
		if err == nil {
			_, err = out.Write(append(line, '\n'))
		}
		return err
	}
	number, steps, where := "", "", ""
	if f.Number > 0 {
		number = fmt.Sprint(f.Number)
	}
	if f.Steps != nil {
		steps = fmt.Sprint(*f.Steps)
	}
	if f.Cell != nil {
		where = f.Cell.String()
	}
	_, err := fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
		f.ID, f.Position, f.Counter, f.Process, f.Node, f.Time, f.Version, f.Order, number, steps, where)
	return err
}

// steps returns how many ids were minted between the last id of the same process and node and this one, nil if there is
// no such id. In a window of Sequential order this is the difference of positions. Ids of another order can look like
// that by chance, but rarely with a smaller number.
func (e *explainer) steps(f *fields) *uint32 {
	lane := [6]byte(f.ID[4:10])
	from, seen := e.last[lane]
	if !seen && len(e.last) == maxLanes {
		clear(e.last)
	}
	e.last[lane] = f.ID
	n, connected := f.ID.Steps(from)
	if !seen || !connected {
		return nil
	}
	if f.Number > 0 {
		passed := f.Position - from.Position()
		if was, ok := from.WindowCount(); ok && passed == f.Number-was {
			n = min(n, passed)
		}
	}
	return &n
}
