package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/status"
	"github.com/hone-dev/hone/pkg/model"
)

// Card explains a failure, or a pod that is stuck: the problem, its cause, its mend, and the resources that wait because of it.
// Failures with the same cause share a card. A resource that only waits for a failure has no card. Nor has one that failed after
// a resource that it depends on, unless a reason of its own is known.
type Card struct {
	// Resource is the resource that failed; Also are further ones that failed for the same reason.
	Resource model.ManifestName
	Also     []model.ManifestName
	Aspect   Aspect
	// Title names the failure, in a few words: "crash loop, 4 restarts".
	Title string
	// Since is the start of the failure; zero if unknown.
	Since time.Time
	// Cause explains the failure in the words of a person, or in the words of foreign programs where hone knows no better ones.
	Cause []string
	// Where names the pod and its container; empty if it is not about one.
	Where string
	// Said is the message of Kubernetes about it, where Cause is shorter. It comes last.
	Said []string
	// Output is the output of the failed command or program, as far as it is known without its log. Span is the span of its log;
	// empty if it has none.
	Output string
	Span   string
	// Run is the run of a container that failed; nil if it is not about one.
	Run *Run
	// Part selects the lines of the log that can tell why.
	Part LogPart
	// Helps are things to do about it, if hone knows any.
	Helps []string
	// Saved are the files whose change the newest update contains, if the failure began with that update.
	Saved []string
	// Waiting are the resources that wait for the failed ones: in the first ring the resources that wait for them directly, in each
	// further ring the resources that wait for one of the ring before.
	Waiting [][]model.ManifestName
	// Consequences are failures of resources that depend on the failed one and have failed after it, the oldest first.
	Consequences []Consequence
	// After are failing resources that the failed one depends on, if they have failed before it, and it may have failed by itself.
	After []model.ManifestName

	root string // the thing to mend; empty if it is unknown
}

// Run identifies a run of a container, for a reader who does not find its lines by their span.
type Run struct {
	Pod, Container string
	// Began is its start, to the second.
	Began time.Time
}

// Consequence is a failure that most likely comes from another one.
type Consequence struct {
	Resource model.ManifestName
	// Title names the failure, and Cause explains it in one line; empty if that is not known.
	Title, Cause string
	since        time.Time
}

// String returns the failure and its cause, in one line.
func (f Consequence) String() string {
	if f.Cause == "" {
		return f.Title
	}
	return f.Title + ": " + f.Cause
}

// Aspect is the part of a resource that failed.
type Aspect uint8

// The aspects. A pod that is stuck has not failed, but will hardly become ready by itself.
const (
	AspectUpdate Aspect = iota
	AspectRuntime
	AspectPort
	AspectStuck
)

// LogPart is a part of the log of a failed update or program.
type LogPart uint8

// The parts: the whole log; the lines since the start of an update's last step; and only the error lines of these, if the others
// report successes.
const (
	WholeLog LogPart = iota
	LastStep
	ErrorsOfLastStep
)

// Explains reports whether a card tells why a resource has failed, by itself or in consequence.
func (c Card) Explains(name model.ManifestName) bool {
	return slices.Contains(c.failed(), name) || slices.ContainsFunc(c.Consequences, func(f Consequence) bool { return f.Resource == name })
}

// Concerns reports whether a card explains the failure of a resource, or of one that the resource waits for.
func (c Card) Concerns(name model.ManifestName) bool {
	return c.Explains(name) || slices.ContainsFunc(c.Waiting, func(ring []model.ManifestName) bool { return slices.Contains(ring, name) })
}

// Says reports whether a line of output is already in the causes, by itself or as the end of one.
func (c Card) Says(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && slices.ContainsFunc(c.Cause, func(s string) bool { return strings.TrimSpace(s) == line || strings.HasSuffix(s, ": "+line) })
}

// failed returns the resources that failed.
func (c Card) failed() []model.ManifestName {
	return append([]model.ManifestName{c.Resource}, c.Also...)
}

