package object

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/hud/view"
)

// recordFlags are the flags of hone get records.
type recordFlags struct {
	project   flags.Project
	output    string
	noHeaders bool
}

func newGetRecords(g *command.Global) *cobra.Command {
	var f recordFlags
	c := &cobra.Command{
		Use:     "records [KIND/NAME…]",
		Aliases: []string{"record"},
		Short:   "Show what hone has applied for the project",
		Long: fmt.Sprintf(`Shows the objects and commands that the ledger of the project records, with the resource that each belongs to, its state, the revision
that wrote it last, and when that was. It needs no session and does not evaluate the Tiltfile. Beside a session, it shows the records of
that moment.

The states:
  %-13s it is about to be applied, or its first apply has failed
  %-13s hone made it, and hone down deletes it
  %-13s it existed before hone, and hone down gives it back
  %-13s several projects declare it, and the last one that leaves deletes it
  %-13s it belongs to others, and hone never deletes it
  %-13s a command of the Tiltfile has applied it, and another one deletes it
  %-13s it is no longer declared, and about to be deleted
  %-13s a command that undoes the work of its resource

It shows neither contents of objects nor arguments of commands. hone history lists the revisions.`,
			deploy.RecordPending, deploy.RecordApplied, deploy.RecordAdopted, deploy.RecordShared, deploy.RecordUsed, deploy.RecordCommanded,
			deploy.RecordLeaving, deploy.RecordRuns),
		Example: "  hone get records\n  hone get records configmap/colors -o json",
		RunE:    func(cmd *cobra.Command, args []string) error { return getRecords(cmd.Context(), g, &f, args) },
	}
	f.project.Add(c)
	c.Flags().StringVarP(&f.output, "output", "o", "", "format: wide, name, json, yaml")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"wide", "name", command.OutputJSON, command.OutputYAML}, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().BoolVar(&f.noHeaders, "no-headers", false, "leave out the column headers")
	return c
}

func getRecords(ctx context.Context, g *command.Global, f *recordFlags, args []string) error {
	write, err := f.writer()
	if err != nil {
		return err
	}
	p, err := opened.Open(g, opened.Choice{Flags: &f.project, Find: f.project.Path}, g.Printer(g.Stderr, g.Stderr))
	if err != nil {
		return err
	}
	defer p.Close()
	all, err := p.Recorded(ctx)
	if err == nil && len(args) > 0 {
		all, err = opened.Records(all).Choose(args, f.project.Namespace)
	}
	if err != nil {
		return err
	}
	var doc bytes.Buffer
	if err := write(&doc, all); err != nil {
		return err
	}
	if len(all) == 0 && doc.Len() == 0 {
		where := ""
		if p.Known.Context != "" {
			where = " in " + p.Title()
		}
		logstore.Infof(g.Printer(g.Stderr, g.Stderr), "No records: hone has applied nothing for this project%s.", where)
	}
	_, err = io.WriteString(g.Stdout, g.Secrets.Text(doc.String()))
	return err
}

// writer returns the function that prints records in the requested format.
func (f *recordFlags) writer() (func(io.Writer, []deploy.Recorded) error, error) {
	switch f.output {
	case "", "wide":
		return f.table, nil
	case "name":
		return func(w io.Writer, all []deploy.Recorded) (err error) {
			for _, r := range all {
				_, err = fmt.Fprintln(w, text.Clean(r.Title()))
			}
			return err
		}, nil
	case command.OutputJSON:
		return func(w io.Writer, all []deploy.Recorded) error { return command.WriteJSON(w, listed(all)) }, nil
	case command.OutputYAML:
		return func(w io.Writer, all []deploy.Recorded) error { return command.WriteYAML(w, listed(all)) }, nil
	}
	return nil, problem.New(fmt.Sprintf("unknown output %q", f.output), "choose one of: wide, name, json, yaml")
}

// listed returns a list that is written as one even if it is empty.
func listed(all []deploy.Recorded) []deploy.Recorded { return append([]deploy.Recorded{}, all...) }

// clusterColumn is the head of the column that is left out where all records are in one cluster.
const clusterColumn = "CLUSTER"

// recordColumns are the columns of the table of records.
var recordColumns = []struct {
	head string
	wide bool
	of   func(r deploy.Recorded, now time.Time) string
}{
	{"NAME", false, func(r deploy.Recorded, _ time.Time) string { return r.Title() }},
	{clusterColumn, false, func(r deploy.Recorded, _ time.Time) string { return r.Cluster }},
	{"NAMESPACE", false, func(r deploy.Recorded, _ time.Time) string { return r.Namespace }},
	{"RESOURCE", false, func(r deploy.Recorded, _ time.Time) string { return string(r.Resource) }},
	{"STATE", false, func(r deploy.Recorded, _ time.Time) string { return string(r.State) }},
	{"REVISION", false, func(r deploy.Recorded, _ time.Time) string {
		if r.Revision == 0 {
			return ""
		}
		return strconv.Itoa(r.Revision)
	}},
	{"WRITTEN", false, func(r deploy.Recorded, now time.Time) string {
		if r.Since.IsZero() {
			return ""
		}
		return view.Age(r.Since, now)
	}},
	{"UID", true, func(r deploy.Recorded, _ time.Time) string { return r.UID }},
}

func (f *recordFlags) table(w io.Writer, all []deploy.Recorded) error {
	if len(all) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	several := slices.ContainsFunc(all, func(r deploy.Recorded) bool { return r.Cluster != "" })
	line := func(cell func(int) string) {
		var cells []string
		for i, c := range recordColumns {
			if c.head == clusterColumn && !several {
				continue
			}
			if !c.wide || f.output == "wide" {
				cells = append(cells, cell(i))
			}
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	if !f.noHeaders {
		line(func(i int) string { return recordColumns[i].head })
	}
	now := time.Now()
	for _, r := range all {
		line(func(i int) string {
			if cell := text.Clean(recordColumns[i].of(r, now)); cell != "" {
				return cell
			}
			return "-"
		})
	}
	return t.Flush()
}
