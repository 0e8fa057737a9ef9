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
	"github.com/hone-dev/hone/pkg/model"
)

// Card explains a failure: what failed, why, what helps, and who waits because of it. Failures with the same cause share a
// card.
type Card struct {
	// Resource is the resource that failed; Also are further ones that failed for the same reason.
	Resource model.ManifestName
	Also     []model.ManifestName
	Aspect   Aspect
	// Title says what failed, in a few words: "crash loop, 4 restarts".
	Title string
	// Since is when it began; zero if unknown.
	Since time.Time
	// Cause says why, in full: lines of hone and of foreign programs.
	Cause []string
	// Output is the output of what failed, if it is known without its log. Span is where its log is; empty if it has none.
	Output string
	Span   string
	// Helps are things to do about it. They are only there where hone knows.
	Helps []string
	// Saved are the files whose change the newest update contains, if the failure began with that update.
	Saved []string
	// Waiting are the resources that wait for the failed ones, directly and through others, the nearest first.
	Waiting []model.ManifestName
}

// Aspect is what of a resource failed.
type Aspect uint8

// The aspects.
const (
	AspectUpdate Aspect = iota
	AspectRuntime
	AspectPort
)

// cards returns a card for each failure of the rows, causes first: in the order of the rows, but those that others wait for
// before the rest.
func (b *builder) cards(rows []Row) []Card {
	var cards []Card
	add := func(c Card) {
		for i := range cards {
			if o := &cards[i]; o.Aspect == c.Aspect && o.Title == c.Title && slices.Equal(o.Cause, c.Cause) && o.Output == c.Output && c.Span == "" {
				o.Also = append(o.Also, c.Resource)
				return
			}
		}
		cards = append(cards, c)
	}
	for _, r := range rows {
		if r.UpdateErr != "" {
			add(b.updateCard(r))
		}
		if r.RuntimeErr != "" {
			add(b.runtimeCard(r))
		}
		for _, p := range r.Ports {
			if p.State == PortFailed {
				add(Card{Resource: r.Name, Aspect: AspectPort, Title: fmt.Sprintf("port %d cannot be forwarded", p.Number), Cause: linesOf(p.Err)})
			}
		}
	}
	for i := range cards {
		cards[i].Waiting = b.waitingFor(append([]model.ManifestName{cards[i].Resource}, cards[i].Also...))
	}
	slices.SortStableFunc(cards, func(x, y Card) int { return rank(x) - rank(y) })
	return cards
}

// rank sorts cards: the Tiltfile, which everything comes from, then what others wait for.
func rank(c Card) int {
	switch {
	case c.Resource == model.TiltfileName:
		return 0
	case len(c.Waiting) > 0:
		return 1
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
			c.Span = last.Span
			if last.Problem != nil {
				p = *last.Problem
			}
			c.Saved = last.Files
			if files := Files(last.Files); files != "" {
				c.Title += " after a change of " + files
			}
		}
	}
	c.Cause = linesOf(p.Summary)
	if p.Cause != "" && !strings.Contains(p.Summary, p.Cause) {
		c.Cause = append(c.Cause, linesOf(p.Cause)...)
	}
	c.Output = unescape(p.Detail)
	if p.Mend != "" {
		c.Helps = append(c.Helps, linesOf(p.Mend)...)
	}
	if p.Link != "" {
		c.Helps = append(c.Helps, p.Link)
	}
	return c
}

// rest returns a text without its first line.
func rest(s string) string {
	_, tail, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return tail
}

func (b *builder) runtimeCard(r Row) Card {
	c := Card{Resource: r.Name, Aspect: AspectRuntime, Title: "it does not run", Cause: linesOf(r.RuntimeErr)}
	e, ok := state.Resources.In(b.v).Get(string(r.Name))
	if !ok {
		return c
	}
	m := e.Value.Manifest
	pods := b.pods[r.Name]
	runtime := buildcontrol.Runtime(b.v, m, state.Updates.In(b.v).Value(string(r.Name)), pods)
	c.Span, c.Since = runtime.Span, runtime.FailingSince
	if last, ok := state.Updates.In(b.v).Value(string(r.Name)).Last(); ok && last.Err == "" && !c.Since.Before(last.StartedAt) {
		c.Saved = last.Files
	}
	if long, _ := inWords(runtime.Text); long != "" {
		c.Title = long
	}
	if p, ok := b.process(m); ok && p.State == state.ProcessFailed {
		c.Title = "serve_cmd ended"
		c.meaning(p.ExitCode)
		return c
	}
	for _, pod := range pods {
		failed, is := state.FailedContainer(pod.Pod)
		if _, failing := state.PodFailure(pod.Pod); !failing || !pod.Current || !is {
			continue
		}
		b.explain(&c, pod, failed)
		return c
	}
	if help := refused(r.RuntimeErr); help != "" {
		c.Title, c.Helps = "its pods are refused", append(c.Helps, help)
	}
	return c
}

