// SPDX-License-Identifier: Apache-2.0

package source

import "context"

// Work is one ownership of a source, for simulations.
type Work struct{ w *work }

// NewWork begins at the stored position.
func NewWork(ctx context.Context, opts *Options, token int64, late func() bool) (*Work, error) {
	p, err := opts.Store.Load(ctx)
	if err != nil {
		return nil, err
	}
	stream, err := opts.Open(ctx, p.Position.Clone())
	if err != nil {
		return nil, err
	}
	p.Position = stream.Position()
	return &Work{&work{opts: opts, stream: stream, token: token, progress: p, late: late}}, nil
}

// Step reads, writes and saves a batch.
func (w *Work) Step(ctx context.Context) error {
	_, err := w.w.step(ctx)
	return err
}
