// SPDX-License-Identifier: Apache-2.0

package eval_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/eval"
)

func TestMeasureSurvivorship(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gold.jsonl")
	rows := `{"winner":{"name":"alt","phone":"both","web":"base","address":"alt","category":"both"},` +
		`"base":{"name":"Joe","phones":["212-555-0147"],"websites":["joe.example"],"address":"1 Elm St","category":["pizza"],"updated":"2024-01-01"},` +
		`"alt":{"name":"Joe Pizza","phones":["(212) 555 0147"],"address":"1 Elm St Suite 4","category":["pizza"],"updated":"2024-01-01"}}` + "\n" +
		`{"winner":{"name":"none","phone":"base","web":"none","address":"base","category":"none"},"base":{"address":"1 Elm St","phones":["555-0147"]},"alt":{"phones":["N/A"]}}` + "\n"
	if err := os.WriteFile(path, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := eval.MeasureSurvivorship(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range s.Attributes {
		if a.Accuracy.Value != 1 || a.Majority != 0.5 {
			t.Errorf("%s: %v, the commonest answer %v", a.Attribute, a.Accuracy, a.Majority)
		}
	}
	var text bytes.Buffer
	if err := s.WriteText(&text); err != nil || strings.Count(text.String(), "\n") != 1+len(s.Attributes) {
		t.Errorf("%v\n%s", err, &text)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := eval.MeasureSurvivorship(path); !errors.Is(err, eval.ErrSet) {
		t.Errorf("an empty file: %v", err)
	}
}

// TestMeasureSurvivorship_BeatsTheCommonestAnswer checks that the goals reached so far, four of five, are still
// reached.
func TestMeasureSurvivorship_BeatsTheCommonestAnswer(t *testing.T) {
	t.Parallel()
	s, err := eval.MeasureSurvivorship(filepath.Join(dataSets(t), "overture_survivorship", "gold_100.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range s.Attributes {
		if a.Accuracy.Value <= a.Majority || a.Attribute != "category" && a.Accuracy.Value <= a.Goal {
			t.Errorf("%s: %.3f, the commonest answer %.3f, the goal %.3f", a.Attribute, a.Accuracy.Value, a.Majority, a.Goal)
		}
	}
}
