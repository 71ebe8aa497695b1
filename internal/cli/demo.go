// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

// showing holds the flags of the demo.
type showing struct {
	serving
	records, speed         int
	seed                   uint64
	keep                   string
	noLoad, exitWhenLoaded bool
}

func (a *app) demoCommand() *cobra.Command {
	s := showing{serving: serving{shutdown: 5 * time.Second}}
	c := &cobra.Command{
		Use:   "demo",
		Short: "Resolve 20,000 generated records while you watch, in a temporary directory",
		Long: "Starts a server with its console and feeds it generated records about places whose true identities are known, two\n" +
			"rollups, and hits of two days. Loading is slowed down so that it can be watched; --speed 0 loads at full speed.\n" +
			"The same seed gives the same records. Ctrl-C ends the demo and deletes its data.",
		Example: "  locus demo\n" +
			"  locus demo --records 100000 --speed 5000 --keep ./demo-data",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if s.records < 1 || s.speed < 0 {
				return usage("--records 20000 --speed 500", "--records must be at least 1 and --speed cannot be below 0")
			}
			return a.demo(c.Context(), &s, c.Flags().Changed("addr"))
		},
	}
	a.noticeFlag(c)
	f := c.Flags()
	f.IntVar(&s.records, "records", 20_000, "number of records")
	f.Uint64Var(&s.seed, "seed", 1, "seed of the generated records")
	f.IntVar(&s.cells, "cells", 0, "number of cells; 0 means 16")
	f.StringVar(&s.keep, "keep", "", "use this directory and keep it")
	f.StringVar(&s.addr, "addr", defaultAddr, "address to listen on; by default the first free port")
	f.IntVar(&s.speed, "speed", 500, "records per second; 0 means no limit")
	f.BoolVar(&s.noLoad, "no-load", false, "start empty and load nothing")
	f.BoolVar(&s.exitWhenLoaded, "exit-when-done", false, "exit after all records are loaded and compared with the truth")
	return c
}

func (a *app) demo(ctx context.Context, s *showing, addrGiven bool) (err error) {
	listeners, err := s.listenNear(addrGiven)
	if err != nil {
		return err
	}
	dir := s.keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "locus-demo-"); err != nil {
			return errors.Join(fmt.Errorf("make a temporary directory: %w", err), closeAll(listeners))
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	svc, options, err := a.openServed(ctx, where{place: dir, notice: a.notice}, &s.serving, nil, nil)
	if err != nil {
		return errors.Join(err, closeAll(listeners))
	}
	options.Banner = s.about()
	// The load ends before the server: running work is finished, no new work begins.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	shown := make(chan error, 1)
	err = a.serve(serving, svc, options, &s.serving, listeners, func(base string) error {
		if err := a.demoBanner(svc, base, dir, s); err != nil {
			return err
		}
		go func() {
			defer stop()
			shown <- a.show(ctx, base, s)
		}()
		return nil
	})
	select {
	case showErr := <-shown:
		if ctx.Err() != nil && errors.Is(showErr, context.Canceled) {
			showErr = nil
		}
		return errors.Join(showErr, err)
	default:
		return err
	}
}

// listenNear takes the next free port if the default one is in use.
func (s *showing) listenNear(given bool) ([]net.Listener, error) {
	const tries = 20
	_, port, _ := net.SplitHostPort(s.addr)
	first, _ := strconv.Atoi(port)
	for i := 0; ; i++ {
		listeners, err := s.listen()
		if given || !errors.Is(err, syscall.EADDRINUSE) {
			return listeners, err
		}
		s.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(first+i+1))
		if i == tries {
			s.addr = "127.0.0.1:0"
		}
	}
}

