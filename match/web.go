// SPDX-License-Identifier: Apache-2.0

package match

import (
	"strings"
	"unicode"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/net/publicsuffix"
)

// maxPages is the maximum number of web pages, and of mailboxes, of a record to compare.
const maxPages = 8

// page is a web page: host and path without scheme, "www.", query and fragment.
type page struct {
	text   string // normal form, "host/path"
	domain string // registrable domain; empty if unrelated parties share the host
	hash   uint64 // of text
	site   uint64 // of domain
}

// parsePage parses one raw value; ok is false if it names no host.
func parsePage(raw string) (p page, ok bool) {
	s := strings.ToLower(strings.TrimSpace(raw))
	if i := strings.Index(s, "://"); i >= 0 {
		s = s[i+3:]
	} else if strings.Contains(s, "@") {
		return page{}, false // a mailbox
	}
	if i := strings.IndexAny(s, "?#"); i >= 0 {
		s = s[:i]
	}
	host, path, _ := strings.Cut(s, "/")
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	host, _, _ = strings.Cut(host, ":")
	host = strings.TrimPrefix(strings.TrimSuffix(host, "."), "www.")
	if !strings.Contains(host, ".") || strings.ContainsFunc(host, func(r rune) bool { return unicode.IsSpace(r) || r == ',' }) {
		return page{}, false
	}
	path = strings.Trim(path, "/ ")
	domain := host
	if strings.Count(host, ".") > 1 && !isDigit(host[len(host)-1]) {
		if d, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
			domain = d
		}
	}
	shared := isSharedHost(domain)
	if shared && path == "" && host == domain {
		return page{}, false // the front page of a network identifies nothing
	}
	if shared {
		if len(host) > len(domain) && strings.HasSuffix(host, "."+domain) && len(host)-len(domain) <= 4 {
			host = domain // m.facebook.com, de-de and the like
		}
		domain = ""
	}
	p.text = host
	if path != "" {
		p.text = host + "/" + path
	}
	p.domain = domain
	p.hash, p.site = xxhash.Sum64String(p.text), xxhash.Sum64String(domain)
	return p, true
}

// comparePages returns the level of the best pair of pages.
func comparePages(a, b []page) level {
	best := levelNone
	for i := range a {
		for j := range b {
			l := levelNone
			switch {
			case a[i].hash == b[j].hash:
				return webPage
			case a[i].domain == "" || b[j].domain == "":
				// A page of a network compared with an own site is no evidence.
			case a[i].site == b[j].site:
				l = webDomain
			default:
				l = webDifferent
			}
			best = max(best, l)
		}
	}
	return best
}
