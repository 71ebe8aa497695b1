// SPDX-License-Identifier: Apache-2.0

package cli

import "strings"

// setting is a setting of the configuration file. It has the meaning of a flag of locus serve, whose help describes it.
type setting struct {
	path string // in the file: section and name, or the name alone
	flag string
	form form
	like string // an example, as YAML, of a setting without a default
}

// form is how a value is written in the file.
type form int

const (
	single     form = iota // one value
	list                   // one value or several
	file                   // the name of a file or directory, relative to the directory of the configuration file
	secretFile             // file of a secret: its name is not shown either
	grants                 // a name and its roles, for each name
)

// settings are all settings in the order of the example. A test compares them with the flags of locus serve.
var settings = []setting{
	{"data", "data", file, ""},
	{"map", "map", list, "[postgres://db1/locus, postgres://db2/locus]"},
	{"mongodb", "mongodb", single, "mongodb://db1,db2/locus"},
	{"cells", "cells", single, ""},
	{"connections", "connections", single, ""},
	{"node", "node", single, "1"},
	{"notice", "notice", single, ""},
	{"read_only", "read-only", single, ""},
	{"places", "place", list, `["postgres://db3"]`},
	{"unsafe_durability", "unsafe-durability", single, ""},
	{"secret_env", "secret-env", list, "[CRM_PASSWORD=db1]"},
	{"sink_files", "sink-files", file, "/var/lib/locus/sinks"},
	{"pprof", "pprof", single, ""},
	{"shutdown_timeout", "shutdown-timeout", single, ""},

	{"listen.addr", "addr", single, ""},

	{"listen.public_url", "public-url", single, "https://locus.example.org"},
	{"listen.peer_addr", "peer-addr", single, "10.0.0.5:7071"},
	{"listen.hosts", "host", list, "[locus.internal]"},
	{"listen.tls", "tls", single, "files"},
	{"listen.tls_cert", "tls-cert", file, "tls.crt"},
	{"listen.tls_key", "tls-key", secretFile, "tls.key"},
	{"listen.trusted_proxies", "trusted-proxies", list, "[10.0.0.0/8]"},
	{"listen.insecure", "insecure-listen", single, ""},
	{"listen.bootstrap_token_file", "bootstrap-token-file", secretFile, "bootstrap.token"},
	{"listen.tls_client_ca", "tls-client-ca", file, "clients.crt"},
	{"listen.cert_roles", "cert-role", grants, "{importer.internal: [writer]}"},

	{"oidc.issuer", "oidc-issuer", single, "https://id.example.org"},
	{"oidc.client_id", "oidc-client-id", single, "locus"},
	{"oidc.client_secret_file", "oidc-client-secret-file", secretFile, "oidc.secret"},
	{"oidc.roles", "oidc-role", grants, "{stewards: [reviewer]}"},

	{"jwt.issuer", "jwt-issuer", single, "https://ci.example.org"},
	{"jwt.roles", "jwt-role", grants, "{nightly-import: [writer]}"},

	{"keep.changes", "retain", single, ""},
	{"keep.minutes", "retain-minutes", single, ""},
	{"keep.hours", "retain-hours", single, ""},
	{"keep.metrics", "retain-metrics", list, "[api.=14d/1y]"},

	{"limits.rollups", "max-rollups", single, ""},
	{"limits.kinds", "max-kinds", single, ""},

	{"access.grace", "access-grace", single, ""},

	{"audit.also", "audit", list, "[write]"},
	{"audit.file", "audit-file", file, "audit.jsonl"},

	{"traces.endpoint", "trace-endpoint", single, "http://127.0.0.1:4318"},
	{"traces.sample", "trace-sample", single, ""},

	{"log.level", "log-level", single, "info"},
	{"log.format", "log-format", single, "json"},
}

// section returns the section of a setting, "" if it has none, and its name there.
func (s setting) section() (section, name string) {
	if section, name, in := strings.Cut(s.path, "."); in {
		return section, name
	}
	return "", s.path
}

// sections returns the words of a section in order. The words at the top level are the settings without a section, and
// the sections.
func sections(of string) []string {
	var words []string
	for _, s := range settings {
		section, name := s.section()
		if section != of && of == "" {
			name = section
		} else if section != of {
			continue
		}
		if len(words) == 0 || words[len(words)-1] != name {
			words = append(words, name)
		}
	}
	return words
}

// settingAt returns a setting by section and name.
func settingAt(section, name string) (setting, bool) {
	for _, s := range settings {
		if in, of := s.section(); in == section && of == name {
			return s, true
		}
	}
	return setting{}, false
}