// cards returns a card for each root cause of the failures of the rows, causes first: in the order of the rows, but failures that
// others wait for come before the rest, and stuck pods last.
func (b *builder) cards(rows []Row) []Card {
	var cards []Card
	add := func(c Card) {
		for i := range cards {
			if o := &cards[i]; c.sameAs(*o) {
				if !slices.Contains(o.failed(), c.Resource) {
					o.Also = append(o.Also, c.Resource)
				}
				return
			}
		}
		cards = append(cards, c)
	}
	for _, r := range rows {
		if r.UpdateErr != "" {
			add(b.updateCard(r))
		}
		if s, ok := b.of(r.Name); ok {
			b.runCards(s, add)
		}
		for _, p := range r.Ports {
			if p.State == status.PortFailed {
				add(Card{Resource: r.Name, Aspect: AspectPort, Title: fmt.Sprintf("port %d cannot be forwarded", p.Number), Cause: linesOf(p.Err)})
			}
		}
	}
	cards = b.fold(cards)
	needed := map[model.ManifestName]bool{}
	for i := range cards {
		c := &cards[i]
		failed := c.failed()
		for _, f := range c.Consequences {
			failed = append(failed, f.Resource)
		}
		c.Waiting = b.waitingFor(failed)
		for _, n := range c.After {
			needed[n] = true
		}
	}
	slices.SortStableFunc(cards, func(x, y Card) int { return rank(x, needed) - rank(y, needed) })
	return cards
}

// sameAs reports whether two failures have the same root. The lines that a program has written are its own, so that two programs
// that end alike have two cards.
func (c Card) sameAs(o Card) bool {
	if c.root != "" {
		return c.root == o.root
	}
	if o.root != "" || c.Span != "" || o.Span != "" {
		return false
	}
	type says struct{ aspect, title, output string }
	return says{string(c.Aspect), c.Title, c.Output} == says{string(o.Aspect), o.Title, o.Output} && slices.Equal(c.Cause, o.Cause)
}

// fold finds the failures that may have caused each card's failure, and turns cards that were most likely caused by another one
// into its consequences.
func (b *builder) fold(cards []Card) []Card {
	for i := range cards {
		cards[i].After = b.after(cards[i], cards)
	}
	folded := func(c Card) bool { return len(c.After) > 0 && !b.ofItself(c) }
	roots := slices.DeleteFunc(slices.Clone(cards), folded)
	for _, c := range cards {
		if !folded(c) {
			continue
		}
		first := -1 // a chain of failures always has a first one, which is no consequence
		for i, o := range roots {
			if slices.Contains(c.After, o.Resource) && (first < 0 || o.Since.Before(roots[first].Since)) {
				first = i
			}
		}
		f := Consequence{Resource: c.Resource, Title: c.Title, since: c.Since}
		if len(c.Cause) > 0 {
			f.Cause, _, _ = strings.Cut(c.Cause[0], "; ") // the rest is about the next tries of Kubernetes
		}
		roots[first].Consequences = append(roots[first].Consequences, f)
	}
	for i := range roots {
		slices.SortStableFunc(roots[i].Consequences, func(x, y Consequence) int { return x.since.Compare(y.since) })
	}
	return roots
}

// ofItself reports whether a failure has a reason of its own, independent of the resources that this one depends on: a known
// reason, such as an image that cannot be pulled; own files that the user has just changed; a message of a build or the cluster;
// or the same failure in resources with other dependencies.
func (b *builder) ofItself(c Card) bool {
	if len(c.Saved) > 0 || len(c.Also) > 0 {
		return true
	}
	switch c.Aspect {
	case AspectUpdate:
		return state.Resources.In(b.v).Value(string(c.Resource)).Manifest.Local == nil
	case AspectRuntime, AspectStuck:
		return c.root != ""
	case AspectPort:
	}
	return true
}

