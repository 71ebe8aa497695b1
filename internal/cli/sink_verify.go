// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/sink"
)

func (a *app) sinkVerify() *cobra.Command {
	var request httpapi.SinkVerifyRequest
	c := &cobra.Command{
		Use:   "verify NAME",
		Short: "Compare what a target has with what every id leads to, and deliver again what differs",
		Long: "Reads the whole target and the whole installation, while both change, and prints a line for each id that differs:\n" +
			"missing in the target, different there, or surplus. What is only on its way is not reported. --repair has these ids\n" +
			"delivered again and compares them once more. The exit code is 0 if nothing differs or everything was repaired, 1 if\n" +
			"something differs. Webhooks cannot be read. Of topics of Kafka and streams of NATS the server holds about 100 bytes\n" +
			"for each id in memory.",
		Example: "  locus sink verify golden\n  locus sink verify golden --repair --json",
		Args:    arguments("NAME"), ValidArgsFunction: a.names(sinkNames, 1),
		RunE: func(c *cobra.Command, args []string) error {
			to := looks
			if request.Repair {
				to = writes
			}
			return a.connectedTo(to, func(c *cobra.Command, cl *client, args []string) error {
				return a.verifySink(c, cl, args[0], request)
			})(c, args)
		},
	}
	c.Flags().BoolVar(&request.Repair, "repair", false, "deliver the ids that differ again")
	return a.connection(c)
}

func (a *app) verifySink(c *cobra.Command, cl *client, name string, request httpapi.SinkVerifyRequest) error {
	result, err := a.change(c.Context(), cl, sinkPath(name)+"/verify", request, func(raw json.RawMessage) (step, line string, err error) {
		var of struct {
			Type     string `json:"type"`
			Compared int64  `json:"compared"`
			sink.Difference
		}
		if err := json.Unmarshal(raw, &of); err != nil {
			return "", "", fmt.Errorf("read the progress: %w", err)
		}
		if of.Type == httpapi.LineDifference {
			return name, fmt.Sprintf("found %v", of.ID), a.printDifference(raw, of.Repaired, fmt.Sprint(of.ID), string(of.What))
		}
		return name, fmt.Sprintf("verifying %s: %s ids compared", name, term.Count(of.Compared)), nil
	})
	if err != nil {
		return err
	}
	all, err := resultOf[httpapi.SinkVerified](result)
	if err != nil {
		return err
	}
	differ := all.Missing + all.Surplus + all.Different
	left := differ - all.Repaired
	if differ == 0 {
		err = a.summary(result, "%s: %s, and the target has them as they are", term.Escape(name), counted(all.Compared, "id", "ids"))
	} else {
		err = a.summary(result, "%s: %s, %d missing, %d different, %d surplus; %d repaired", term.Escape(name), counted(all.Compared, "id", "ids"),
			all.Missing, all.Different, all.Surplus, all.Repaired)
	}
	if err != nil || left == 0 {
		return err
	}
	f := &failure{Code: "differs", Message: fmt.Sprintf("the target differs: %s", plural(left, "id")), Exit: exitFailed, Hint: "locus sink verify " + name + " --repair delivers them again"}
	switch {
	case all.Late:
		f.Hint = "the sink has not delivered everything yet: see locus sink show " + name + ", and verify again once it has"
	case request.Repair:
		f.Hint = "see locus sink dead list " + name + ": the target may reject them, or have a higher rev"
	}
	return f
}
