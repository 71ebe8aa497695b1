// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/match"
)

func (a *app) decisionImport() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "import FILE",
		Short: "Import decisions from an exported file; - is standard input",
		Long: "Reads files of locus export decisions, in any format, and of locus export links. From links, the records of each entity\n" +
			"are decided to be the same thing: this takes over the entities of another installation, or the clusters of another\n" +
			"program in columns source, key and entity. The records must exist. Refused rows are reported with their numbers and do\n" +
			"not stop the import. Importing a file twice changes nothing.",
		Example: "  locus decision import decisions.parquet\n" +
			"  locus decision import - < decisions.jsonl",
		Args: arguments("FILE"),
		RunE: a.connectedTo(writes, func(c *cobra.Command, cl *client, args []string) error {
			next, end, err := a.decisionsIn(args[0])
			if err != nil {
				return err
			}
			return errors.Join(a.importDecisions(c, cl, next), end())
		}),
	})
}

// portion is how many decisions are sent per request.
const portion = 200

// importDecisions makes the decisions that next returns, up to io.EOF.
func (a *app) importDecisions(c *cobra.Command, cl *client, next func() (json.RawMessage, error)) error {
	var list []json.RawMessage
	first, made, refused := 1, 0, 0
	flush := func() error {
		if len(list) == 0 {
			return nil
		}
		results, raws, err := a.send(c, cl, "/v1/decisions", map[string]any{"decisions": list})
		if err != nil {
			return err
		}
		for i, r := range results {
			switch {
			case r.Error == nil:
				made++
			case a.json:
				refused++
				if err := a.printRaw(typed("reject", raws[i])); err != nil {
					return err
				}
			default:
				refused++
				a.say("decision %d refused: %s", first+i, term.Escape(r.Error.Detail))
			}
		}
		first, list = first+len(list), nil
		return nil
	}
	for {
		one, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if f, is := errors.AsType[*failure](err); is {
				f.Message += fmt.Sprintf(": %d decisions before it were made", made)
			}
			return err
		}
		if list = append(list, one); len(list) == portion {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	if a.json {
		if err := a.printJSON(map[string]any{"type": "summary", "made": made, "refused": refused}); err != nil {
			return err
		}
	} else {
		a.say("made %s, refused %d", plural(made, "decision"), refused)
	}
	if refused > 0 {
		return &failure{Code: "refused", Message: fmt.Sprintf("%d of %d decisions were refused", refused, made+refused),
			Exit: exitPartly}
	}
	return nil
}

// decisionsIn returns the decisions of a file one by one, and the error that ends the reading.
func (a *app) decisionsIn(name string) (next func() (json.RawMessage, error), end func() error, err error) {
	end = func() error { return nil }
	in := a.stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, nil, usage("locus decision export writes one", "%v", err)
		}
		in, end = file, file.Close
	}
	text := bufio.NewReaderSize(in, 1<<20)
	for { // an object begins a line of JSON
		b, err := text.ReadByte()
		if err == nil && bytes.IndexByte([]byte(" \t\r\n"), b) >= 0 {
			continue
		}
		if err != nil || b == '{' {
			_ = text.UnreadByte()
			return decisionLines(text), end, nil
		}
		_ = text.UnreadByte()
		break
	}
	if name != "-" {
		if err := end(); err != nil {
			return nil, nil, err
		}
	}
	plan, err := bulk.Recognise(name, text, match.Kinds(), &bulk.Options{Unstored: true})
	if err != nil {
		return nil, nil, err
	}
	plan.LeaveOut()
	rows, err := plan.Open()
	if err != nil {
		return nil, nil, errors.Join(err, plan.Close())
	}
	return decisionRows(rows), rows.Close, nil
}

// decisionLines returns lines of JSON.
func decisionLines(in io.Reader) func() (json.RawMessage, error) {
	lines, line := bufio.NewScanner(in), 0
	lines.Buffer(nil, 1<<20)
	const want = "one decision per line, as locus decision export writes it"
	first := map[string]string{}
	return func() (json.RawMessage, error) {
		for lines.Scan() {
			line++
			text := bytes.TrimSpace(lines.Bytes())
			if len(text) == 0 {
				continue
			}
			var link struct{ Source, Key, Entity string }
			if !json.Valid(text) {
				return nil, usage(want, "line %d is not JSON", line)
			}
			if json.Unmarshal(text, &link) == nil && link.Entity != "" && link.Key != "" {
				if one, is, err := linked(first, entity.Ref{Source: link.Source, Key: link.Key}, link.Entity); err != nil || is {
					return one, err
				}
				continue
			}
			return bytes.Clone(text), nil
		}
		if err := lines.Err(); err != nil {
			return nil, usage(want, "line %d: %v", line+1, err)
		}
		return nil, io.EOF
	}
}

// decisionRows returns the decisions of the rows of a table: of decisions, or of links.
func decisionRows(rows *bulk.Reader) func() (json.RawMessage, error) {
	first := map[string]string{}
	row := 0
	return func() (json.RawMessage, error) {
		for {
			_, rejected := rows.Next()
			if errors.Is(rejected, io.EOF) {
				return nil, io.EOF
			}
			row++
			if _, broken := errors.AsType[*bulk.FileError](rejected); broken {
				return nil, rejected
			}
			fields, err := rows.Fields() // also works for a row that is not a record
			if err != nil {
				return nil, usage("locus export decisions writes such a file", "row %d cannot be read: %v", row,
					cmp.Or(rejected, err))
			}
			of := map[string]string{}
			for _, f := range fields {
				if len(f.Values) > 0 {
					of[f.Name] = f.Values[0]
				}
			}
			if of["verdict"] != "" {
				return json.Marshal(httpapi.DecisionInput{
					Verdict: entity.Verdict(of["verdict"]), A: of["a"], B: of["b"], Attribute: of["attribute"], Value: of["value"],
					Author: of["author"], Reason: of["reason"],
				})
			}
			if of["source"] == "" || of["key"] == "" || of["entity"] == "" {
				return nil, usage("locus export decisions and locus export links write such files: verdict,a,b,... or source,key,entity", "row %d is neither a decision nor a link", row)
			}
			if one, is, err := linked(first, entity.Ref{Source: of["source"], Key: of["key"]}, of["entity"]); err != nil || is {
				return one, err
			}
		}
	}
}

// linked returns the decision that a record is the same as the first record of its entity. The first record needs no
// decision.
func linked(first map[string]string, ref entity.Ref, id string) (one json.RawMessage, is bool, err error) {
	a, known := first[id]
	if !known {
		first[id] = ref.String()
		return nil, false, nil
	}
	one, err = json.Marshal(httpapi.DecisionInput{Verdict: entity.VerdictSame, A: a, B: ref.String(),
		Reason: "imported links"})
	return one, err == nil, err
}
