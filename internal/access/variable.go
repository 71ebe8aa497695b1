// SPDX-License-Identifier: Apache-2.0

package access

import (
	"errors"
	"regexp"
	"strings"
)

var variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// CheckVariable returns what is wrong with the environment variable that a definition names for the secret of a sink or
// of a source, nil for "". The variables of the servers' own credentials are refused: the secret is sent to the
// host that the definition names.
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
