// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/review"
)

// doubtful returns an installation of n pairs of records, each pair with its own name, which agree to different
// degrees. Whether the two records of a pair are one thing is drawn at random.
func doubtful(t *testing.T, seed uint64, n int) (*locus.DB, map[entity.Ref]int) {
	t.Helper()
	s := fresh(t)
	random := rand.New(rand.NewPCG(seed, 1))
	truth := map[entity.Ref]int{}
	var puts []records.Input
	word := func() string {
		letters := make([]byte, 8)
		for i := range letters {
			letters[i] = "aeioubdfgklmnprstvz"[random.IntN(19)]
		}
		return string(letters)
	}
	for i := range n {
		name, phone, street := word()+" "+word(), fmt.Sprintf("212-555-%04d", i), fmt.Sprintf("%d %s St", 10+i, word())
		a, b := inTown("a", fmt.Sprint(i), name, phone, street), inTown("b", fmt.Sprint(i), name, phone, street)
		odds := 0.0
		switch random.IntN(6) {
		case 0, 1:
			odds = .97
		case 2:
			b, odds = inTown("b", fmt.Sprint(i), name, "", fmt.Sprintf("%d %s St", 400+i, word())), .4
		case 3:
			b, odds = inTown("b", fmt.Sprint(i), name+" "+word(), phone, fmt.Sprintf("%d %s St", 400+i, word())), .8
		case 4:
			b, odds = inTown("b", fmt.Sprint(i), name, "", street), .9
		case 5:
			b, odds = inTown("b", fmt.Sprint(i), name, fmt.Sprintf("646-555-%04d", 5000+i),
				fmt.Sprintf("%d %s St", 400+i, word())), .2
		}
		puts = append(puts, a, b)
		truth[a.Ref], truth[b.Ref] = 2*i, 2*i
		if random.Float64() > odds {
			truth[b.Ref]++
		}
	}
	for some := range slices.Chunk(puts, 500) {
		put(t, s, some...)
	}
	return s, truth
}

func listed(t *testing.T, s *locus.DB, q review.Query) []review.Pair {
	t.Helper()
	var all []review.Pair
	for {
		page, err := s.Review().List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Pairs...)
		if q.After = page.Next; q.After == "" {
			return all
		}
	}
}

// answer decides about a pair as the truth is.
func answer(t *testing.T, s *locus.DB, truth map[entity.Ref]int, p *review.Pair) {
	t.Helper()
	verdict := entity.VerdictDifferent
	if truth[p.A] == truth[p.B] {
		verdict = entity.VerdictSame
	}
	decide(t, s, decisions.Input{Verdict: verdict, A: p.A.String(), B: p.B.String(), Author: "ann"})
}

// truly returns precision and recall of the entities over compared pairs.
func truly(t *testing.T, s *locus.DB, truth map[entity.Ref]int, pairs []review.Pair) (precision, recall float64) {
	t.Helper()
	in := map[string]string{}
	for anchor, members := range entitiesOf(t, s) {
		for _, ref := range members {
			in[ref] = anchor
		}
	}
	var together, wrong, missed float64
	for _, p := range pairs {
		switch same, joined := truth[p.A] == truth[p.B], in[p.A.String()] == in[p.B.String()]; {
		case same && joined:
			together++
		case joined:
			wrong++
		case same:
			missed++
		}
	}
	return together / (together + wrong), together / (together + missed)
}

// TestService_Teaches expects the order to contain every uncertain pair once, joined or not, and the next question to
// be about another pattern than the answered one.
func TestService_Teaches(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	s, truth := doubtful(t, 3, 150)
	best := listed(t, s, review.Query{Limit: 7})
	teaches := listed(t, s, review.Query{Limit: 7, Order: review.Teaches})
	key := func(p *review.Pair) string { return p.A.String() + " " + p.B.String() }
	seen := map[string]bool{}
	joined := 0
	for _, p := range teaches {
		if seen[key(&p)] {
			t.Errorf("%s is listed twice", key(&p))
		}
		seen[key(&p)] = true
		if p.Joined != (p.EntityA == p.EntityB) {
			t.Errorf("%s: joined %v", key(&p), p.Joined)
		}
		if p.Joined {
			joined++
		}
		if bits := float64(p.Explanation.Weight) / 100; p.Joined && (bits < 5 || bits >= 9) || !p.Joined && (bits < 0 || bits >= 5) {
			t.Errorf("%s has %.2f bits, joined %v", key(&p), bits, p.Joined)
		}
		if p.Teaches < 0 || p.Teaches > 9 {
			t.Errorf("%s teaches %v bits", key(&p), p.Teaches)
		}
	}
	for _, p := range best {
		if !seen[key(&p)] {
			t.Errorf("%s is not in the order teaches", key(&p))
		}
	}
	if len(best) < 10 || joined < 3 || len(teaches) != len(best)+joined {

		t.Fatalf("%d pairs in the order best, %d in the order teaches, of which %d joined", len(best), len(teaches), joined)
	}
	first := teaches[0]
	answer(t, s, truth, &first)
	after := listed(t, s, review.Query{Limit: 100, Order: review.Teaches})
	for _, p := range after {
		if key(&p) == key(&first) {
			t.Errorf("%s is asked about again", key(&p))
		}
	}
	if pattern(&after[0]) == pattern(&first) {
		t.Errorf("the next question has the levels of the first: %s", pattern(&first))
	}
}

func pattern(p *review.Pair) (levels string) {
	for _, l := range p.Explanation.Lines {
		levels += l.Attribute + " " + l.Level + ", "
	}
	return levels
}

