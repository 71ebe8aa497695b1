// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/tokens"
)

// BlockList are the principals that are blocked, the oldest block first.
type BlockList struct {
	Blocks []tokens.Block `json:"blocks"`
}

func (s *Server) listBlocks(c *call) (any, error) {
	all, err := s.svc.Tokens().Blocks(c)
	if err != nil {
		return nil, err
	}
	return BlockList{all}, nil
}

func (s *Server) block(c *call) (any, error) {
	name, err := c.path("principal")
	if err != nil {
		return nil, err
	}
	return s.svc.Tokens().Block(c, access.From(c), name)
}

func (s *Server) unblock(c *call) (any, error) {
	name, err := c.path("principal")
	if err != nil {
		return nil, err
	}
	return s.svc.Tokens().Unblock(c, name)
}
