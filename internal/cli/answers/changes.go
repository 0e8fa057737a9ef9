package answers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/settle"
	"github.com/hone-dev/hone/pkg/api"
)

// Change is a change that the newest saves have brought to one resource, and how far it has come.
type Change struct {
	Resource string   `json:"resource"`
	Files    []string `json:"files"`
	// State is live, updating, waiting, behind or failed. Text says more: why it waits, or the error.
	State string `json:"state"`
	Text  string `json:"text,omitempty"`
	// How is the way of the update: synclet, container, exec, image, deploy, local or compose; empty before one began.
	How string `json:"how,omitempty"`
	// StartedAt and FinishedAt are the times of the update.
	StartedAt  time.Time `json:"startedAt,omitzero"`
	FinishedAt time.Time `json:"finishedAt,omitzero"`
	// Has are the containers that were updated in place and have the change, Lacks those that do not have it yet.
	Has   []string `json:"has,omitempty"`
	Lacks []string `json:"lacks,omitempty"`
}

// String returns the change as a command prints it.
func (c Change) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", c.Resource, c.State)
	if c.How != "" {
		b.WriteString(" by " + c.How)
	}
	if !c.FinishedAt.IsZero() {
		fmt.Fprintf(&b, " at %s, after %s", c.FinishedAt.Local().Format(time.TimeOnly), c.FinishedAt.Sub(c.StartedAt).Round(time.Millisecond))
	}
	if c.Text != "" {
		b.WriteString(": " + c.Text)
	}
	b.WriteString("\n  files: " + strings.Join(c.Files, ", "))
	for _, l := range []struct {
		head string
		list []string
	}{{"has it: ", c.Has}, {"lacks it: ", c.Lacks}} {
		if len(l.list) > 0 {
			b.WriteString("\n  " + l.head + strings.Join(l.list, ", "))
		}
	}
	return b.String()
}

// oneSave is the time within which files that were saved count as one save: an editor, a formatter or a checkout writes several.
const oneSave = 2 * settle.Window

// Changes tells which files the newest save has changed, and where they run. Files that wait for an update belong to it, and so do the updates that
// began with it.
func (s *Session) Changes(only []string) ([]Change, error) {
	for _, name := range only {
		if _, err := s.resource(name); err != nil {
			return nil, err
		}
	}
	var all []Change
	var newest time.Time
	for _, r := range s.Shown.Resources {
		if len(only) > 0 && !slices.Contains(only, r.Name) {
			continue
		}
		c, ok := s.change(r)
		if !ok {
			continue
		}
		all = append(all, c)
		if c.StartedAt.After(newest) {
			newest = c.StartedAt
		}
	}
	all = slices.DeleteFunc(all, func(c Change) bool {
		begun, earlier := !c.StartedAt.IsZero() && c.State == "live", c.FinishedAt.Before(newest) && newest.Sub(c.StartedAt) > oneSave
		return begun && earlier
	})
	if len(all) == 0 {
		return nil, problem.New("no file was saved since "+s.Client.Where()+" began", "hone status shows how it is")
	}
	slices.SortStableFunc(all, func(a, b Change) int {
		return cmp.Compare(slices.Index(changeOrder, a.State), slices.Index(changeOrder, b.State))
	})
	return all, nil
}

// changeOrder is the order of the states: the user is to know first where the change is not.
var changeOrder = []string{"failed", "behind", "waiting", "updating", "live"}

// change returns the newest change of a resource.
func (s *Session) change(r api.Resource) (Change, bool) {
	c := Change{Resource: r.Name}
	if b := r.CurrentBuild; b != nil && len(b.Files) > 0 {
		c.State, c.How, c.StartedAt, c.Text, c.Files = "updating", b.Mode, b.StartedAt, b.Stage, s.relative(b.Files)
		return c, true
	}
	if len(r.PendingFiles) > 0 {
		c.State, c.Files = "waiting", s.relative(r.PendingFiles)
		if r.Waiting != nil {
			c.Text = text.Clean(words.OneLine(r.Waiting.Text))
		}
		return c, true
	}
	i := slices.IndexFunc(r.BuildHistory, func(b api.Build) bool { return len(b.Files) > 0 && !b.Cancelled })
	if i < 0 || r.Disabled {
		return c, false
	}
	b := r.BuildHistory[i]
	c.State, c.How, c.StartedAt, c.FinishedAt, c.Files = "live", b.Mode, b.StartedAt, b.FinishedAt, s.relative(b.Files)
	lacks := map[string]bool{}
	if r.Lag != nil {
		for _, l := range r.Lag.Behind {
			name := l.Pod + "/" + l.Container
			lacks[name] = true
			c.Lacks = append(c.Lacks, name)
		}
	}
	for _, u := range b.Containers {
		name := u.Pod + "/" + u.Container
		failed := u.Error != "" || u.Behind
		switch {
		case lacks[name]:
		case failed:
			c.Lacks = append(c.Lacks, name)
		default:
			c.Has = append(c.Has, name)
		}
	}
	switch {
	case b.Error != "":
		c.State, c.Text = "failed", text.Clean(words.FirstLine(b.Error))
	case len(c.Lacks) > 0:
		c.State = "behind"
	}
	return c, true
}

// LastSave returns the time at which the newest update after a save began, for one of the resources or for all.
func (s *Session) LastSave(only []string) (time.Time, error) {
	changes, err := s.Changes(only)
	if err != nil {
		return time.Time{}, err
	}
	var newest time.Time
	for _, c := range changes {
		if c.StartedAt.After(newest) {
			newest = c.StartedAt
		}
	}
	if newest.IsZero() {
		return newest, problem.New("the newest save waits, and nothing has run since", "hone status shows why it waits")
	}
	return newest, nil
}
