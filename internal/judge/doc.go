// SPDX-License-Identifier: Apache-2.0

// Package judge asks a program or a language model of the user whether two records describe the same thing.
//
// A judge is given the attributes of both records and nothing else, neither sources nor keys. What it returns is read
// strictly: same, different or unsure, with a reason. The content of a record can cause no more than a wrong answer
// about its own pair.
package judge
