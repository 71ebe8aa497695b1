// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
)

// source implements mirror.Source over the HTTP API.
type source struct{ *client }

var _ mirror.Source = (*source)(nil)

// Installation implements mirror.Source.
func (s *source) Installation(ctx context.Context) (string, []cell.ID, error) {
	raw, err := s.get(ctx, "/v1/map", nil, nil)
	if err != nil {
		return "", nil, err
	}
	m, err := cell.ParseMap(raw)
	if err != nil {
		return "", nil, fmt.Errorf("read the cell map: %w", err)
	}
	return m.Spec().ID, m.Cells(), nil
}

// Tail implements mirror.Source.
func (s *source) Tail(ctx context.Context) (map[cell.ID]changelog.Seq, error) {
	var tail httpapi.Tail
	_, err := s.get(ctx, "/v1/tail", nil, &tail)
	return tail.Watermark, err
}

// Changes implements mirror.Source.
func (s *source) Changes(ctx context.Context, of cell.ID, after changelog.Seq, limit int) ([]changelog.Change, error) {
	var list httpapi.ChangeList
	_, err := s.get(ctx, "/v1/changes", url.Values{
		"cell": {of.String()}, "after": {changelog.Watermark{of: after}.String()}, "limit": {strconv.Itoa(limit)},
	}, &list)
	if p, ok := errors.AsType[*httpapi.Problem](err); ok && p.Code == httpapi.CodeTrimmed {
		err = fmt.Errorf("%w: %w", changelog.ErrTrimmed, err)
	}
	changes := make([]changelog.Change, len(list.Changes))
	for i := range list.Changes {
		changes[i] = list.Changes[i].Change
	}
	return changes, err
}

// ListStates implements mirror.Source.
func (s *source) ListStates(ctx context.Context, of cell.ID, after locality.ID, limit int) ([]mirror.State, error) {
	query := url.Values{"cell": {of.String()}, "limit": {strconv.Itoa(limit)}}
	if !after.IsZero() {
		query.Set("after", after.String())
	}
	var list httpapi.IDList
	_, err := s.get(ctx, "/v1/ids", query, &list)
	return list.IDs, err
}

// States implements mirror.Source.
func (s *source) States(ctx context.Context, ids []locality.ID, records []entity.PUID) ([]mirror.State, error) {
	body, err := json.Marshal(httpapi.IDRequest{IDs: ids, Records: records})
	if err != nil {
		return nil, fmt.Errorf("ask for %d ids: %w", len(ids), err)
	}
	var list httpapi.IDAnswer
	_, err = s.do(ctx, http.MethodPost, "/v1/ids", nil, body, &list)
	return list.IDs, err
}
