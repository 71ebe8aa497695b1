// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"errors"
	"strings"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/records"
)

// ringPage shows the cells and, if an address was typed, its route. The page shows why a route is incomplete, for
// example because a cell is unreachable: the map alone determines where an address belongs.
func (p *site) ringPage(c *call, body *bytes.Buffer) error {
	snapshot, err := p.snapshot(c)
	if err != nil {
		return err
	}
	shown := console.Ring{Time: snapshot.Time, Status: snapshot.Status, Map: snapshot.Map,
		Address: strings.TrimSpace(c.query["address"])}
	if from := c.query["from"]; from != "" {
		if shown.From, err = cell.ParseID(from); err != nil {
			shown.Problem = "The table begins with the first cell: " + cut(from, 40) + " does not name one."
		}
	}
	if shown.Address != "" {
		shown.Route, err = p.svc.Explain().Route(c, shown.Address)
		if err != nil {
			shown.Problem = toFault(err, "").Detail
			if shown.Route == nil {
				shown.Route = arithmetic(shown.Map, shown.Address)
			}
		}
		if _, invalid := errors.AsType[*locus.InvalidError](err); invalid {
			shown.Address = cut(shown.Address, 200)
		}
	}
	return p.shown(c.r).Ring(body, shown)
}

// arithmetic returns the part of a route that needs no cell; nil if the text is not an address.
func arithmetic(m *cell.Map, address string) *explain.Route {
	router, r := cell.NewRouter(m), &explain.Route{Address: address}
	if id, err := locality.Parse(address); err == nil {
		way, _ := router.ExplainEntity(id) // an error is also in the explanation
		r.ID = &way
		return r
	}
	if puid, err := entity.ParsePUID(address); err == nil {
		way, _ := router.ExplainPuid(int64(puid)) // an error is also in the explanation
		r.PUID = &way
		return r
	}
	ref, err := records.ParseRef(address)
	if err != nil {
		return nil
	}
	way := router.ExplainKey(ref.Source, ref.Key)
	r.Key = &way
	return r
}
