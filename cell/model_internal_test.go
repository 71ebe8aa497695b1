// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/locus-db/locus/internal/protocol"
)

// A model of the key directory, small enough to explore every interleaving: one key, a cell for each of three
// generations, three processes with maps of their own, and the growth machines. Its cells are a few bytes, on which
// production code operates: Walk, ask, Rollout, Compaction, Head.

const (
	modelGens       = 3
	modelProcs      = 3
	modelCompactors = 2
)

// scenario defines what can happen in a model: the calls of each process, in order, and what else may happen at any
// moment.
type scenario struct {
	name string
	// procs are the calls of each process: p put, l lookup, o posting.
	procs [modelProcs]string
	// begin are the initial rows of generation 0: Nothing, puid 1.
	begin []int8
	// grow are the generations that an operator activates; compact are the target floors of the compacting operators,
	// one each.
	grow, compact []uint8
	// restarts: the operators may be killed and start again at any moment. filters: filters are used. ahead: cells are
	// read ahead. promote: promotions lose seals. down: cells are unavailable.
	restarts, filters, ahead, promote, down bool
	// long marks a scenario that takes minutes.
	long bool
}

type modelCell struct {
	keys KeyState
	// row is the key's: Nothing, or a puid. twin is a second one, which only a table without primary key has.
	row, twin int8
	// filter is 0 if there is none, otherwise 1 + whether it contains the key.
	filter uint8
	// back marks a cell that was promoted from a replica and has not asked the authority yet.
	back bool
	// posts has a bit for each process whose posting is there.
	posts uint8
}

type modelProc struct {
	walk  protocol.Walk
	known modelMap
	// call is the number of calls it has finished, phase its progress in the current one.
	call  uint8
	phase phase
	// values are the values that the key had during the call: a bit for each puid, bit 0 for absent.
	values uint16
	// kept are lasting replies by generation; has is the set of generations with one.
	kept [modelGens]int8
	has  uint8
	// saw are the postings that it found, at is the generation that it reads next.
	saw uint8
	at  int8
}

type phase uint8

const (
	idle phase = iota
	walking
	reading // a poster reads the postings of others
	failed  // the cell could not be asked: no result
)

type modelMap struct{ generations, current, floor uint8 }

func (m modelMap) view() protocol.View {
	return protocol.View{
		Epoch:       uint64(m.generations) + uint64(m.current) + uint64(m.floor), // each change raises one
		Generations: uint16(m.generations), Current: uint16(m.current), Floor: uint16(m.floor),
	}
}

type state struct {
	cells  [modelGens]modelCell
	procs  [modelProcs]modelProc
	newest modelMap
	puids  int8
	// grows is how many activations are done, grower the current one.
	grows      uint8
	grower     protocol.Rollout
	compactors [modelCompactors]modelCompactor
	promoted   uint8
}

// modelCompactor is an operator that compacts.
type modelCompactor struct {
	machine protocol.Compaction
	over    bool
	// rows are the rows it has read to be copied; has is a bit set of generations.
	rows [modelGens]int8
	has  uint8
}

// value returns the value of the key: the first row from the newest generation down.
func (s *state) value() int8 {
	for g := modelGens - 1; g >= 0; g-- {
		if c := &s.cells[g]; c.keys != Retired && c.row != Nothing {
			return c.row
		}
	}
	return Nothing
}

// event is a transition, for the trace of a counterexample.
type event struct {
	who  int8 // a process, or one of the operators
	what string
	gen  uint16
}

const (
	operator  = modelProcs
	nature    = modelProcs + 1
	compacter = modelProcs + 2 // this and the following ones are compacters
)

func (e event) String() string {
	who := fmt.Sprintf("process %d", e.who)
	switch e.who {
	case operator:
		who = "operator"
	case nature:
		who = "nature"
	case compacter, compacter + 1:
		who = fmt.Sprintf("compaction %d", e.who-compacter)
	}
	return fmt.Sprintf("%s: %s g%d", who, e.what, e.gen)
}

type model struct {
	scenario
	seed maphash.Seed
	// emit is called with each successor state, and with an error if the transition is wrong.
	emit func(next *state, e event, wrong error)
}

type modelDB struct {
	s    *state
	gen  uint16
	op   protocol.Op
	bit  uint8
	down bool
}

