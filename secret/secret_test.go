// SPDX-License-Identifier: Apache-2.0

package secret_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/locus-db/locus/secret"
)

const canary = "hunter2canary"

// holder has a secret in each of the ways that a value can have one.
type holder struct {
	Shown  secret.Text
	hidden secret.Text
	List   []secret.Text
	At     *secret.Text
	Any    any
}

// TestText_IsNotShown prints, marshals and logs a secret, and values that have one, with every verb.
func TestText_IsNotShown(t *testing.T) {
	t.Parallel()
	one := secret.New(canary)
	values := []any{one, &one, []secret.Text{one}, map[string]secret.Text{"a": one},
		holder{one, one, []secret.Text{one}, &one, one}, &holder{hidden: one, Any: &one}}
	var out bytes.Buffer
	for _, v := range values {
		for _, verb := range "vsqdxXTtpbcoUeg" {
			for _, flag := range []string{"", "+", "#", "-40", ".3", "+#"} {
				fmt.Fprintf(&out, "%"+flag+string(verb)+"\n", v)
			}
		}
		fmt.Fprintln(&out, v)
		fmt.Fprintln(&out, fmt.Errorf("no: %v: %w", v, errors.ErrUnsupported))
		for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			slog.New(h).Info("x", "of", v, slog.Group("in", slog.Any("it", v)))
		}
		if text, err := json.Marshal(v); err == nil {
			out.Write(text)
		}
		if text, err := yaml.Marshal(v); err == nil {
			out.Write(text)
		}
		if text, err := xml.Marshal(v); err == nil {
			out.Write(text)
		}
		_ = gob.NewEncoder(&out).Encode(v)
	}
	if text := out.String(); strings.Contains(text, canary) || strings.Contains(text, canary[:4]) || strings.Count(text, "redacted") < 100 {
		t.Errorf("%d bytes show the secret, or not that there is one", len(text))
	}
	hex := fmt.Sprintf("%x", canary)
	if strings.Contains(strings.ToLower(out.String()), hex[:8]) {
		t.Error("the secret is shown in hex")
	}
}

func TestText_IsKept(t *testing.T) {
	t.Parallel()
	one := secret.New(canary)
	if one.Reveal() != canary || one.Empty() || one.String() != "redacted" {
		t.Errorf("%v", one)
	}
	for _, none := range []secret.Text{{}, secret.New("")} {
		if none.Reveal() != "" || !none.Empty() || none.String() != "" || fmt.Sprintf("%v|%#v", none, none) != "|" {
			t.Errorf("%q", none.Reveal())
		}
	}
}