func (a *app) demoBanner(svc *locus.DB, base, dir string, s *showing) error {
	if a.json {
		return a.printJSON(map[string]any{"type": "ready", "url": base, "data": dir, "cells": len(svc.Cells().Map().Cells()),
			"version": version(), "seed": s.seed})
	}
	kept := "nothing is kept; not for production"
	if s.keep != "" {
		kept = "kept; not for production"
	}
	a.say("%s    data %s   %s   %s", a.talk.Paint("1", "locus "+version()+" demo"), term.Escape(dir),
		plural(len(svc.Cells().Map().Cells()), "cell"), kept)
	a.say("console        %s", a.talk.Paint("36;1", base+"/"))
	if s.noLoad {
		a.say("API            %s/v1", base)
		a.say("stop           Ctrl-C")
		return nil
	}
	a.say("rollups        %s/rollups   places by category, records by source", base)
	a.say("counters       %s/counters   views of four sources, of two days and from now on", base)
	a.say("API            %s/v1", base)
	a.say("generated      everything: names, places, phone numbers and views")
	if s.speed > 0 {
		a.say("slowed down    to %s records a second, for watching; --speed 0 loads at full speed",
			term.Count(int64(s.speed)))
	}
	a.say("stop           Ctrl-C")
	return nil
}

// about returns the banner of the console.
func (s *showing) about() *httpapi.Banner {
	b := &httpapi.Banner{Text: "This is a demo: all of it is invented"}
	if s.keep == "" {
		b.Text += ", and nothing is kept"
	}
	b.Text += "."
	if s.speed > 0 && !s.noLoad {
		b.Text += fmt.Sprintf(" It is slowed down to %s records a second, so that you can watch. As fast as it goes:",
			term.Count(int64(s.speed)))
		b.Command = "locus demo --speed 0"
	}
	return b
}

// show defines the rollups of the demo, counts hits and feeds records.
func (a *app) show(ctx context.Context, base string, s *showing) error {
	if s.noLoad {
		<-ctx.Done()
		return ctx.Err()
	}
	cl, err := dial(base)
	if err != nil {
		return err
	}
	defer cl.close()
	g := demo.New(s.seed, int64(s.records))
	if err := a.prepare(ctx, cl, g); err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	both, stop := context.WithCancel(ctx)
	visited := make(chan error, 1)
	go func() {
		defer stop()
		visited <- visit(both, cl, g)
	}()
	err = a.tell(both, cl, g, s)
	stop()
	if failed := <-visited; !errors.Is(failed, context.Canceled) {
		err = failed
	}
	return cmp.Or(ctx.Err(), err)
}

// tell feeds the server, compares the result with the truth, and then keeps making changes until ctx ends.
func (a *app) tell(ctx context.Context, cl *client, g *demo.Generator, s *showing) error {
	truth := make(map[entity.Ref]int64, s.records)
	if err := a.feed(ctx, cl, g, s, truth); err != nil {
		return err
	}
	if err := a.weight(ctx, cl, truth); err != nil {
		return err
	}
	if s.exitWhenLoaded {
		return nil
	}
	a.say("live           updates, new and deleted records continue; Ctrl-C ends the demo")
	return a.trickle(ctx, cl, g)
}

// weight compares the entities with the truth once the redo log is empty.
func (a *app) weight(ctx context.Context, cl *client, truth map[entity.Ref]int64) error {
	for {
		var status cells.Status
		if _, err := cl.get(ctx, "/v1/status", nil, &status); err != nil {
			return err
		}
		if status.Redo == 0 {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
	var weight demo.Score
	entities, query := 0, url.Values{"limit": {strconv.Itoa(locus.MaxLimit)}}
	for {
		var page httpapi.EntityList
		if _, err := cl.get(ctx, "/v1/entities", query, &page); err != nil {
			return err
		}
		for _, e := range page.Entities {
			places := make([]int64, 0, len(e.Members))
			for _, m := range e.Members {
				if place, ours := truth[m.Ref]; ours {
					places = append(places, place)
				}
			}
			weight.Add(places)
		}
		if entities += len(page.Entities); page.Cursor == "" {
			break
		}
		query.Set("cursor", page.Cursor)
	}
	if a.json {
		return a.printJSON(map[string]any{
			"type": "result", "records": len(truth), "places": weight.Places(), "entities": entities,
			"precision": weight.Precision(), "recall": weight.Recall(), "f1": weight.F1(),
		})
	}
	a.say("compared       %s records about %s places became %s entities", term.Count(int64(len(truth))),
		term.Count(weight.Places()), term.Count(int64(entities)))
	a.say("with the truth precision %.3f   recall %.3f   F1 %.3f   of pairs of records in one entity", weight.Precision(),
		weight.Recall(), weight.F1())
	return nil
}
