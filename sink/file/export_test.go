// SPDX-License-Identifier: Apache-2.0

package file

import (
	"encoding/json"
	"time"

	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
)

// SetNow sets the clock of a sink.
func (s *Sink) SetNow(now func() time.Time) { s.now = now }

// Newest returns the newest event of each ID of a directory, as a reader finds it.
func Newest(dir string) (map[locality.ID]sink.Event, []part, error) {
	m, err := readManifest(dir)
	if err != nil {
		return nil, nil, err
	}
	all := map[locality.ID]sink.Event{}
	err = merge(dir, m.Format, m.Parts, func(l *line) error {
		all[l.ID] = sink.Event{ID: l.ID, Rev: l.Rev, Op: l.Op, Kind: l.Kind, Into: l.Into, At: l.At, Records: l.Records,
			View: view(l.View)}
		return nil
	})
	return all, m.Parts, err
}

func view(text json.RawMessage) map[string]any {
	if text == nil {
		return nil
	}
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		panic(err)
	}
	for name, value := range v {
		if list, is := value.([]any); is {
			texts := make([]string, len(list))
			for i, one := range list {
				texts[i] = one.(string)
			}
			v[name] = texts
		}
	}
	return v
}