// after returns the failing resources that the failed one depends on, and that have failed before it.
func (b *builder) after(c Card, cards []Card) (out []model.ManifestName) {
	if c.Since.IsZero() {
		return nil
	}
	known := map[model.ManifestName]bool{}
	for ring := c.failed(); len(ring) > 0; {
		var next []model.ManifestName
		for _, name := range ring {
			for _, dep := range state.Resources.In(b.v).Value(string(name)).Manifest.ResourceDeps {
				if !known[dep] {
					known[dep] = true
					next = append(next, dep)
				}
			}
		}
		ring = next
	}
	for _, o := range cards {
		earlier := !o.Since.IsZero() && o.Since.Before(c.Since)
		if known[o.Resource] && o.Resource != c.Resource && earlier {
			out = append(out, o.Resource)
		}
	}
	return out
}

// rank sorts cards: the Tiltfile, which everything comes from, then failures that others wait for or depend on.
func rank(c Card, needed map[model.ManifestName]bool) int {
	switch {
	case c.Resource == model.TiltfileName:
		return 0
	case len(c.Waiting) > 0, needed[c.Resource]:
		return 1
	case c.Aspect == AspectStuck:
		return 3
	}
	return 2
}

func (b *builder) updateCard(r Row) Card {
	c := Card{Resource: r.Name, Aspect: AspectUpdate, Since: r.Changed}
	p := state.Problem{Summary: words.FirstLine(r.UpdateErr), Detail: rest(r.UpdateErr)}
	if r.Name == model.TiltfileName {
		c.Title = "the Tiltfile failed"
	} else {
		c.Title = "the update failed"
		if last, ok := state.Updates.In(b.v).Value(string(r.Name)).Last(); ok {
			c.Span, c.Part = last.Span, b.partOf(r.Name, last)
			if last.Problem != nil {
				p = *last.Problem
			}
			c.Saved = last.Files
			if c.Part != WholeLog {
				c.Title = "the deploy failed"
			}
			if last.Verdict != nil {
				c.Title = "the test failed"
			}
			if files := Files(last.Files); files != "" {
				c.Title += " after a change of " + files
			}
		}
	}
	c.Cause = linesOf(p.Summary)
	if last, ok := state.Updates.In(b.v).Value(string(r.Name)).Last(); ok && last.Verdict != nil {
		c.Cause = append(c.Cause, causesOf(last.Verdict)...)
	}
	if p.Cause != "" && !strings.Contains(p.Summary, p.Cause) {
		c.Cause = append(c.Cause, linesOf(p.Cause)...)
	}
	c.Output = unescape(p.Detail)
	switch {
	case c.Part == WholeLog && c.Output != "": // two builds of one image have the same output
		c.root = "update " + strings.Join(c.Cause, "\n") + "\n" + c.Output
	case c.Part != WholeLog && p.Mend != "": // the same mend helps all of them: a namespace, a permission
		c.root = "deploy " + strings.Join(c.Cause, "\n") + "\n" + p.Mend
	}
	if p.Mend != "" {
		c.Helps = append(c.Helps, linesOf(p.Mend)...)
	}
	if p.Link != "" {
		c.Helps = append(c.Helps, p.Link)
	}
	return c
}

// partOf returns the part of a failed update's log that tells why: if the objects could not be applied, the earlier lines are
// about images that were built.
func (b *builder) partOf(name model.ManifestName, last state.Build) LogPart {
	if n := len(last.Steps); n == 0 || last.Steps[n-1].Kind != model.StepApply {
		return WholeLog
	}
	if m := state.Resources.In(b.v).Value(string(name)).Manifest; m.CustomDeploy() != nil {
		return LastStep
	}
	return ErrorsOfLastStep
}

// rest returns a text without its first line.
func rest(s string) string {
	_, tail, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return tail
}

// runCards adds the cards of a program that does not run, or will hardly ever.
func (b *builder) runCards(s *status.Resource, add func(Card)) {
	if s.RuntimeErr != "" {
		add(b.runtimeCard(s))
	} else if c, is := b.relapseCard(s); is {
		add(c)
	} else if c, is := b.stuckCard(s); is {
		add(c)
	}
}

