// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/tokens"
)

// waits checks that a rate caused a refusal, and returns its Retry-After.
func (a answer) waits() int {
	a.Helper()
	a.refused(http.StatusTooManyRequests, httpapi.CodeRateLimited)
	seconds, err := strconv.Atoi(a.Header().Get("Retry-After"))
	if err != nil || seconds < 1 {
		a.Errorf("Retry-After %q", a.Header().Get("Retry-After"))
	}
	return seconds
}

// TestP10_FailuresAreLimited guesses tokens from one address, then from many, while a client with a valid token works.
func TestP10_FailuresAreLimited(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	root := bearer(f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}, Rates: tokens.Rates{Requests: access.MaxRate}}))
	bad, _ := access.NewToken()
	guess := func(n int, from func(int) string) (refused int, took time.Duration) {
		t.Helper()
		began := time.Now()
		for i := range n {
			secret := bad
			if i%2 == 0 {
				secret = "Tr0ub4dor&3"
			}
			a := f.do("GET", "/v1/entities", "", append(bearer(secret), "From", from(i))...)
			if a.Code == http.StatusUnauthorized {
				refused++
			} else if seconds := a.waits(); seconds > 2 {
				t.Errorf("Retry-After %d", seconds)
			}
			if i%100 == 0 { // the same address, with a valid token
				if a := f.do("GET", "/v1/entities", "", append(root, "From", from(i))...); a.Code != http.StatusOK {
					t.Errorf("a valid token: %d %s", a.Code, a.Body)
				}
			}
		}
		return refused, time.Since(began)
	}
	refused, took := guess(1000, func(i int) string { return fmt.Sprintf("[2001:db8:1:2::%x]:%d", i+1, 1000+i) })
	if most := 10 + int(took/time.Second) + 1; refused < 10 || refused > most {
		t.Errorf("of 1000 guesses from one /64 network, %d got 401 in %v: at most %d", refused, took, most)
	}
	if a := f.do("GET", "/v1/entities", "", append(bearer(bad), "From", "[2001:db8:1:3::1]:1")...); a.Code != http.StatusUnauthorized {
		t.Errorf("a guess from another network: %d", a.Code)
	}
	refused, took = guess(1000, func(i int) string { return fmt.Sprintf("10.0.%d.%d:80", i/200, i%200) })
	if most := 100 + int(took.Seconds()*100) + 1; refused > most {
		t.Errorf("of 1000 guesses from 1000 addresses, %d got 401 in %v: at most %d", refused, took, most)
	}
	for range 20 { // without a credential: not a failed one
		f.get("/v1/entities").refused(http.StatusUnauthorized, httpapi.CodeUnauthenticated)
	}
}

// TestP10_GuessesAtTheLoginAreLimited guesses tokens on the login page, and codes of locus login.
func TestP10_GuessesAtTheLoginAreLimited(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	root := f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	form := func(token string) answer {
		return f.do("POST", "/login", url.Values{"token": {token}}.Encode(), "Content-Type", "", "Content-Type",
			"application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin")
	}
	limited := map[string]int{}
	for range 30 {
		if form("locus_tok_guess").Code == http.StatusTooManyRequests {
			limited["page"]++
		}
		if f.do("POST", "/v1/login", `{"code":"guess","verifier":"guess"}`).Code == http.StatusTooManyRequests {
			limited["code"]++
		}
	}
	if limited["page"] < 10 || limited["code"] < 10 {
		t.Errorf("of 30 guesses each, so many were refused for their number: %v", limited)
	}
	if a := form(root); a.Code != http.StatusSeeOther {
		t.Errorf("a valid token from the same address: %d %s", a.Code, a.Body)
	}
}

// TestP10_RatesOfATokenAreKept spends the rates of one token; another one is not affected.
func TestP10_RatesOfATokenAreKept(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	slow := bearer(f.token(tokens.Request{Name: "slow", Roles: []string{"administrator"}, Rates: tokens.Rates{Records: 1, Hits: 1, Requests: 20}}))
	other := bearer(f.token(tokens.Request{Name: "other", Roles: []string{"administrator"}}))
	put := func(n int, headers []string) answer {
		body := strings.Repeat(`,{"source":"a","key":"1","attributes":{"name":"x"}}`, n)
		return f.do("POST", "/v1/records", one(body[1:]), headers...)
	}
	count := func(n int, headers []string) answer {
		return f.do("POST", "/v1/hits", `{"hits":[`+strings.Repeat(`,{"metric":"m"}`, n)[1:]+`]}`, headers...)
	}
	began := time.Now()
	for _, send := range []func(int, []string) answer{put, count} {
		if a := send(1000, slow); a.Code != http.StatusOK {
			t.Fatalf("a whole batch: %d %s", a.Code, a.Body)
		}
		if seconds := send(900, slow).waits(); seconds < 900-int(time.Since(began)/time.Second)-1 || seconds > 900 {
			t.Errorf("Retry-After %d", seconds)
		}
		if a := send(900, other); a.Code != http.StatusOK {
			t.Errorf("another token: %d %s", a.Code, a.Body)
		}
	}
	f.do("POST", "/v1/records/delete", `{"records":[`+strings.Repeat(`,{"source":"a","key":"1"}`, 900)[1:]+`]}`,
		slow...).waits()
	admitted := 0
	for range 1000 {
		if a := f.do("GET", "/v1/entities", "", slow...); a.Code == http.StatusOK {
			admitted++
		} else if p := a.refused(429, httpapi.CodeRateLimited); !strings.Contains(p.Detail, "slow has 20 requests") && !strings.Contains(p.Detail, `"slow" has 20 requests`) {
			t.Fatal(p.Detail)
		}
	}
	if most := 20 + int(time.Since(began).Seconds()*20) + 1; admitted > most || admitted == 0 {
		t.Errorf("%d requests in %v, at most %d", admitted, time.Since(began), most)
	}
	if a := f.do("GET", "/v1/entities", "", other...); a.Code != http.StatusOK {
		t.Errorf("another token: %d", a.Code)
	}
}

// TestP10_OpenIsNotLimited sends more than the default rates to an installation without tokens.
func TestP10_OpenIsNotLimited(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for range 300 {
		if a := f.get("/v1/records?limit=1"); a.Code != http.StatusOK {
			t.Fatalf("%d %s", a.Code, a.Body)
		}
	}
}

func TestTokens_RatesOverHTTP(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	root := bearer(f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}}))
	a := f.do("POST", "/v1/tokens", `{"name":"ci","roles":["writer"],"rates":{"requests":5,"hits":7}}`, root...)
	if a.Code != http.StatusCreated || !strings.Contains(a.Body.String(), `"rates":{"requests":5,"hits":7}`) {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if a := f.do("POST", "/v1/tokens/ci/rotate", `{}`, root...); a.Code != http.StatusCreated || !strings.Contains(a.Body.String(), `"rates":{"requests":5,"hits":7}`) {
		t.Errorf("after a rotation: %d %s", a.Code, a.Body)
	}
	for rates, code := range map[string]int{`{"requests":0}`: 422, `{"requests":-1}`: 422, `{"records":10000001}`: 422, `{"hits":1.5}`: 422, `{"bytes":1}`: 400, `5`: 422, `{"hits":"1"}`: 422} {
		if a := f.do("POST", "/v1/tokens", `{"name":"x","roles":["writer"],"rates":`+rates+`}`, root...); a.Code != code {
			t.Errorf("%s: %d %s", rates, a.Code, a.Body)
		}
	}
}