var errModelDown = fmt.Errorf("the cell is down: %w", ErrUnavailable)

func (db *modelDB) run(fn func(modelTx) error) error {
	if db.down {
		return errModelDown
	}
	c := &db.s.cells[db.gen]
	before := *c
	if c.back {
		c.keys = Head{Keys: c.keys}.recoverFromReplica(db.gen, db.s.newest.view()).Keys
		c.back = false
	}
	err := fn(modelTx{db: db, c: c})
	if err != nil {
		*c = before
	}
	return err
}

func (db *modelDB) Update(_ context.Context, fn func(modelTx) error) error    { return db.run(fn) }
func (db *modelDB) Exclusive(_ context.Context, fn func(modelTx) error) error { return db.run(fn) }
func (db *modelDB) View(_ context.Context, fn func(modelTx) error) error      { return db.run(fn) }
func (db *modelDB) Read(_ context.Context, fn func(modelTx) error) error      { return db.run(fn) }

// modelTx is a cell as a Store. It can break the contract of Store.
type modelTx struct {
	Store
	db *modelDB
	c  *modelCell
}

func (t modelTx) Head(context.Context) (Head, error) { return Head{Keys: t.c.keys}, nil }
func (t modelTx) Require(_ context.Context, check func(Head) error) error {
	return check(Head{Keys: t.c.keys})
}

func (t modelTx) SetHead(_ context.Context, head Head) error {
	t.c.keys = head.Keys
	return nil
}

func (t modelTx) Lookup(_ context.Context, keys []Key) ([]int64, error) {
	rows := make([]int64, len(keys))
	for i := range rows {
		rows[i] = int64(t.c.row)
	}
	return rows, nil
}

func (t modelTx) Allocate(context.Context, []Key) ([]Allocation, error) {
	if t.db.op == protocol.WalkPost {
		t.c.posts |= t.db.bit
		return []Allocation{{PUID: 1, Fresh: true}}, nil
	}
	if t.c.row > 0 {
		return []Allocation{{PUID: int64(t.c.row)}}, nil
	}
	t.db.s.puids++
	if t.c.row > 0 {
		t.c.twin = t.db.s.puids
	} else {
		t.c.row = t.db.s.puids
	}
	return []Allocation{{PUID: int64(t.db.s.puids), Fresh: true}}, nil
}

func (t modelTx) Copy(_ context.Context, rows []Row) error {
	if t.c.row == Nothing {
		t.c.row = int8(rows[0].PUID)
	}
	return nil
}

var oneKey = []Key{{}}

// successors emits all successor states of s.
func (m *model) successors(s *state) {
	for i := range s.procs {
		m.process(s, i)
	}
	m.growth(s)
	for i := range m.compact {
		m.compaction(s, i)
	}
	for g := range s.cells {
		c := &s.cells[g]
		if m.filters && c.filter == 0 && (Head{Keys: c.keys}).filterable() {
			n := *s
			n.cells[g].filter = filterOf(c.row)
			m.step(s, &n, event{nature, "builds the filter of", uint16(g)}, nil)
		}
		if m.promote && c.keys == Sealed && s.promoted < 1 {
			n := *s
			n.cells[g].keys, n.cells[g].back = Open, true
			n.promoted++
			m.step(s, &n, event{nature, "promotes a replica that missed the seal of", uint16(g)}, nil)
		}
	}
}

func filterOf(row int8) uint8 {
	if row == Nothing {
		return 1
	}
	return 2
}

// step emits a state. Only a put may change the value of the key: change checks that change, and is nil for steps that
// must not make one.
func (m *model) step(s, n *state, e event, change func(before, after int8) error) {
	before, after := s.value(), n.value()
	var wrong error
	if change != nil {
		wrong = change(before, after)
	} else if before != after {
		wrong = fmt.Errorf("the value of the key was %d and became %d", before, after)
	}
	if before != after {
		for i := range n.procs {
			if p := &n.procs[i]; p.phase == walking {
				p.values |= 1 << after
			}
		}
	}
	m.emit(n, e, wrong)
}

