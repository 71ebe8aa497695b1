// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"context"
	"fmt"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/source"
	"github.com/locus-db/locus/source/sourcetest"
)

// A stream is read from the stored position, which is moved on once the records are durable.
func Example() {
	broker := sourcetest.NewBroker()
	broker.Publish(0, time.Unix(1, 0), "c1", `{"op":"c","after":{"id":"c1","name":"Blue Dorr"}}`)
	broker.Publish(0, time.Unix(2, 0), "c2", `{"op":"c","after":{"id":"c2","name":"Ann Lee"}}`)
	broker.Publish(0, time.Unix(3, 0), "c2", `{"op":"d","before":{"id":"c2"},"after":null}`)
	broker.Publish(0, time.Unix(3, 0), "c2", "")

	ctx := context.Background()
	installation := sourcetest.NewInstallation()
	progress, _ := installation.Load(ctx)
	stream, err := broker.Open(ctx, progress.Position)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stream.Close()
	messages, _ := stream.Fetch(ctx, 1000)
	for _, m := range messages {
		row, ok, err := source.DecodeRow(source.Debezium, m)
		fmt.Println(m.Offset, string(row.Object), row.Delete, ok, err)
		if !ok {
			continue
		}
		op := source.Op{Ref: entity.Ref{Source: "crm", Key: string(m.Key)}, Observed: row.Time, Delete: row.Delete}
		_, _ = installation.Apply(ctx, []source.Op{op})
	}
	fmt.Println(len(installation.Records), "record")
	// Output:
	// 0 {"id":"c1","name":"Blue Dorr"} false true <nil>
	// 1 {"id":"c2","name":"Ann Lee"} false true <nil>
	// 2 {"id":"c2"} true true <nil>
	// 3  false false <nil>
	// 1 record
}
