// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/locus-db/locus/internal/longtest"
)

// onNATS is behind the marker of a block that needs a server of NATS, which is at natsServer in the pages.
const (
	onNATS     = ": nats"
	natsServer = "nats://127.0.0.1:4222"
)

// The blocks that need NATS, in a shell of their own. The command nats of the pages is this program.
func TestCommands_OnNATS(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "TestCommands_DoWhatThePagesSay runs the blocks that need Locus alone")
	for _, p := range pages(t) {
		blocks := p.blocks(t)
		if !slices.ContainsFunc(blocks, func(b block) bool { return b.marker == "run"+onNATS }) {
			continue
		}
		t.Run(p.path, func(t *testing.T) {
			t.Parallel()
			s := newShell(t)
			broker, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(),
				NoLog: true, NoSigs: true})
			if err != nil {
				t.Fatal(err)
			}
			go broker.Start()
			t.Cleanup(func() { broker.Shutdown(); broker.WaitForShutdown() })
			if !broker.ReadyForConnections(time.Minute) {
				t.Fatal("the broker does not start")
			}
			s.nats = broker.ClientURL()
			s.env = append(s.env, "NATS_URL="+s.nats)
			s.pretend("nats")
			s.page(p.path, blocks, onNATS)
		})
	}
}

// natsCommand does as much of the command nats as the pages use: stream add NAME --subjects SUBJECT, stream get NAME
// SEQUENCE, and pub SUBJECT TEXT.
func natsCommand(args []string) error {
	conn, err := nats.Connect(os.Getenv("NATS_URL"))
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	switch {
	case len(args) == 6 && args[0] == "stream" && args[1] == "add" && args[3] == "--subjects":
		_, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: args[2], Subjects: []string{args[4]}})
	case len(args) == 4 && args[0] == "stream" && args[1] == "get":
		err = printMessage(ctx, js, args[2], args[3])
	case len(args) == 3 && args[0] == "pub":
		_, err = js.Publish(ctx, args[1], []byte(args[2]))
	default:
		err = errors.New("no such command")
	}
	if err != nil {
		return fmt.Errorf("nats %q: %w", args, err)
	}
	return nil
}

func printMessage(ctx context.Context, js jetstream.JetStream, stream, sequence string) error {
	of, err := js.Stream(ctx, stream)
	if err != nil {
		return err
	}
	n, err := strconv.ParseUint(sequence, 10, 64)
	if err != nil {
		return err
	}
	m, err := of.GetMsg(ctx, n)
	if err != nil {
		return err
	}
	_, err = fmt.Printf("%s\n%s\n", m.Subject, m.Data)
	return err
}