// process emits the possible steps of a process.
func (m *model) process(s *state, i int) {
	p := &s.procs[i]
	if p.known != s.newest && p.phase == idle && int(p.call) < len(m.procs[i]) {
		n := *s
		n.procs[i].known = s.newest
		m.step(s, &n, event{int8(i), "hears of the newest map", 0}, nil)
	}
	switch p.phase {
	case idle:
		if int(p.call) < len(m.procs[i]) {
			m.start(s, i)
		}
	case walking:
		m.walk(s, i, false)
		if m.down {
			m.walk(s, i, true)
		}
		if m.ahead {
			m.readAhead(s, i)
		}
	case reading:
		m.readPosts(s, i)
	}
}

// skips returns the views that a process may have of its map: with the existing filters, and without.
func (m *model) skips(s *state, p *modelProc, op protocol.Op) []protocol.View {
	v := p.known.view()
	with := v
	for g := v.Floor; g < v.Current; g++ {
		if c := &s.cells[g]; op == protocol.WalkPost && c.keys != Open || op != protocol.WalkPost && m.filters && c.filter == 1 {
			with.MarkSkipped(g)
		}
	}
	if with == v {
		return []protocol.View{v}
	}
	return []protocol.View{v, with}
}

func (m *model) start(s *state, i int) {
	op := map[byte]protocol.Op{'p': protocol.WalkPut, 'l': protocol.WalkLookup,
		'o': protocol.WalkPost}[m.procs[i][s.procs[i].call]]
	for _, v := range m.skips(s, &s.procs[i], op) {
		n := *s
		p := &n.procs[i]
		p.walk, p.phase = protocol.Walk{Op: op}.Start(v), walking
		p.values = 1 << s.value()
		m.step(s, &n, event{int8(i), fmt.Sprintf("begins to %s with", [...]string{"look up", "put", "post"}[op]), v.Current},
			nil)
	}
}

// walk emits the state after the request of a process's walk.
func (m *model) walk(s *state, i int, down bool) {
	r := s.procs[i].walk.Next()
	if r.Do == protocol.ActionRefresh {
		if down {
			return
		}
		n := *s
		n.procs[i].known = s.newest
		for _, v := range m.skips(s, &n.procs[i], s.procs[i].walk.Op) {
			n := n
			n.procs[i].walk = n.procs[i].walk.Step(protocol.Reply{View: v})
			m.step(s, &n, event{int8(i), "refreshes to", v.Current}, nil)
		}
		return
	}
	if g := r.Gen; r.Do == protocol.ActionRead && s.procs[i].has>>g&1 == 1 && !down {
		n := *s
		p := &n.procs[i]
		p.walk = p.walk.Step(protocol.Reply{Keys: protocol.Sealed, Row: int64(p.kept[g])})
		m.finish(s, &n, i, event{int8(i), "remembers what was read ahead of", g}, nil)
	}
	n := *s
	p := &n.procs[i]
	db := &modelDB{s: &n, gen: r.Gen, op: p.walk.Op, bit: 1 << i, down: down}
	replies, _, err := ask(context.Background(), db, r, oneKey)
	e := event{int8(i), [...]string{protocol.ActionRead: "reads", protocol.ActionSeal: "seals",
		protocol.ActionPut: "puts into"}[r.Do], r.Gen}
	if err != nil {
		if !errors.Is(err, errModelDown) {
			panic(err)
		}
		p.phase = failed
		m.step(s, &n, event{int8(i), "cannot ask", r.Gen}, nil)
		return
	}
	reply := replies[0]
	p.walk = p.walk.Step(reply)
	var change func(before, after int8) error
	switch {
	case r.Do == protocol.ActionPut && p.walk.Op == protocol.WalkPost && !reply.Fenced:
		p.phase, p.at, p.saw = reading, int8(r.Gen), 0
		m.step(s, &n, e, nil)
		return
	case r.Do == protocol.ActionPut && reply.Fresh:
		change = func(before, after int8) error {
			if before != Nothing || int64(after) != reply.Row {
				return fmt.Errorf("puid %d was given out: the value of the key was %d and became %d", reply.Row, before, after)
			}
			return nil
		}
	}
	m.finish(s, &n, i, e, change)
}

