package mcp

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cli/answers"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/object"
	"github.com/hone-dev/hone/internal/cli/session"
	"github.com/hone-dev/hone/internal/client"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/pkg/api"
)

// asks are the annotations of tools that only ask.
func asks(title string) *mcp.ToolAnnotations { return hints(title, hint{reads: true, again: true}) }

// addQuestions adds the tools that change nothing in the session.
func (s *Server) addQuestions() {
	add(s, &mcp.Tool{Name: "status", Annotations: asks("What is wrong, why, and what waits"), Description: "Problems of the session, failures with cause, place and mend, and resources that wait, are being updated or warn; others are only counted. Ask this first."}, status)
	add(s, &mcp.Tool{Name: "settle", Annotations: asks("Whether everything that was saved is live, and works"), Description: "Waits until everything that was saved before the call is live, and says how it went: live, failing, waiting or unknown, and why. Call it after each edit. Live: each replica runs the newest files, is ready, and has logged no new error. Waiting: the time was up; call it again."}, settleSaves)
	add(s, &mcp.Tool{Name: "why", Annotations: asks("Why a resource fails or waits"), Description: "The things that a resource waits for, down to the root, and each failure that concerns it: place in the source, cause, the lines of output that matter, mend."}, why)
	add(s, &mcp.Tool{Name: "logs", Annotations: asks("Lines of the logs"), Description: "The newest lines, breadth first over resources, pods and containers, so that none hides another."}, logs)
	add(s, &mcp.Tool{Name: "diff", Annotations: asks("What the newest save changed, and where it is"), Description: "The files of the newest save by resource: live or not, why, how, and which containers have or lack them."}, diff)
	add(s, &mcp.Tool{Name: "describe", Annotations: asks("Details of an object of the session"), Description: "All fields of an object of the session, its conditions, and the events of its resource."}, describe)
	add(s, &mcp.Tool{Name: "preview", Annotations: asks("What waiting updates would change in the cluster"), Description: "The plan of the updates that wait, by a dry run: objects to create, change or delete, field by field."}, preview)
}

// statusIn is the input of status.
type statusIn struct{ paged }

func status(ctx context.Context, c call, _ statusIn) (a answer[answers.Finding], err error) {
	st, err := answers.AskStatus(ctx, c.session)
	if err != nil {
		return a, err
	}
	a.summary, a.foreign = st.Head(), true
	for _, f := range st.Findings {
		a.items = append(a.items, answers.Finding(f))
	}
	switch {
	case st.Failed > 0:
		a.next = "why, for the lines of output that matter: begin with " + firstFailed(st)
	case st.Updating+st.Waiting > 0:
		a.next = "status again when the updates are done, or why about a resource that waits"
	default:
		a.next = "nothing fails; diff says whether the newest save is live"
	}
	return a, nil
}

// firstFailed returns the resource of the first failure.
func firstFailed(st answers.Status) string {
	for _, f := range st.Findings {
		if f.Failure != nil {
			return f.Resource
		}
	}
	return "a resource that fails"
}

// settleIn is the input of settle.
type settleIn struct {
	Resources []string `json:"resources,omitempty" jsonschema:"none means all that are enabled"`
	Line      string   `json:"line,omitempty" jsonschema:"also wait for a line of the log after the save with this text, or one that matches /regex/"`
	waitIn
}

// waitIn is the part of the input of a tool that waits.
type waitIn struct {
	Seconds int `json:"seconds,omitempty" jsonschema:"how long to wait; at most 30, the default"`
}

// mostSeconds is the longest time that a tool waits, and the default. It leaves time for the last request of the client within callLimit.
const mostSeconds = 30

func (w waitIn) limit() time.Duration {
	seconds := mostSeconds
	if w.Seconds > 0 {
		seconds = min(w.Seconds, mostSeconds)
	}
	return api.Milliseconds(1000 * seconds).Duration()
}

func settleSaves(ctx context.Context, c call, in settleIn) (a answer[Line], err error) {
	rep, err := c.session.SettleReport(ctx, client.Settling{Request: api.SettleRequest{Resources: in.Resources, Line: in.Line}, Timeout: in.limit()})
	if err != nil {
		return a, err
	}
	var out strings.Builder
	if err := session.PrintSettled(&out, rep); err != nil {
		return a, err
	}
	a.items, a.foreign, a.quoted = linesOf(out.String()), true, true
	a.summary, a.next = "settled: "+string(rep.Result), settledNext[rep.Result]
	return a, nil
}

// settledNext are the questions to ask after a result of settle.
var settledNext = map[api.SettleResult]string{
	api.SettleLive:    "nothing: what was saved runs",
	api.SettleIdle:    "trigger, for resources that were never started",
	api.SettleFailing: "why about the resource that fails, then mend it and settle again",
	api.SettleWaiting: "settle again, or why about a resource that waits",
	api.SettleUnknown: "status, for the reason",
}

// whyIn is the input of why.
type whyIn struct {
	paged
	Resource string `json:"resource" jsonschema:"a name; (Tiltfile) is the Tiltfile"`
}

func why(ctx context.Context, c call, in whyIn) (a answer[answers.Reason], err error) {
	if a.items, err = answers.AskWhy(ctx, c.session, in.Resource); err != nil {
		return a, err
	}
	a.foreign = true
	a.summary, a.next = text.Clean(in.Resource)+" has no failure of its own or above it", "logs of "+text.Clean(in.Resource)+", if that does not explain it"
	for _, r := range a.items {
		if f := r.Failure; f != nil {
			a.summary = f.Resource + ": " + f.Title
			if f.Place != nil {
				a.summary += ", at " + answers.Place(*f.Place).String()
			}
			a.next = "mend it and save the file: the update follows by itself; then status. More lines: logs of " + f.Resource
			break
		}
	}
	return a, nil
}