func (b *builder) runtimeCard(s *status.Resource) Card {
	c := Card{Resource: s.Manifest.Name, Aspect: AspectRuntime, Title: "it does not run", Cause: linesOf(s.RuntimeErr)}
	pod, ofPod := b.failing(s.Reported)
	c.Span, c.Since = s.Reported.Span, s.Reported.FailingSince
	if !pod.LoopingSince.IsZero() && pod.LoopingSince.Before(c.Since) {
		c.Since = pod.LoopingSince
	}
	if last, ok := s.Updates.Last(); ok && last.Err == "" && !c.Since.Before(last.StartedAt) {
		c.Saved = last.Files
	}
	if long, _ := status.Words(s.Reported.Text); long != "" {
		c.Title = long
	}
	if p, ok := b.process(*s.Manifest); ok && p.State == state.ProcessFailed {
		c.Title, c.Span = "serve_cmd ended", state.ServeSpan(c.Resource, p.Build)
		c.meaning(p.ExitCode)
		return c
	}
	if failed, is := failedContainer(pod); is {
		b.explain(&c, pod, failed)
		return c
	}
	if cause, is := refusedCause(s.RuntimeErr); is {
		c.take(cause)
	}
	if why, is := strings.CutPrefix(s.RuntimeErr, "pod "+pod.Name+": "); is && ofPod { // the program has ended, but not its container
		c.Cause, c.Where = linesOf(why), where(pod, "")
	}
	return c
}

// relapseCard returns the card of a crash loop whose container runs at the moment. The card of the failure stays, because the
// failure is likely to return.
func (b *builder) relapseCard(s *status.Resource) (Card, bool) {
	if s.Relapse == nil {
		return Card{}, false
	}
	pod, c := s.Relapse.Pod, s.Relapse.Container
	card := Card{Resource: s.Manifest.Name, Aspect: AspectRuntime, Title: fmt.Sprintf("crash loop ×%d", c.Restarts), Since: pod.LoopingSince,
		Span: state.LogSpan(pod.Pod, c.Name, c.LastID), Run: &Run{pod.Name, c.Name, c.LastStartedAt}, Where: where(pod, c.Name)}
	card.take(containerCause(pod, lastRun(c), nil))
	card.Cause = append(card.Cause, "it runs again, for "+Elapsed(b.now.Sub(c.StartedAt)))
	return card, true
}

// stuckCard returns a card for a row whose pod has not failed, but will hardly become ready by itself.
func (b *builder) stuckCard(s *status.Resource) (Card, bool) {
	if s.State != Waiting && s.State != Updating {
		return Card{}, false
	}
	name := s.Manifest.Name
	if p, ok := b.process(*s.Manifest); ok {
		return b.serverCard(name, p)
	}
	events := state.ClusterEvents.In(b.v).Value(string(name)).List
	for _, pod := range state.Present(b.pods[name].Values()) {
		if cause, since, is := b.stuck(pod, events); is {
			c := Card{Resource: name, Aspect: AspectStuck, Since: since, Where: where(pod, "")}
			c.take(cause)
			return c, true
		}
	}
	return Card{}, false
}

// serverCard returns a card for a server that runs and whose readiness probe fails, with the server's output.
func (b *builder) serverCard(name model.ManifestName, p state.Process) (Card, bool) {
	if p.State != state.ProcessRunning || p.Ready || p.FailingSince.IsZero() {
		return Card{}, false
	}
	from, patience, runs := p.StartedAt, probePatience, "runs"
	if p.WasReady {
		from, patience, runs = p.FailingSince, stuckPatience, "was ready"
	}
	if !b.lasts(from, patience) {
		return Card{}, false
	}
	c := Card{Resource: name, Aspect: AspectStuck, Title: "its readiness probe fails", Since: p.FailingSince, Span: state.ServeSpan(name, p.Build)}
	c.Cause = linesOf(fmt.Sprintf("serve_cmd %s, but its readiness probe fails: %s", runs, p.Detail))
	return c, true
}

