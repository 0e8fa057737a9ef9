package up

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/cluster/ledger"
)

// ledgerIn is the ledger of a project in one of its clusters.
type ledgerIn struct {
	*opened.Project
	ledger *ledger.Ledger
}

// ledgers are the ledgers of a project in the chosen cluster, or in all that this machine knows of, its own one first.
type ledgers struct {
	open []ledgerIn
	// away are the parts whose clusters do not answer, and left is the error of the first one. The user has been told.
	away []*opened.Project
	left error
}

// withLedgers opens the ledgers of a project for use. It says which clusters do not answer, and then returns an error after use.
func withLedgers(ctx context.Context, g *command.Global, f *flags.Project, use func(context.Context, *opened.Project, ledgers) error) error {
	p, err := opened.Open(g, opened.Choice{Flags: f, Find: f.Path}, g.Printer(g.Stderr, g.Stderr))
	if err != nil {
		return err
	}
	defer p.Close()
	all, err := openLedgers(ctx, p)
	if err != nil {
		return err
	}
	if err := use(ctx, p, all); err != nil {
		return err
	}
	return notSeen(all.left)
}

// openLedgers opens the ledgers in the chosen clusters. The error is the one of the only cluster: if there are several, those that do not
// answer are left out.
func openLedgers(ctx context.Context, p *opened.Project) (all ledgers, err error) {
	parts, err := p.Chosen()
	if err != nil {
		return all, err
	}
	for _, part := range parts {
		l, err := ledgerOf(ctx, part)
		if err != nil && (len(parts) == 1 || ctx.Err() != nil) {
			return all, err
		}
		if err != nil {
			part.LeaveOut(err)
			all.away, all.left = append(all.away, part), errors.Join(all.left, err)
			continue
		}
		all.open = append(all.open, ledgerIn{part, l})
	}
	if len(all.open) == 0 {
		return all, notSeen(all.left)
	}
	return all, nil
}

func ledgerOf(ctx context.Context, p *opened.Project) (*ledger.Ledger, error) {
	cluster, err := p.Connect(ctx)
	if err != nil {
		return nil, err
	}
	memory, err := cluster.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	return memory.Ledger, nil
}

// several reports whether the user has to be told which cluster is meant.
func (l ledgers) several() bool {
	return slices.ContainsFunc(l.open, func(in ledgerIn) bool { return in.On() != "" })
}

// titles names the clusters that answer in a sentence.
func (l ledgers) titles() string {
	var out []string
	for _, in := range l.open {
		out = append(out, in.Title())
	}
	return words.All(out)
}

// history returns the revisions in all ledgers, cluster after cluster, and the newest one of each first.
func (l ledgers) history() ([]ledger.Revision, error) {
	out := []ledger.Revision{}
	for _, in := range l.open {
		all, err := in.ledger.History()
		if err != nil {
			return nil, err
		}
		for _, r := range slices.Backward(all) {
			r.Cluster = in.On()
			out = append(out, r)
		}
	}
	return out, nil
}

// with returns the ledger that has a revision of a number. command is the command that --cluster is added to: "hone history 2".
func (l ledgers) with(number int, command string) (ledgerIn, error) {
	if len(l.open)+len(l.away) == 1 {
		return l.open[0], nil // it says which revisions it has
	}
	var have []ledgerIn
	var names []string
	for _, in := range l.open {
		all, err := in.ledger.History()
		if err != nil {
			return ledgerIn{}, err
		}
		if slices.ContainsFunc(all, func(r ledger.Revision) bool { return r.Number == number }) {
			have, names = append(have, in), append(names, in.Name())
		}
	}
	switch len(have) {
	case 1:
		return have[0], nil
	case 0:
		return ledgerIn{}, problem.New(fmt.Sprintf("there is no revision %d in %s", number, l.titles()), "choose one that hone history shows").See("state")
	}
	return ledgerIn{}, problem.New(fmt.Sprintf("there is a revision %d in more than one cluster: %s", number, words.All(names)),
		fmt.Sprintf("choose one: %s --cluster %s", command, names[len(names)-1])).See("state")
}

// only returns the one ledger that exists. command is as in with.
func (l ledgers) only(ctx context.Context, command string) (ledgerIn, error) {
	var have []ledgerIn
	var names []string
	for _, in := range l.open {
		is, err := in.ledger.Exists(ctx)
		if err != nil {
			return ledgerIn{}, err
		}
		if is {
			have, names = append(have, in), append(names, in.Name())
		}
	}
	switch {
	case len(l.away) > 0:
		return ledgerIn{}, problem.Wrap(l.left, "it is unknown whether "+words.All(opened.Names(l.away))+" has a ledger, too",
			fmt.Sprintf("name the cluster: %s --cluster %s", command, l.open[0].Name())).See("state")
	case len(names) > 1:
		return ledgerIn{}, problem.New("the project has a ledger in more than one cluster: "+words.All(names),
			fmt.Sprintf("choose one: %s --cluster %s", command, names[len(names)-1])).See("state")
	case len(have) == 0:
		return l.open[0], nil // it says that there is none
	}
	return have[0], nil
}
