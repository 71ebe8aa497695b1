// SPDX-License-Identifier: Apache-2.0

package demo

// Rollup is a rollup definition in YAML, and its name.
type Rollup struct{ Name, Definition string }

// Rollups are the rollups that the demo defines.
var Rollups = []Rollup{
	{"places_by_category", `# How many places there are of each category.
rollup: places_by_category
kind: place
group: category
measures:
  places: count
`},
	{"records_by_source", `# How many records of each source created an entity, and how many matched one.
rollup: records_by_source
kind: place
over: records
group: source
dimension: outcome
measures:
  records: count
`},
}