// explain says why a container failed.
func (b *builder) explain(c *Card, pod state.Pod, failed model.Container) {
	if n := failed.Restarts; n > 0 && !strings.Contains(c.Title, "×") {
		c.Title += ", " + words.Count(n, "restart")
	}
	if pod.OfCompose() {
		c.meaning(cmp.Or(failed.ExitCode, failed.LastExitCode))
		return
	}
	c.Where = where(pod, failed.Name)
	job := ""
	if text, _, is := strings.Cut(strings.Join(c.Cause, "\n"), "; pod "+pod.Name); is { // a Job's own message comes first
		job = text
	}
	if pod.Phase == "Failed" && pod.Message != "" { // evicted, too late
		return
	}
	c.take(containerCause(pod, failed, state.ClusterEvents.In(b.v).Value(string(c.Resource)).List))
	c.Cause = append(c.Cause, b.misspelt(failed.Image)...)
	if job != "" {
		c.Cause = append(c.Cause, linesOf(job)...)
	}
	if failed.ID == "" {
		c.Span = "" // it has never run
		return
	}
	c.Run = &Run{pod.Name, failed.Name, failed.StartedAt}
	if failed.State == model.ContainerWaiting {
		c.Run.Began = failed.LastStartedAt
	}
}

// misspelt returns the warning of the Tiltfile that an image is built under another name than the one that a container asks for.
func (b *builder) misspelt(image string) []string {
	for _, w := range b.tiltfile.Warnings {
		if image != "" && strings.Contains(w, "(did you mean "+image+"?)") {
			return linesOf(w)
		}
	}
	return nil
}

// take fills in a card from a cause.
func (c *Card) take(why cause) {
	c.Cause, c.root = linesOf(why.text), why.root
	if why.title != "" {
		restarts := ""
		if i := strings.Index(c.Title, "×"); i >= 0 {
			restarts = " " + c.Title[i:]
		}
		c.Title = why.title + restarts
	}
	if why.said != "" && why.said != why.text {
		c.Said = linesOf(unescape(why.said))
	}
	if why.help != "" {
		c.Helps = append(c.Helps, why.help)
	}
}

// meaning adds the meaning of an exit code, if it does not depend on the program.
func (c *Card) meaning(code int) {
	if s := exit(code); code > 0 && strings.Contains(s, "(") {
		c.Cause = append(c.Cause, s)
	}
}

// waitingFor returns the resources that wait for others, directly and through others, ring by ring.
func (b *builder) waitingFor(names []model.ManifestName) (rings [][]model.ManifestName) {
	known := map[model.ManifestName]bool{}
	for _, n := range names {
		known[n] = true
	}
	for ring := names; len(ring) > 0; {
		var next []model.ManifestName
		for name, hold := range b.plan.Holds {
			if known[name] || hold.Reason == buildcontrol.HoldBuilding {
				continue
			}
			if slices.ContainsFunc(hold.On, func(on model.ManifestName) bool { return slices.Contains(ring, on) }) {
				next = append(next, name)
			}
		}
		for _, name := range next {
			known[name] = true
		}
		slices.Sort(next)
		if len(next) > 0 {
			rings = append(rings, next)
		}
		ring = next
	}
	return rings
}

// linesOf returns the lines of foreign text, cleaned for display.
func linesOf(s string) []string {
	var out []string
	for line := range strings.Lines(strings.TrimSpace(s)) {
		out = append(out, text.Clean(strings.TrimRight(line, "\r\n")))
	}
	return out
}

// unescape returns a text with real line breaks and tabs in place of escaped ones, as in an error that quotes a program's output.
func unescape(s string) string {
	if strings.Contains(s, "\n") || !strings.Contains(s, `\n`) {
		return s
	}
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`).Replace(s)
}