// TestService_TeachesWhatSettlesMuch asks first about two entities of several records, and then about two records.
func TestService_TeachesWhatSettlesMuch(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	for i := range 6 {
		put(t, s, inTown("a", fmt.Sprint("oak", i), "Brass Heron Antiques", "212-555-0101", "12 Oak Ave"),
			inTown("b", fmt.Sprint("mill", i), "Brass Heron Antiques", "646-555-7878", "99 Mill Lane"))
	}
	put(t, s, inTown("a", "one", "Gilded Otter Books", "212-555-0999", "1 Pine St"),
		inTown("b", "two", "Gilded Otter Books", "646-555-7111", "7 Birch Rd"))
	pairs := listed(t, s, review.Query{Order: review.Teaches})
	if len(pairs) != 2 || pairs[0].Merges != 12 || pairs[1].Merges != 2 {
		t.Fatalf("%+v", pairs)
	}
	if more := pairs[0].Teaches / pairs[1].Teaches; math.Abs(more-math.Log2(37)) > .1 && pairs[0].Explanation.Weight == pairs[1].Explanation.Weight {
		t.Errorf("%v and %v bits", pairs[0].Teaches, pairs[1].Teaches)
	}
}

// TestService_TeachesWithLargeEntities asks one question about an entity of hundreds of weak pairs, and one about the
// next.
func TestService_TeachesWithLargeEntities(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	for i := range 45 {
		put(t, s, inTown("a", fmt.Sprint("oak", i), "Brass Heron Antiques", fmt.Sprint("212-555-", 1000+97*i), ""))
	}
	put(t, s, inTown("a", "one", "Gilded Otter Books", "212-555-0999", "1 Pine St"),
		inTown("b", "two", "Gilded Otter Books", "646-555-7111", "7 Birch Rd"))
	pairs := listed(t, s, review.Query{Order: review.Teaches})
	if len(pairs) != 2 || pairs[0].Merges+pairs[1].Merges != 47 || pairs[0].Joined == pairs[1].Joined {
		t.Fatalf("%+v", pairs)
	}
}

// TestService_Chance lists every compared pair once, in an order that decisions do not change.
func TestService_Chance(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	s, truth := doubtful(t, 4, 200)
	q := review.Query{Limit: 100, Order: review.Chance}
	before := listed(t, s, q)
	estimated, err := s.Quality().Estimate(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(estimated.Kinds) != 1 || estimated.Kinds[0].Pairs != len(before) || estimated.Records != 400 ||
		!estimated.Whole {
		t.Fatalf("%d pairs, estimated %+v", len(before), estimated)
	}
	answer(t, s, truth, &before[0])
	answer(t, s, truth, &before[7])
	after := listed(t, s, q)
	if len(after) > len(before)-2 {
		t.Fatalf("%d pairs of %d are left after two answers", len(after), len(before))
	}
	at := 0 // the remaining pairs keep their order: an answer may only remove pairs that it implies
	for _, p := range after {
		for at < len(before) && (before[at].A != p.A || before[at].B != p.B) {
			at++
		}
		if at == len(before) {
			t.Fatalf("%v and %v are not where they were", p.A, p.B)
		}
	}
}

// TestService_Quality asks random questions and answers them truthfully. The intervals contain the true values and
// narrow with more answers. Answers to chosen questions, which concern mistakes more often, do not bias them.
func TestService_Quality(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	held, of := 0, 0
	for seed := range uint64(longtest.Sample(1, 2, 3, 20)) {
		s, truth := doubtful(t, 100+seed, 300)
		all := listed(t, s, review.Query{Order: review.Chance, Limit: 100})
		width := 2.0
		for round := range 3 {
			for _, q := range []review.Query{{Order: review.Chance, Limit: 40}, {Order: review.Teaches, Limit: 5}} {
				page, err := s.Review().List(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				for i := range page.Pairs {
					answer(t, s, truth, &page.Pairs[i])
				}
			}
			quality, err := s.Quality().Estimate(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			k := quality.Kinds[0]
			precision, recall := truly(t, s, truth, all)
			for _, one := range []struct {
				is, low, high float64
			}{{precision, k.Precision.Low, k.Precision.High}, {recall, k.Recall.Low, k.Recall.High}} {
				of++
				if one.low <= one.is && one.is <= one.high {
					held++
				}
			}
			now := k.Precision.High - k.Precision.Low + k.Recall.High - k.Recall.Low
			t.Logf("seed %d, round %d: %d drawn of %d decided, precision %.3f in %+v, recall %.3f in %+v", seed, round, k.Drawn,
				k.Decided, precision, k.Precision, recall, k.Recall)
			if now > width {
				t.Errorf("more answers make the intervals wider: %.3f, before %.3f", now, width)
			}
			width = now
		}
	}
	if held*10 < of*8 {
		t.Errorf("%d of %d intervals hold the truth", held, of)
	}
}

func TestService_OrdersOfReview(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	put(t, s, oak, mill)
	for _, q := range []review.Query{
		{Order: "worst"}, {Order: review.Teaches, After: "chance 1 2 3"}, {Order: review.Chance, After: "500 1 2"},
	} {
		var invalid *problem.InvalidError
		if _, err := s.Review().List(t.Context(), q); !errors.As(err, &invalid) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	for _, order := range review.Orders() {
		for kind, want := range map[string]int{"place": 1, "person": 0} {
			page, err := s.Review().List(t.Context(), review.Query{Order: order, Kinds: []string{kind}})
			if err != nil || len(page.Pairs) != want {
				t.Errorf("%s of %s: %+v, %v", order, kind, page, err)
			}
		}
	}
	if q, err := s.Quality().Estimate(t.Context(), []string{"person"}); err != nil || q.Records != 0 || len(q.Kinds) != 0 {
		t.Errorf("%+v, %v", q, err)
	}
}
