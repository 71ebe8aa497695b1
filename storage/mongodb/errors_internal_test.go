// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
)

// A mongos has its own error codes for a shard that it did not reach. A read may be retried; the outcome of a write is
// unknown.
func TestErrors_OfAMongos(t *testing.T) {
	t.Parallel()
	for _, code := range []int{6, 7, 89, 133, 202, 262, 9001} {
		if err := unread(mongo.CommandError{Code: int32(code)}); !errors.Is(err, cell.ErrUnavailable) {
			t.Errorf("code %d of a question: %v, want ErrUnavailable", code, err)
		}
		if err := outcome(mongo.WriteError{Code: code}); !errors.Is(err, counter.ErrCommitUnknown) {
			t.Errorf("code %d of a write: %v, want ErrCommitUnknown", code, err)
		}
	}
	if err := outcome(mongo.WriteError{Code: 121}); errors.Is(err, counter.ErrCommitUnknown) || errors.Is(err, cell.ErrUnavailable) {
		t.Errorf("a document that the server refuses: %v", err)
	}
}
