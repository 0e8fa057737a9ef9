package view

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
)

// phaseTones are the tones of the results of revisions.
var phaseTones = map[api.RevisionPhase]Tone{
	api.RevisionSucceeded: Good, api.RevisionFailed: Bad, api.RevisionApplying: Accent, api.RevisionCancelled: Warn,
}

// RevisionRef finds a revision: its cluster, as in model.K8sTarget, and its number there. Where is the name of a declared cluster for users.
type RevisionRef struct {
	On, Where string
	Number    int
}

// String names the revision: "revision 3", "revision 3 in eu".
func (r RevisionRef) String() string {
	s := fmt.Sprintf("revision %d", r.Number)
	if r.On != "" {
		s += " in " + r.Where
	}
	return s
}

// Revisions lists the revisions of the project, newest first, below a line of headings, and with declared clusters below the name of each
// cluster. It returns nothing if none is known.
func Revisions(v store.View) []Line {
	all := state.RevisionsOf(v)
	if len(all) == 0 {
		return nil
	}
	rows := [][]string{{"REVISION", "BEGAN", "COMMAND", "BY", "COMMIT", "OBJECTS", "CHANGES", "RESULT"}}
	for _, r := range all {
		rows = append(rows, RevisionCells(r, began(r)))
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], text.Width(cell))
		}
	}
	several := OfSeveral(all)
	var out page
	for n, row := range rows {
		if titled := several && n > 0; titled && FirstOfCluster(all, n-1) {
			out.title("cluster " + text.Clean(state.ClusterTitle(v, all[n-1].Cluster)))
		}
		rest, last := "", len(row)-1
		for i, cell := range row[:last] {
			rest += text.PadRight(cell, widths[i]) + "  "
		}
		if n == 0 {
			out.add(4, Span{rest + row[last], Dim})
			continue
		}
		line := out.add(4, Span{rest, Plain}, Span{row[last], phaseTones[all[n-1].Phase]})
		on := all[n-1].Cluster
		line.Target.Revision = RevisionRef{On: on, Where: text.Clean(state.ClusterName(v, on)), Number: all[n-1].Number}
	}
	restores := "hone rollback REVISION"
	if several {
		restores += " --cluster NAME"
	}
	out.add(0)
	out.add(2, Span{restores + " restores one: it shows what would change, and asks first.", Dim})
	return out.lines
}

// OfSeveral reports whether a list has revisions in declared clusters, so that it needs the names of clusters.
func OfSeveral(all []api.Revision) bool {
	return slices.ContainsFunc(all, func(r api.Revision) bool { return r.Cluster != "" })
}

// FirstOfCluster reports whether revision i is the first one of its cluster in a list that has one cluster after the other.
func FirstOfCluster(all []api.Revision, i int) bool {
	return i == 0 || all[i-1].Cluster != all[i].Cluster
}

// began returns the time at which a revision began; empty for a project that was applied before there were revisions.
func began(r api.Revision) string {
	if r.Began.IsZero() {
		return ""
	}
	return r.Began.Local().Format(time.DateTime)
}

// longestCommit bounds the shown part of the name of a commit.
const longestCommit = 10

// RevisionCells returns a revision as a row of a table: its number, when it began, its command, who ran it, the commit, the number of objects,
// the changes, and the result. Text of others is clean.
func RevisionCells(r api.Revision, began string) []string {
	result := string(r.Phase)
	if r.Failures != "" {
		result += ": " + r.Failures
	}
	cells := []string{strconv.Itoa(r.Number), began, r.Command, r.By, commitText(r), strconv.Itoa(r.Objects),
		changesText(r), result}
	for i, c := range cells {
		if cells[i] = text.Clean(c); c == "" {
			cells[i] = "-"
		}
	}
	return cells
}

// changesText returns the counts of a revision.
func changesText(r api.Revision) string {
	changes := fmt.Sprintf("+%d ~%d -%d", r.Created, r.Changed, r.Deleted)
	if r.Forgotten > 0 {
		changes += fmt.Sprintf(" (%d forgotten)", r.Forgotten)
	}
	return changes
}

// commitText returns the commit of a revision, as git describe --dirty marks it.
func commitText(r api.Revision) string {
	short := r.Commit[:min(len(r.Commit), longestCommit)]
	if r.Uncommitted {
		short += "-dirty"
	}
	return short
}

// RevisionTitle says where a revision comes from: "Revision 3: hone ci of kim@builder, from shop/Tiltfile (digest 3f2a9c1d88e0b1aa) at commit
// 8c11d07aa4f2e9, with uncommitted changes". Text of others is clean.
func RevisionTitle(r api.Revision) string {
	title := fmt.Sprintf("Revision %d", r.Number)
	if r.Cluster != "" {
		title += " in " + r.Cluster
	}
	if r.Command != "" {
		title += ": hone " + r.Command
	}
	if r.By != "" {
		title += " of " + r.By
	}
	if r.Tiltfile != "" {
		title += ", from " + r.Tiltfile
	}
	if r.Digest != "" {
		title += " (digest " + r.Digest + ")"
	}
	if r.Commit != "" {
		title += " at commit " + r.Commit
	}
	if r.Uncommitted {
		title += ", with uncommitted changes"
	}
	return text.Clean(title)
}

// RevisionLines shows where a revision comes from, and its differences to the one before.
func RevisionLines(p api.Plan) []Line {
	lines := PlanLines(p)
	if len(lines) == 0 {
		lines = []Line{{Cell: Cell{{"no declared object differs from the revision before", Dim}}}}
	}
	if p.Revision != nil {
		lines = append([]Line{{Cell: Cell{{RevisionTitle(*p.Revision), Dim}}}, {}}, lines...)
	}
	return lines
}
