// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/span"
	"github.com/locus-db/locus/lease"
)

// work is one ownership of a source.
type work struct {
	opts     *Options
	stream   Stream
	token    int64
	progress Progress        // as it was saved last
	late     func() bool     // see lease.Holder.Work
	again    []Letter        // to be tried again
	ends     map[int32]int64 // of the stream, as measured last
	measured time.Time
	away     error // why the broker does not answer, as of the last step without messages
	tell     bool  // the ends were measured since the last save
	marked   int64 // messages read when the broker was told
}

// step reads a batch, writes it and saves the position after it. done is the number of records written.
func (w *work) step(ctx context.Context) (done int64, err error) {
	if len(w.again) > 0 {
		return w.retry(ctx)
	}
	waiting, cancel := context.WithTimeout(ctx, w.opts.Poll)
	messages, err := w.stream.Fetch(waiting, w.opts.Batch)
	cancel()
	if err != nil && (waiting.Err() == nil || ctx.Err() != nil) {
		return 0, fmt.Errorf("read messages: %w", err)
	}
	if len(messages) == 0 {
		return 0, w.idle(ctx)
	}
	w.away = nil
	ctx, s := span.StartRoot(ctx, w.opts.Tracer, "source batch")
	s.Text("locus.source", w.opts.Name)
	s.Number("locus.messages", int64(len(messages)))
	defer func() { s.End(err) }()
	result, err := w.write(ctx, messages)
	if err != nil {
		return 0, err
	}
	for _, m := range messages[:result.read] {
		w.progress.Position.Pass(m)
	}
	w.progress.Messages += int64(result.read)
	if err := w.save(ctx, result, nil); err != nil {
		return 0, err
	}
	if result.stop != nil {
		return result.puts + result.deletes, result.stop
	}
	return result.puts + result.deletes, nil
}

// idle is a step without messages. It notes whether the broker answers: a stream with a lost connection looks like one
// without messages, while the client reconnects.
func (w *work) idle(ctx context.Context) error {
	if w.away = w.measure(ctx, w.opts.Now()); errors.Is(w.away, ErrGap) {
		return w.away
	}
	return w.save(ctx, nil, nil)
}

// measure reads the ends of the stream.
func (w *work) measure(ctx context.Context, now time.Time) error {
	ends, err := w.stream.Ends(ctx)
	if err != nil {
		return err
	}
	w.ends, w.measured, w.tell = ends, now, true
	return nil
}

// save stores the progress and stops the source if there are too many dead letters.
func (w *work) save(ctx context.Context, r *result, remove []At) (err error) {
	p := w.progress
	p.Position = p.Position.Clone()
	var add []Letter
	if r != nil {
		p.Records, p.Deleted, add = p.Records+r.puts, p.Deleted+r.deletes, r.letters
	}
	now := w.opts.Now()
	if now.Sub(w.measured) >= measureEvery {
		if err := w.measure(ctx, now); errors.Is(err, ErrGap) {
			return err
		} // after any other error, the work done so far is saved nevertheless
	}
	p.Lag = p.Position.Lag(w.ends)
	p.Saved = now.UTC()
	if w.again, err = w.opts.Store.Save(ctx, w.token, &p, add, remove); err != nil {
		return fmt.Errorf("save the position: %w", err)
	}
	if w.progress = p; w.tell && p.Messages > w.marked {
		w.marked = p.Messages
		_ = w.stream.Mark(ctx, p.Position) // a chart of others
	}
	w.tell = false
	if p.Dead >= MaxDead {
		return fmt.Errorf("%w: there are %d dead letters: see their reasons, correct the mapping, then retry or drop them",
			ErrStop, p.Dead)
	}
	return nil
}

// result counts the outcomes of messages.
type result struct {
	read          int // messages before the one that stops the source; all messages if none does
	puts, deletes int64
	letters       []Letter
	stop          error
}

// version is an operation of a record, with its message.
type version struct {
	op Op
	at int // index of the message
}

