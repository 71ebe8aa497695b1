// SPDX-License-Identifier: Apache-2.0

// Package learn fits the weights of a kind to records that were not labelled.
//
//	records ──► random pairs ──► vectors ┐
//	                                     ├─► expectation maximisation ──► Draft: prior and weights ─┐
//	records ──► candidates ──► vectors ──┤                                                          ├─► Refused: reasons to
//	                                     └─► latent classes of the candidates: which likely match ──┘   keep today's weights
//
// The model is that of Fellegi and Sunter (A theory for record linkage, 1969), fitted as Winkler proposed and Splink
// does: the weight of a level is log2(m/u), where m is its share among matches and u its share among pairs that do not
// match. Random pairs give u, since nearly all of them are different things. Expectation maximisation over the
// candidates gives m and the prior, the odds that two random records match. The prior falls as the number of records
// grows, so the same agreement means less among many.
//
// The model assumes that fields agree independently. If different things agree in several fields at once, such as the
// shops of one building, the fit would take them for matches. Four rules prevent that:
//
//   - Today's weights and the new ones together estimate whether a pair is a match, see anchor.
//   - A level that few pairs have keeps most of its weight of today, see spread.
//   - Identifiers that differ are at least as much evidence as today, see model.contradict.
//   - A draft is taken only if it is better, see Draft.Refused.
//
// Whether it is better is estimated without labels, by a third table that decides nothing (see opinion): a latent class
// model of the candidates alone. In that model u is the share among the candidates that do not match. They share a
// blocking key, as neighbours do, so agreement that is common among neighbours counts little, although random pairs
// hardly ever have it. In a source that describes nothing twice, at most one of a record's candidates matches. The
// probabilities of the candidates give the precision, the recall and F1 of both tables, and the standard error of the
// difference, to which only candidates contribute that exactly one of the tables accepts.
//
// Everything is a function of the set of records: random pairs are drawn with a fixed seed from records in the order of
// their source and key.
package learn
