// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"time"

	"github.com/locus-db/locus/counter"
)

// MetricList is a page of metrics. Cursor is the cursor of the next page, "" at the end.
type MetricList struct {
	Metrics []Metric `json:"metrics"`
	Cursor  string   `json:"cursor,omitempty" doc:"Cursor of the next page; missing on the last page only"`
}

// Metric describes a metric.
type Metric struct {
	Metric string    `json:"metric"`
	Kind   string    `json:"kind" enum:"counter,gauge"`
	Since  time.Time `json:"since" doc:"Day of its first hit"`
	Cell   string    `json:"cell" doc:"Cell of the metric, which never changes"`
}

// Top lists the counters with the most hits on a day.
type Top struct {
	Day     string      `json:"day" format:"date" doc:"In UTC"`
	Metrics []TopMetric `json:"metrics" doc:"Highest first; equal ones in the order of their names"`
}

// TopMetric is a counter with its total for the day.
type TopMetric struct {
	Metric string `json:"metric"`
	N      int64  `json:"n"`
}

func (s *Server) listMetrics(c *call) (any, error) {
	limit, err := c.query.limit()
	if err != nil {
		return nil, err
	}
	after, err := s.unseal(c, "cursor")
	if err != nil {
		return nil, err
	}
	found, err := s.svc.Counters().Recorder().Metrics(c, counter.Metric(c.query["prefix"]), counter.Metric(after), limit+1)
	if err != nil {
		return nil, err
	}
	list := MetricList{Metrics: make([]Metric, 0, len(found))}
	if len(found) > limit {
		found = found[:limit]
		list.Cursor = s.seal(c, []byte(found[limit-1].Metric))
	}
	for _, m := range found {
		list.Metrics = append(list.Metrics,
			Metric{Metric: string(m.Metric), Kind: m.Kind.String(), Since: m.First.UTC(), Cell: m.Cell})
	}
	return list, nil
}

func (s *Server) top(c *call) (any, error) {
	q := counter.TopQuery{Prefix: counter.Metric(c.query["prefix"])}
	text := c.query["day"]
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || !shaped(text, "0000-00-00") {
		return nil, fault(CodeInvalid, "?day", "%.40q is not a day such as 2026-11-20", text)
	}
	q.Day = day
	if text, given := c.query["k"]; given {
		if q.K, err = c.query.atMost("k", text, counter.MaxTop); err != nil {
			return nil, err
		}
	}
	found, err := s.svc.Counters().Recorder().Top(c, q)
	if err != nil {
		return nil, err
	}
	answer := Top{Day: day.Format(time.DateOnly), Metrics: make([]TopMetric, 0, len(found))}
	for _, m := range found {
		answer.Metrics = append(answer.Metrics, TopMetric{string(m.Metric), m.N})
	}
	return answer, nil
}

func (s *Server) explainHit(c *call) (any, error) {
	at, f := instantAt("?at", c.query["at"])
	if f != nil {
		return nil, f
	}
	return s.svc.Counters().Recorder().Explain(c, counter.Metric(c.query["metric"]), at)
}
