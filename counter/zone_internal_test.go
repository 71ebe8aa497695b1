// SPDX-License-Identifier: Apache-2.0

package counter

import (
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the same zones on every machine
)

// zoneNames are the names in the time zone database.
//
// go:embed testdata/zones.txt
var zoneNames string

func load(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// The starts of days and hours in unusual zones, in local time.
func TestCut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what, zone, from, to string
		step                 Step
		want                 string
	}{
		{"a day of 23 hours", "Europe/Berlin", "2026-03-28", "2026-03-30", ByDay, "28T00:00 +24h 29T00:00 +23h"},
		{"a day of 25 hours", "Europe/Berlin", "2026-10-24", "2026-10-26", ByDay, "24T00:00 +24h 25T00:00 +25h"},
		{"an hour twice", "Europe/Berlin", "2026-10-25 01:30", "2026-10-25 04:00", ByHour,
			"25T01:00 +1h 25T02:00 +1h 25T02:00 +1h 25T03:00 +1h"},
		{"an hour that is not there", "Europe/Berlin", "2026-03-29 01:00", "2026-03-29 04:00", ByHour,
			"29T01:00 +1h 29T03:00 +1h"},
		{"half an hour more", "Australia/Lord_Howe", "2026-04-04", "2026-04-06", ByDay, "04T00:00 +24h 05T00:00 +24h30m"},
		{"half an hour again", "Australia/Lord_Howe", "2026-04-05 01:00", "2026-04-05 03:00", ByHour,
			"05T01:00 +1h 05T01:30 +30m 05T02:00 +1h"},
		{"half an hour less", "Australia/Lord_Howe", "2026-10-04 01:00", "2026-10-04 04:00", ByHour,
			"04T01:00 +1h 04T02:30 +30m 04T03:00 +1h"},
		{"+5:45", "Asia/Kathmandu", "2026-11-20", "2026-11-21", ByDay, "20T00:00 +24h"},
		{"+12:45", "Pacific/Chatham", "2026-04-05", "2026-04-06", ByDay, "05T00:00 +25h"},
		{"without 30 December", "Pacific/Apia", "2011-12-28", "2012-01-01", ByDay,
			"28T00:00 +24h 29T00:00 +24h 31T00:00 +24h"},
		{"a day that begins at 01:00", "America/Sao_Paulo", "2018-11-03", "2018-11-05 12:00", ByDay,
			"03T00:00 +24h 04T01:00 +23h 05T00:00 +24h"},
		{"midnight twice", "America/Sao_Paulo", "2018-02-17", "2018-02-19", ByDay, "17T00:00 +25h 18T00:00 +24h"},
		{"a minute after midnight, back over it", "America/St_Johns", "2010-11-06", "2010-11-08", ByDay,
			"06T00:00 +24h 07T00:00 +25h"},
		{"minutes are those of UTC", "Asia/Kathmandu", "2026-11-20", "2026-11-20 00:02", ByMinute,
			"20T00:00 +1m 20T00:01 +1m"},
		{"29 February", "UTC", "2028-02-28", "2028-03-02", ByDay, "28T00:00 +24h 29T00:00 +24h 01T00:00 +24h"},
		{"before 1970", "UTC", "1969-12-31 23:30", "1970-01-01 00:30", ByHour, "31T23:00 +1h 01T00:00 +1h"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			z := load(t, tt.zone)
			edges, err := cut(local(t, tt.from, z), local(t, tt.to, z), tt.step, z)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, e := range edges[:len(edges)-1] {
				long := time.Duration(edges[i+1]-e) * time.Minute
				got = append(got, e.Time().In(z).Format("02T15:04 +")+strings.NewReplacer("m0s", "m", "h0m",
					"h").Replace(strings.TrimSuffix(long.String(), "0s")))
			}
			if got := strings.ReplaceAll(strings.Join(got, " "), "h0m", "h"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func local(t *testing.T, text string, z *time.Location) time.Time {
	t.Helper()
	at, err := time.ParseInLocation("2006-01-02 15:04", (text + " 00:00")[:16], z)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestCut_Refuses(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, zone := range []string{"UTC", "Europe/Paris"} {
		for step, most := range map[Step]time.Duration{ByMinute: time.Minute, ByHour: time.Hour, ByDay: 24 * time.Hour} {
			z := load(t, zone)
			if _, err := cut(begin, begin.Add(most*(maxPoints-10)), step, z); err != nil {
				t.Errorf("%s, %s: %v", zone, step, err)
			}
			if _, err := cut(begin, begin.Add(most*(maxPoints+10)), step, z); !errors.Is(err, ErrRange) {
				t.Errorf("%s, %s: %v, want ErrRange", zone, step, err)
			}
		}
	}
	// Clocks of Amsterdam were 19 minutes and 32 seconds ahead until 1937.
	_, err := cut(time.Date(1930, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1930, 1, 3, 0, 0, 0, 0, time.UTC), ByDay,
		load(t, "Europe/Amsterdam"))
	if e, ok := errors.AsType[*InvalidError](err); !ok || e.Problems[0].Pointer != "/step" {
		t.Errorf("seconds: %v", err)
	}
}

// In every zone, over two years, days and hours follow each other without a gap, begin at the local date or hour,
// and equal the sum of their minutes.
func TestP03_EveryZone(t *testing.T) {
	t.Parallel()
	from, to := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	days := newTwoYears(from, to)
	seen := map[string]string{}
	for name := range strings.Lines(zoneNames) {
		z := load(t, strings.TrimSpace(name))
		// Most zones equal one of a few in these years.
		like := fmt.Sprint(periods(z, from, to))
		if seen[like] == "" {
			days.check(t, z)
		}
		seen[like] += name
	}
	t.Logf("%d ways to tell the time", len(seen))
}

func periods(z *time.Location, from, to time.Time) (all []period) {
	c := clock{zone: z}
	for at := from.Unix(); at < to.Unix(); at = c.p.to {
		p := c.period(at)
		all = append(all, period{max(p.from, from.Unix()), min(p.to, to.Unix()), p.offset})
	}
	return all
}

// twoYears are days with a hit in every minute, as open buckets without minutes.
type twoYears struct {
	from, to time.Time
	upTo     []int64 // count before each minute
	days     []held
}

func newTwoYears(from, to time.Time) *twoYears {
	rng := rand.New(rand.NewPCG(2025, 2027))
	y := &twoYears{from: from, to: to, upTo: []int64{0}}
	for range MinuteOf(to).Day() - MinuteOf(from).Day() {
		open := make([]int64, Days.Width())
		for m := range dayMinutes {
			n := int64(rng.Uint64() & 7)
			open[DayTotal] += n
			open[DayHour(m/60)] += n
			open[DayQuarter(m/15)] += n
			y.upTo = append(y.upTo, y.upTo[len(y.upTo)-1]+n)
		}
		y.days = append(y.days, held{open: open})
	}
	return y
}

func (y *twoYears) check(t *testing.T, z *time.Location) {
	t.Helper()
	for _, step := range []Step{ByDay, ByHour} {
		from, to := y.from.Add(48*time.Hour), y.to.Add(-48*time.Hour)
		edges, err := cut(from, to, step, z)
		if err != nil {
			t.Fatal(z, err)
		}
		if first, last := edges[0].Time(), edges[len(edges)-1].Time(); first.After(from) || last.Before(to) {
			t.Fatalf("%s by %s: %v to %v", z, step, first, last)
		}
		p := newPlan(edges, y.to)
		l := p.line(Meta{ID: 1})
		for i := range p.days {
			n := &p.days[i]
			if n.level == Minutes {
				t.Fatalf("%s by %s: steps begin within a quarter of an hour on %v", z, step, dayBegin(n.day))
			}
			if err := l.take(p, n, &y.days[n.day-MinuteOf(y.from).Day()]); err != nil {
				t.Fatal(err)
			}
		}
		before, c := MinuteOf(y.from), clock{zone: z}
		for i, sum := range l.sums {
			begin, end := edges[i], edges[i+1]
			if want := y.upTo[end-before] - y.upTo[begin-before]; sum != want {
				t.Fatalf("%s: the %s that begins at %v has %d, its minutes add up to %d", z, step, begin.Time().In(z), sum, want)
			}
			// Only hours near clock changes are checked.
			if p := c.period(int64(begin) * 60); step == ByDay || int64(begin)*60-p.from < daySeconds || p.to-int64(begin)*60 < daySeconds {
				checkStep(t, z, step, begin, end)
			}
		}
		if want := y.upTo[edges[len(edges)-1]-before] - y.upTo[edges[0]-before]; l.total != want {
			t.Fatalf("%s by %s: the total is %d, its minutes add up to %d", z, step, l.total, want)
		}
	}
}

// checkStep checks that a step is one hour or one date on local clocks, and the next one another. In Antarctica a
// day may have 26 hours.
func checkStep(t *testing.T, z *time.Location, step Step, begin, end Minute) {
	t.Helper()
	label := func(m Minute) [3]int {
		at := m.Time().In(z)
		_, offset := at.Zone()
		if step == ByDay {
			return [3]int{at.YearDay(), at.Year(), 0}
		}
		return [3]int{at.YearDay(), at.Hour(), offset}
	}
	if end <= begin || end-begin > 26*60 || step == ByHour && end-begin > 60 {
		t.Fatalf("%s: a %s of %d minutes begins at %v", z, step, end-begin, begin.Time().In(z))
	}
	is := label(begin)
	if label(end-1) != is || label(begin+(end-begin)/2) != is || label(end) == is || label(begin-1) == is {
		t.Fatalf("%s: the %s from %v to %v is not one on local clocks", z, step, begin.Time().In(z), end.Time().In(z))
	}
}