// write makes messages durable. Of several messages about one record the newest is written; if that is refused, the one
// before it.
func (w *work) write(ctx context.Context, messages []Message) (*result, error) {
	r := &result{read: len(messages)}
	versions := map[entity.Ref][]version{}
	var order []entity.Ref
	for i, m := range messages {
		if m.Marker {
			continue
		}
		op, ok, err := w.opts.Decode(m)
		if errors.Is(err, ErrStop) {
			r.read, r.stop = i, fmt.Errorf("message %s: %w", m.at(), err)
			break
		}
		if err != nil {
			r.letters = append(r.letters, w.letter(m, err))
			continue
		}
		if !ok {
			continue
		}
		if versions[op.Ref] == nil {
			order = append(order, op.Ref)
		}
		versions[op.Ref] = append(versions[op.Ref], version{op, i})
	}
	for _, of := range versions {
		slices.SortStableFunc(of, func(a, b version) int { return a.op.Observed.Compare(b.op.Observed) })
	}
	for len(order) > 0 {
		ops := make([]Op, len(order))
		for i, ref := range order {
			of := versions[ref]
			ops[i] = of[len(of)-1].op
		}
		// Writes are not fenced by the token. A put or deletion of a former owner that is late changes nothing newer,
		// except that it may put a record that was deleted since.
		if w.late() {
			return nil, fmt.Errorf("write records: %w", lease.ErrLost)
		}
		refused, err := w.opts.Target.Apply(ctx, ops)
		if err != nil {
			return nil, fmt.Errorf("write records: %w", err)
		}
		var left []entity.Ref
		for i, ref := range order {
			of := versions[ref]
			switch {
			case refused[i] != nil:
				r.letters = append(r.letters, w.letter(messages[of[len(of)-1].at], refused[i]))
				if versions[ref] = of[:len(of)-1]; len(of) > 1 {
					left = append(left, ref)
				}
			case ops[i].Delete:
				r.deletes++
			default:
				r.puts++
			}
		}
		order = left
	}
	slices.SortStableFunc(r.letters, func(a, b Letter) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
	})
	return r, nil
}

// retry tries dead letters again.
func (w *work) retry(ctx context.Context) (done int64, err error) {
	letters := w.again[:min(len(w.again), w.opts.Batch)]
	var messages []Message
	gone := map[At]bool{}
	all := &result{}
	for _, l := range letters {
		m, err := w.stream.Read(ctx, l.Partition, l.Offset)
		switch {
		case errors.Is(err, ErrGone):
			if gone[l.At] = true; !strings.HasSuffix(l.Reason, goneText) {
				l.Reason += goneText
			}
			l.Again = false
			all.letters = append(all.letters, l)
		case err != nil:
			return 0, fmt.Errorf("read message %s again: %w", l.At, err)
		default:
			messages = append(messages, m)
		}
	}
	r, err := w.write(ctx, messages)
	if err != nil {
		return 0, err
	}
	all.puts, all.deletes, all.letters = r.puts, r.deletes, append(all.letters, r.letters...)
	if r.stop != nil { // later letters stay, and are not tried again
		for _, m := range messages[r.read:] {
			all.letters = append(all.letters, w.letter(m, r.stop))
		}
	}
	remove := make([]At, len(letters))
	for i, l := range letters {
		remove[i] = l.At
	}
	return all.puts + all.deletes, w.save(ctx, all, remove)
}

const goneText = "; the stream no longer has the message"

func (m Message) at() At { return At{m.Partition, m.Offset} }

// maxReason and maxKey bound the texts of a letter, in bytes.
const (
	maxReason = 300
	maxKey    = 80
)

func (w *work) letter(m Message, reason error) Letter {
	return Letter{At: m.at(), Key: short(string(m.Key), maxKey), Reason: short(reason.Error(), maxReason),
		Time: w.opts.Now().UTC()}
}

// short returns valid UTF-8 of at most n bytes.
func short(text string, n int) string {
	if len(text) <= n {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	return strings.ToValidUTF8(text[:n], "") + "..."
}
