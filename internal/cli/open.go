// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/intake"
	"github.com/locus-db/locus/sources"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
	"github.com/locus-db/locus/storage/mongodb"
)

// openClient opens an installation and calls its handler without a network.
func (a *app) openClient(ctx context.Context, w where, to opening) (*client, error) {
	log := a.logger(slog.LevelError)
	svc, err := open(ctx, w, &storage.Options{MustExist: to != makes && to != makesToLoad}, &locus.Options{Logger: log, ReadOnly: to == reads, Passive: to == looks, Hold: to >= loads, CountItself: true, MaxRollups: -1, MaxKinds: -1})
	if err != nil {
		return nil, err
	}
	server := httpapi.New(svc, &httpapi.Options{Version: version(), RequestTimeout: time.Minute, Logger: log, Local: true})
	cl := &client{
		base: &url.URL{Scheme: "http", Host: "localhost"}, job: w.String(), alone: !w.shared,
		http: &http.Client{Transport: &inProcess{server}}, close: svc.Close,
	}
	if to >= loads {
		cl.opened = svc.Records()
	}
	return cl, nil
}

// open opens an installation.
func open(ctx context.Context, w where, options *storage.Options, service *locus.Options) (*locus.DB, error) {
	options.Notice, options.UnsafeDurability = w.notice, w.unsafe
	if service.Sources == nil {
		service.Sources = &sources.Options{Compile: intake.Compile, DefineOnly: true}
	}
	if w.mongodb != "" {
		d, err := documents(ctx, w)
		if err != nil {
			return nil, fmt.Errorf("open the data: %w", err)
		}
		service.Documents = d
	}
	cells, err := storage.Open(ctx, w.place, options)
	if err != nil && service.Documents != nil {
		err = errors.Join(err, service.Documents.Close(context.WithoutCancel(ctx)))
	}
	if !w.shared && errors.Is(err, cell.ErrUnavailable) && !errors.Is(err, cell.ErrWentBack) && ctx.Err() == nil {
		// A local file that cannot be opened; retrying does not help.
		hint := "check the file, its permissions, and the limit of open files"
		if errors.Is(err, cell.ErrFormat) {
			hint = "" // the error says what to do
		}
		return nil, &failure{Code: "failed", Message: fmt.Sprintf("open the data: %v", err), Hint: hint, Exit: exitFailed,
			Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("open the data: %w", err)
	}
	svc, err := locus.OpenCells(ctx, cells, service) // closes the cells on error
	if err != nil {
		return nil, fmt.Errorf("open the data: %w", err)
	}
	return svc, nil
}

// documents opens the document database of an installation.
func documents(ctx context.Context, w where) (*mongodb.Documents, error) {
	d, err := mongodb.Open(ctx, w.mongodb, &mongodb.Options{Password: w.password, UnsafeDurability: w.unsafe})
	if err != nil {
		return nil, err
	}
	docs, err := d.Documents(ctx)
	if err != nil {
		return nil, errors.Join(err, d.Close(ctx))
	}
	return docs, nil
}
