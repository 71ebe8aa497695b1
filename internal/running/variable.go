// SPDX-License-Identifier: Apache-2.0

package running

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
)

var variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// CheckVariable returns the reason why a definition may not name the environment variable for the secret of a sink or
// of a source, nil for "". The variables of the servers' own credentials are refused: the secret is sent to the host
// that the definition names.
func CheckVariable(name string) error {
	switch upper := strings.ToUpper(name); {
	case name == "":
		return nil
	case !variableForm.MatchString(name):
		return errors.New("want the name of an environment variable of the servers, such as CRM_SECRET, not the secret")
	case strings.HasPrefix(upper, "PG"), strings.HasPrefix(upper, "LOCUS_"):
		return errors.New("PG* and LOCUS_* are the servers' own credentials, which no other host gets: choose another name, such as CRM_SECRET")
	}
	return nil
}

// Variables are the environment variables that sinks and streams may name for their secrets, and the hosts that each is
// for. A definition comes over the network, so it alone must not decide which of the server's variables goes where.
type Variables map[string][]string

// ParseVariables reads a list of NAME=HOST or NAME=HOST,HOST. A name may be repeated.
func ParseVariables(list []string) (Variables, error) {
	v := Variables{}
	for _, text := range list {
		name, hosts, _ := strings.Cut(text, "=")
		if err := CheckVariable(name); err != nil {
			return nil, fmt.Errorf("%.80q: %w", name, err)
		}
		for host := range strings.SplitSeq(hosts, ",") {
			host = strings.ToLower(strings.Trim(strings.TrimSpace(host), "[]"))
			if name == "" || host == "" || strings.ContainsAny(host, "/@?= ") {
				return nil, fmt.Errorf("%.80q does not say which host gets it: want NAME=HOST, such as CRM_SECRET=db1 or KAFKA_PASSWORD=b1,b2", name)
			}
			v[name] = append(v[name], host)
		}
	}
	return v, nil
}

// Value returns the value of a variable for the target of a URL.
func (v Variables) Value(name string, to *url.URL) (string, error) {
	hosts := hostsOf(to)
	for _, host := range hosts {
		if !slices.Contains(v[name], host) {
			return "", fmt.Errorf("the server does not send %s to %.100s: start it with --secret-env %s=%s", name, host, name, strings.Join(hosts, ","))
		}
	}
	return FromEnvironment(name, to)
}

// FromEnvironment returns the value of any environment variable, for any target.
func FromEnvironment(name string, _ *url.URL) (string, error) {
	if value := os.Getenv(name); value != "" {
		return value, nil
	}
	return "", fmt.Errorf("the environment variable %s of the server is not set", name)
}

// hostsOf returns all hosts of a URL, without ports, including the hosts of a list and of PostgreSQL's host parameter.
// It returns [""] if there is none.
func hostsOf(u *url.URL) (all []string) {
	for _, list := range append([]string{u.Host}, u.Query()["host"]...) {
		for host := range strings.SplitSeq(list, ",") {
			if name, _, err := net.SplitHostPort(host); err == nil {
				host = name
			}
			if host = strings.ToLower(strings.Trim(host, "[]")); host != "" && !slices.Contains(all, host) {
				all = append(all, host)
			}
		}
	}
	if all == nil {
		all = []string{""}
	}
	return all
}