// refused returns what helps a workload whose pods cannot be created; empty if that is not known.
func refused(err string) string {
	switch {
	case strings.Contains(err, "exceeded quota: "):
		_, rest, _ := strings.Cut(err, "exceeded quota: ")
		quota, _, _ := strings.Cut(rest, ",")
		return "raise the ResourceQuota " + text.Clean(quota) + ", ask for less in resources, or delete what uses it up"
	case strings.Contains(err, "failed quota: "):
		return "the quota of the namespace wants resources.requests and limits for every container: set them"
	case strings.Contains(err, "violates PodSecurity"):
		return "the namespace allows only safer pods: set what the message asks for in securityContext, or lower the namespace's level"
	case strings.Contains(err, "usage per Container is"), strings.Contains(err, "usage per Pod is"):
		return "the LimitRange of the namespace bounds resources: ask for an amount within it"
	}
	return ""
}

// explain adds what is known about the container that failed.
func (b *builder) explain(c *Card, pod state.Pod, failed model.Container) {
	if n := failed.Restarts; n > 0 && !strings.Contains(c.Title, "×") {
		c.Title += ", " + words.Count(n, "restart")
	}
	code := cmp.Or(failed.ExitCode, failed.LastExitCode)
	reason := failed.Reason
	if failed.State == model.ContainerWaiting && failed.LastReason != "" && reason == "CrashLoopBackOff" {
		reason = failed.LastReason
	}
	if reason != "OOMKilled" {
		c.meaning(code)
	}
	for _, f := range pod.Unhealthy {
		if f.Container == failed.Name && f.Answer != "" && !strings.Contains(strings.Join(c.Cause, "\n"), f.Answer) {
			c.Cause = append(c.Cause, string(f.Kind)+" probe: "+text.Clean(f.Answer))
		}
	}
	if m := failed.Message; m != "" && reason == failed.Reason && reason != "CrashLoopBackOff" && !strings.Contains(strings.Join(c.Cause, "\n"), m) {
		c.Cause = append(c.Cause, linesOf(unescape(m))...)
	}
	c.Helps = append(c.Helps, helps(reason, failed.Message)...)
}

// meaning adds what an exit code means, if that does not depend on the program.
func (c *Card) meaning(code int) {
	if s := exit(code); code > 0 && strings.Contains(s, "(") {
		c.Cause = append(c.Cause, s)
	}
}

// helps returns what helps against a failure, where Kubernetes says enough to know.
func helps(reason, message string) []string {
	switch {
	case reason == "OOMKilled":
		return []string{"the container used more memory than its limit: raise resources.limits.memory, or use less"}
	case reason == "ErrImageNeverPull":
		return []string{"the image is not on the node, and imagePullPolicy is Never"}
	case reason == "InvalidImageName":
		return []string{"the image's name is not valid: check it in the Kubernetes object"}
	case strings.Contains(message, "not found") && (strings.HasPrefix(message, "configmap ") || strings.HasPrefix(message, "secret ")):
		return []string{"create the " + strings.TrimSuffix(message, " not found") + ", or correct its name in the object"}
	case strings.Contains(message, "couldn't find key"):
		return []string{"add the key, or correct its name in the object"}
	case strings.Contains(message, "exec format error"):
		return []string{"the image was built for another processor than the node's"}
	case (reason == "ImagePullBackOff" || reason == "ErrImagePull") && strings.Contains(message, "unauthorized"):
		return []string{"the registry wants a login: add an imagePullSecret"}
	case reason == "ImagePullBackOff" || reason == "ErrImagePull":
		return []string{"check the image's name and tag, and whether the node can reach the registry"}
	}
	return nil
}

// waitingFor returns the resources that wait for others, directly and through others, the nearest first.
func (b *builder) waitingFor(names []model.ManifestName) []model.ManifestName {
	known := map[model.ManifestName]bool{}
	for _, n := range names {
		known[n] = true
	}
	var out []model.ManifestName
	for ring := names; len(ring) > 0; {
		var next []model.ManifestName
		for name, hold := range b.plan.Holds {
			if known[name] || hold.Reason == buildcontrol.HoldBuilding {
				continue
			}
			if slices.ContainsFunc(hold.On, func(on model.ManifestName) bool { return slices.Contains(ring, on) }) {
				known[name] = true
				next = append(next, name)
			}
		}
		slices.Sort(next)
		out = append(out, next...)
		ring = next
	}
	return out
}

// linesOf returns the lines of foreign text, cleaned for display.
func linesOf(s string) []string {
	var out []string
	for line := range strings.Lines(strings.TrimSpace(s)) {
		out = append(out, text.Clean(strings.TrimRight(line, "\r\n")))
	}
	return out
}

// unescape returns a text whose line breaks and tabs came escaped, as in an error that quotes a program's output.
func unescape(s string) string {
	if strings.Contains(s, "\n") || !strings.Contains(s, `\n`) {
		return s
	}
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`).Replace(s)
}