// finish emits a state, and checks and ends the call if its walk is done.
func (m *model) finish(s, n *state, i int, e event, change func(before, after int8) error) {
	p := &n.procs[i]
	if p.walk.Next().Do != protocol.ActionDone {
		m.step(s, n, e, change)
		return
	}
	answer := p.walk.Answer()
	values := p.values | 1<<n.value()
	check := func(before, after int8) error {
		if change == nil && before != after {
			return fmt.Errorf("the value of the key was %d and became %d", before, after)
		}
		if change != nil {
			if err := change(before, after); err != nil {
				return err
			}
		}
		if values>>answer&1 == 0 {
			return fmt.Errorf("process %d answers %d, but during its call the values were %b", i, answer, values)
		}
		return nil
	}
	*p = modelProc{known: p.known, call: p.call + 1}
	m.step(s, n, e, check)
}

// readAhead emits reads of older cells before the walk requests them.
func (m *model) readAhead(s *state, i int) {
	v := s.procs[i].walk.View()
	for g := v.Floor; g < v.Current; g++ {
		if s.procs[i].has>>g&1 == 1 {
			continue
		}
		n := *s
		replies, _, err := ask(context.Background(), &modelDB{s: &n, gen: g},
			protocol.Request{Do: protocol.ActionRead, Gen: g}, oneKey)
		if err != nil {
			panic(err)
		}
		if replies[0].Lasting() {
			n.procs[i].has |= 1 << g
			n.procs[i].kept[g] = int8(replies[0].Row)
			m.step(s, &n, event{int8(i), "reads ahead in", g}, nil)
		}
	}
}

// readPosts emits the next read by a process that has put a posting.
func (m *model) readPosts(s *state, i int) {
	n := *s
	p := &n.procs[i]
	e := event{int8(i), "reads the postings of", uint16(p.at)}
	p.saw |= s.cells[p.at].posts
	if p.at--; p.at >= 0 {
		m.step(s, &n, e, nil)
		return
	}
	*p = modelProc{known: p.known, call: p.call + 1, saw: p.saw}
	var wrong error
	for j := range n.procs {
		if q := &n.procs[j]; j != i && q.call == 1 && q.saw>>i&1 == 0 && p.saw>>j&1 == 0 {
			wrong = fmt.Errorf("processes %d and %d do not see each other's postings", i, j)
		}
	}
	m.emit(&n, e, wrong)
}

// growth emits the possible steps of the growth operator.
func (m *model) growth(s *state) {
	if int(s.grows) == len(m.grow) {
		return
	}
	target := int(m.grow[s.grows])
	if again := protocol.NewRollout(target, s.newest.view()); again != s.grower && (m.restarts || s.grower == protocol.Rollout{}) {
		n := *s
		n.grower = again
		m.step(s, &n, event{operator, "begins (again) to activate", uint16(target)}, nil)
	}
	if s.grower == (protocol.Rollout{}) {
		return
	}
	n := *s
	r := s.grower.Next()
	e := event{operator, "", r.Gen}
	var reply protocol.Reply
	won := r.Epoch == s.newest.view().Epoch // the compare-and-swap
	switch r.Do {
	case protocol.ActionMake:
		e.what = "makes the databases of"
	case protocol.ActionAnnounce:
		e.what = "announces"
		if won {
			n.newest.generations++
		}
	case protocol.ActionWait:
		e.what = "waits for"
	case protocol.ActionPublish:
		e.what = "publishes"
		if won {
			n.newest.current = uint8(r.Gen)
		}
	case protocol.ActionSeal:
		e.what = "seals"
		m.mustAsk(&n, r)
	case protocol.ActionFilter:
		e.what = "builds the filter of"
		if c := &n.cells[r.Gen]; m.filters && (Head{Keys: c.keys}).filterable() {
			c.filter = filterOf(c.row)
		}
	case protocol.ActionDone:
		n.grows++
		n.grower = protocol.Rollout{}
		m.step(s, &n, event{operator, "is done with", r.Gen}, nil)
		return
	}
	reply.View = n.newest.view()
	n.grower = s.grower.Step(reply)
	m.step(s, &n, e, nil)
}

func (m *model) mustAsk(n *state, r protocol.Request) {
	if _, _, err := ask(context.Background(), &modelDB{s: n, gen: r.Gen}, r, nil); err != nil {
		panic(err)
	}
}