// logsIn is the input of logs.
type logsIn struct {
	paged
	Resources []string `json:"resources,omitempty" jsonschema:"none means all"`
	Level     string   `json:"level,omitempty" jsonschema:"the lowest level: debug, info (default), warn or error"`
	Source    string   `json:"source,omitempty" jsonschema:"build for the output of updates, runtime for programs; both if absent"`
	Pod       string   `json:"pod,omitempty" jsonschema:"a part of its name"`
	Container string   `json:"container,omitempty" jsonschema:"a part of its name"`
	Text      string   `json:"text,omitempty" jsonschema:"a text in the line, or /regex/"`
	Since     string   `json:"since,omitempty" jsonschema:"a time such as 2026-01-31T12:00:00Z, or a while ago such as 5m"`
	SinceSave bool     `json:"sinceSave,omitempty" jsonschema:"since the newest save"`
}

func logs(ctx context.Context, c call, in logsIn) (a answer[answers.LogLine], err error) {
	of, err := answers.Of(ctx, c.session)
	if err != nil {
		return a, err
	}
	a.items, err = of.Logs(ctx, answers.LogQuery{Resources: in.Resources, Level: in.Level, Source: in.Source, Pod: in.Pod, Container: in.Container, Text: in.Text,
		Since: in.Since, SinceSave: in.SinceSave, Until: c.until})
	if err != nil {
		return a, err
	}
	a.foreign, a.quoted, a.order, a.until = true, true, answers.InOrder, c.until
	streams := map[string]bool{}
	for _, l := range a.items {
		streams[l.Resource+"/"+l.Pod+"/"+l.Container] = true
		if c.until == 0 {
			a.until = max(a.until, l.Seq)
		}
	}
	a.summary = fmt.Sprintf("%s from %s, breadth first, in the order of time", words.Count(len(a.items), "line"), words.Count(len(streams), "stream"))
	a.next = "narrow it down with resources, level=error, text or sinceSave, or read older lines with the cursor"
	if len(a.items) == 0 {
		a.next = "nothing matches: leave out level, text or since"
	}
	return a, nil
}

// diffIn is the input of diff.
type diffIn struct {
	paged
	Resources []string `json:"resources,omitempty" jsonschema:"none means all"`
}

func diff(ctx context.Context, c call, in diffIn) (a answer[answers.Change], err error) {
	of, err := answers.Of(ctx, c.session)
	if err != nil {
		return a, err
	}
	if a.items, err = of.Changes(in.Resources); err != nil {
		return a, err
	}
	live := 0
	for _, ch := range a.items {
		if ch.State == "live" {
			live++
		}
	}
	a.summary = fmt.Sprintf("the newest save is live in %d of %s", live, words.Count(len(a.items), "resource"))
	a.foreign = live < len(a.items)
	a.next = "status, for failures after the change; logs with sinceSave, for what the programs wrote since"
	if live < len(a.items) {
		a.next = "why about " + a.items[0].Resource
	}
	return a, nil
}

// describeIn is the input of describe.
type describeIn struct {
	paged
	Kind string `json:"kind,omitempty" jsonschema:"uiresource if absent; hone api-resources lists the kinds"`
	Name string `json:"name" jsonschema:"its name, or the beginning of its name"`
}

func describe(ctx context.Context, c call, in describeIn) (a answer[Line], err error) {
	kind := in.Kind
	if kind == "" {
		kind = "uiresource"
	}
	var out strings.Builder
	if err := object.Describe(ctx, c.session, &out, []string{kind, in.Name}); err != nil {
		return a, err
	}
	a.items, a.foreign, a.quoted = linesOf(out.String()), true, true
	a.summary = text.Clean(kind + " " + in.Name)
	a.next = "why about the resource, if it fails or waits"
	return a, nil
}

// previewIn is the input of preview.
type previewIn struct{ paged }

func preview(ctx context.Context, c call, _ previewIn) (a answer[Line], err error) {
	plan, err := c.session.Plan(ctx)
	if err != nil {
		return a, err
	}
	a.summary, a.items, a.foreign, a.quoted = planSummary(plan), linesOf(command.PlanText(plan)), true, true
	a.next = "deploy, to let the session do it"
	if !plan.Changes() {
		a.next = "nothing to do; status"
	}
	return a, nil
}

// planSummary says in one sentence whether a plan changes something.
func planSummary(p api.Plan) string {
	if p.Changes() {
		return "this would change in the cluster " + text.Clean(p.Context)
	}
	return "nothing would change in the cluster " + text.Clean(p.Context)
}

// snapshotIn is the input of snapshot.
type snapshotIn struct{}

func snapshotFile(ctx context.Context, c call, _ snapshotIn) (a answer[Line], err error) {
	if err := os.MkdirAll(c.options.Snapshots, 0o700); err != nil {
		return a, fmt.Errorf("create the folder of snapshots: %w", err)
	}
	f, err := os.CreateTemp(c.options.Snapshots, time.Now().Format("20060102-150405")+"-*.json")
	if err != nil {
		return a, fmt.Errorf("create the snapshot: %w", err)
	}
	if err := writeSnapshot(ctx, c.session, f); err != nil {
		_ = os.Remove(f.Name())
		return a, err
	}
	a.summary = "the snapshot is in " + filepath.Clean(f.Name())
	a.next = "hone snapshot view " + f.Name() + " shows it"
	return a, nil
}

func writeSnapshot(ctx context.Context, c *client.Client, f *os.File) error {
	in, err := c.Dump(ctx, client.DumpSnapshot)
	if err != nil {
		_ = f.Close()
		return err
	}
	defer in.Close()
	_, err = io.Copy(f, in)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("write the snapshot: %w", err)
	}
	return nil
}
