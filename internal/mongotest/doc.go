// SPDX-License-Identifier: Apache-2.0

// Package mongotest provides tests with a MongoDB server or a stand-in, and injects faults between the test and the
// server.
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(mongotest.Main(m)) }
//
//	uri := mongotest.URI(t)                     // mongodb://HOST/locus_test_..., dropped after the test
//	mongotest.RealOnly(t, "races of upserts")   // left out, with its reason, where there is a stand-in
//
//	proxy := mongotest.NewProxy(t, uri)         // open proxy.URI() instead, and
//	proxy.Fault(mongotest.Fault{Command: "update", Collection: "leases", Kind: mongotest.LostReply})
//	arrived, release := proxy.Hold("update", "leases")
//
// LOCUS_TEST_MONGODB_URI names the server. Without it the gate starts a stand-in, and other runs skip the test; with
// LOCUS_TEST=mongodb that is a failure instead:
//
//	test ─► proxy of the test ─► proxy ─────────────────► standin: FerretDB 1.24 over SQLite
//	        what goes wrong      one write at a time,     another process, built once for this machine,
//	                             bulks in pieces          ends with its standard input
//
// The stand-in is a module of its own, so that its sixty modules are not dependencies of Locus (FerretDB has the
// same licence as Locus, and none of it is in the binary). The program is cached in the user's cache directory
// under a hash of its source. If it cannot be built because there is no network, tests are skipped; under CI=1 they
// fail.
//
// # Limits of the stand-in
//
// It reports that it is MongoDB 7.0.42, as a single server without a replica set: the driver retries nothing, there
// are no transactions and no failovers. Nothing is synced to a disk. Tests on it show what single commands do in
// sequence. They prove nothing about MongoDB's concurrency, and it is never used for timings. The findings, on one
// connection and without the proxy:
//
//   - Right, byte for byte: strings ("", dots, dollars, U+0000), int64 beyond 2^53, Binary of subtypes 0 and 4,
//     ObjectIDs, times and documents, as values, nested and as _id; filters, ranges and $in by them; their order.
//   - Right: $inc, $set, $unset, $max, $min, $setOnInsert, also of paths that are not there, also together; an
//     $inc that overflows is refused; equality, comparisons, $exists and $or beside _id; findOneAndUpdate,
//     replaceOne, deleteMany; duplicate keys; sorts by any field; limits, cursors, projections; ascending indexes.
//   - Wrong without the proxy: concurrent increments overwrite each other; bulks of more than 100 hang; an update of
//     several of which one fails does none of those after it, and does not say what it did; the indexes of
//     upserted documents count upserts, not operations.
//   - Wrong with it, too: $push ignores $slice; -0.0 becomes 0.0; infinities are refused; NaN and Decimal128
//     end the connection.
//   - Wrong with it, too: keys are unique without their types. An ObjectID and its hex digits, a time and its
//     milliseconds, a Binary and its base64, Binaries of two subtypes are duplicates of each other.
//   - Not there: updates by pipelines, $expr, change streams, transactions, collations, indexes that expire,
//     projections of findAndModify, distinct with a timeout, bulkWrite of MongoDB 8.
//   - Refused that MongoDB takes: names of fields with dots or dollars. Locus has none.
//   - Not trusted, whatever it answers: aggregations, arrays, racing upserts.
package mongotest
