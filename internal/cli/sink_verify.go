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
		Short: "Compare a target with the installation, and repair differences",
		Long: "Reads the whole target and the whole installation while both change, and prints a line for each id that is missing in\n" +
			"the target, different there, or surplus. Changes that are still being delivered are not reported. --repair delivers the\n" +
			"differing ids again and compares them once more. The exit code is 0 if nothing differs or everything was repaired, 1\n" +
			"otherwise. Webhooks cannot be verified. For Kafka and NATS the server needs about 100 bytes of memory for each id.",
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
		err = a.summary(result, "%s: %s, no differences", term.Escape(name), counted(all.Compared, "id", "ids"))
	} else {
		err = a.summary(result, "%s: %s, %d missing, %d different, %d surplus; %d repaired", term.Escape(name), counted(all.Compared, "id", "ids"),
			all.Missing, all.Different, all.Surplus, all.Repaired)
	}
	if err != nil || left == 0 {
		return err
	}
	f := &failure{Code: "differs", Message: fmt.Sprintf("the target differs from the installation: %s",
		plural(left, "id")), Exit: exitFailed, Hint: "locus sink verify " + name + " --repair delivers them again"}
	switch {
	case all.Late:
		f.Hint = "the sink has not delivered everything yet: see locus sink show " + name + ", and verify again once it has"
	case request.Repair:
		f.Hint = "see locus sink dead list " + name + ": the target may reject them, or have a higher rev"
	}
	return f
}