// compaction emits the possible steps of a compacting operator.
func (m *model) compaction(s *state, i int) {
	c, floor := &s.compactors[i], m.compact[i]
	if c.over || s.newest.current < floor {
		return
	}
	who := int8(compacter + i)
	if again := protocol.NewCompaction(int(floor), s.newest.view()); again != c.machine && (m.restarts || c.machine == protocol.Compaction{}) {
		n := *s
		n.compactors[i] = modelCompactor{machine: again}
		m.step(s, &n, event{who, "begins (again) with floor", uint16(floor)}, nil)
	}
	if c.machine == (protocol.Compaction{}) {
		return
	}
	n := *s
	r := c.machine.Next()
	e := event{who, "", r.Gen}
	var reply protocol.Reply
	switch at := &n.cells[min(r.Gen, modelGens-1)]; r.Do {
	case protocol.ActionSeal:
		e.what = "seals"
		m.mustAsk(&n, r)
	case protocol.ActionCopy:
		m.copy(s, i, r)
		return
	case protocol.ActionFloor:
		e.what = "raises the floor to"
		if r.Epoch == s.newest.view().Epoch {
			n.newest.floor = floor
		}
	case protocol.ActionRefresh:
		e.what = "refreshes"
	case protocol.ActionRetire:
		e.what = "retires"
		at.keys = Head{Keys: at.keys}.retire(r.Epoch).Keys
	case protocol.ActionDrop:
		e.what = "drops the rows of"
		if at.keys == Retired {
			at.row = Nothing
		}
	case protocol.ActionDone:
		n.compactors[i] = modelCompactor{over: true}
		m.step(s, &n, event{who, "is done with floor", r.Gen}, nil)
		return
	}
	reply.View = n.newest.view()
	n.compactors[i].machine = c.machine.Step(reply)
	m.step(s, &n, e, nil)
}

// copy emits the parts of ActionCopy: the older cells are read, one by one in any order, and the row that Compaction
// selects is put into the newest, which refuses if it is not open.
func (m *model) copy(s *state, i int, r protocol.Request) {
	c, who := &s.compactors[i], int8(compacter+i)
	newest, oldest := c.machine.From()
	var rows []int64
	for g := newest; g >= oldest; g-- {
		rows = append(rows, int64(c.rows[g]))
		if c.has>>g&1 == 1 {
			continue
		}
		n, e := *s, event{who, "reads, to be copied, the rows of", uint16(g)}
		n.compactors[i].rows[g] = s.cells[g].row
		n.compactors[i].has |= 1 << g
		m.step(s, &n, e, nil)
	}
	for g := newest; g >= oldest; g-- {
		if c.has>>g&1 == 0 {
			return
		}
	}
	n, e := *s, event{who, "copies to", r.Gen}
	puid, refused := c.machine.Carry(rows), false
	if puid != Nothing {
		err := (&modelDB{s: &n, gen: r.Gen}).Update(context.Background(), func(tx modelTx) error {
			head, err := tx.Head(context.Background())
			if refused = !head.admits(r.Epoch); refused || err != nil {
				return err
			}
			return tx.Copy(context.Background(), []Row{{PUID: puid}})
		})
		if err != nil {
			panic(err)
		}
	}
	n.compactors[i] = modelCompactor{machine: c.machine.Step(protocol.Reply{Fenced: refused})}
	m.step(s, &n, e, nil)
}

// canonical sorts processes with the same calls, so that states that differ only by a permutation of them are one.
// Postings name their processes.
func (m *model) canonical(s *state) {
	for i := 1; i < modelProcs; i++ {
		for j := i; j > 0 && m.procs[j] == m.procs[j-1] && m.procs[j] != "o"; j-- {
			if m.hashProc(&s.procs[j]) >= m.hashProc(&s.procs[j-1]) {
				break
			}
			s.procs[j], s.procs[j-1] = s.procs[j-1], s.procs[j]
		}
	}
}

func (m *model) hashProc(p *modelProc) uint64 { return maphash.Comparable(m.seed, *p) }

// begins returns the initial states of a scenario: all generations announced, the first one current.
func (m *model) begins() []state {
	rows := m.begin
	if rows == nil {
		rows = []int8{Nothing}
	}
	states := make([]state, len(rows))
	for i, row := range rows {
		s := &states[i]
		s.newest = modelMap{generations: modelGens}
		if slices.Contains(m.grow, 0) {
			s.newest.generations = 1
		}
		s.cells[0].row, s.puids = row, max(row, 0)
		for j := range s.procs {
			s.procs[j].known = s.newest
		}
	}
	return states
}
