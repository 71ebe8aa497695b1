// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"github.com/locus-db/locus/internal/problem"
)

var (
	// ErrRules means that a kind cannot be changed in the requested way; the text gives the reason.
	ErrRules = problem.Class(problem.ErrInvalid, "resolve: this change of the kind is not possible")
	// ErrOutdated means that the entities were made by an older version of the matcher. Until Upgrade, records are
	// neither written nor compared.
	ErrOutdated = problem.Class(problem.ErrConflict, "resolve: the installation needs an upgrade")
	// ErrNewer means that the entities were made by a newer version of the matcher.
	ErrNewer = problem.Class(problem.ErrUnavailable, "resolve: the installation was upgraded")
	// ErrUpgrading means that an upgrade is replacing the blocking keys: records wait until that is done.
	ErrUpgrading = problem.Class(problem.ErrUnavailable, "resolve: the installation is being upgraded")
	// ErrMigrating means that another migration of a kind must finish first.
	ErrMigrating = problem.Class(problem.ErrConflict, "resolve: another migration is not finished")
)
