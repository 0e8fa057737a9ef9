package mcp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/session"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/pkg/api"
)

// addRequests adds the tools that change something.
func (s *Server) addRequests() {
	add(s, &mcp.Tool{Name: "test", Annotations: hints("Run the project's tests", hint{destroys: true, world: true}), Description: "Runs the tests of the Tiltfile that have no verdict about everything that was saved, each once all that it depends on runs it, and waits for the verdicts: ok, cached, or failed with place and output."}, runTests)
	add(s, &mcp.Tool{Name: "snapshot", Annotations: hints("Save the state and the logs of the session to a file", hint{}), Description: "Writes state and newest logs, without secrets, to a new file in hone's own folder, and returns its path."}, snapshotFile)
	add(s, &mcp.Tool{Name: "trigger", Annotations: hints("Update resources now", hint{destroys: true, world: true}), Description: "Updates resources now, although no file has changed: commands run again, pods are replaced. A saved file needs no trigger."}, trigger)
	add(s, &mcp.Tool{Name: "restart", Annotations: hints("Restart programs", hint{destroys: true, world: true}), Description: "Restarts programs where they run, or with pods replaces their pods, without building anything, and waits for it."}, restart)
	add(s, &mcp.Tool{Name: "enable", Annotations: hints("Enable or disable resources", hint{destroys: true, again: true, world: true}), Description: "Enables resources, or with disable takes them down: everything that they run is stopped and deleted."}, enable)
	add(s, &mcp.Tool{Name: "button", Annotations: hints("Click a button of the Tiltfile", hint{destroys: true, world: true}), Description: "Runs the command of a button of the Tiltfile. Without a button, lists the buttons and their inputs."}, button)
	add(s, &mcp.Tool{Name: "deploy", Annotations: hints("Update resources, with confirmation", hint{destroys: true, world: true}), Description: "Lets updates that wait for confirmation go on. A call without an id triggers resources, if any are named, and returns the plan and its id; a second call with this id does what the plan says."}, deploy)
	if s.options.Exec {
		add(s, &mcp.Tool{Name: "exec", Annotations: hints("Run a command in a container", hint{destroys: true, world: true}), Description: "Runs a command where a resource runs: in a container, or on this machine for a local resource. There is no shell: for one, run sh -c. Input is empty."}, execute)
	}
}

// namesIn is the part of an input that names resources.
type namesIn struct {
	Resources []string `json:"resources"`
}

// check refuses an empty list.
func (n namesIn) check() error {
	if len(n.Resources) == 0 {
		return problem.New("no resource is named", "name at least one; status lists those that are not well")
	}
	return nil
}

// testIn is the input of test.
type testIn struct {
	Tests       []string `json:"tests,omitempty" jsonschema:"none means all that are enabled"`
	RerunFailed bool     `json:"rerunFailed,omitempty" jsonschema:"only run the failed tests again"`
	NoCache     bool     `json:"noCache,omitempty" jsonschema:"also run those that have passed with the same inputs"`
	waitIn
}

func runTests(ctx context.Context, c call, in testIn) (a answer[Line], err error) {
	req := api.TestRequest{Names: in.Tests, RerunFailed: in.RerunFailed, NoCache: in.NoCache}
	rep, err := c.session.Test(ctx, req, in.limit(), func(api.TestReport) {})
	if err != nil {
		return a, err
	}
	var out strings.Builder
	if err := session.PrintTests(&out, rep); err != nil {
		return a, err
	}
	a = done(out.String(), "tests: "+string(rep.Result), testedNext[rep.Result])
	a.foreign, a.quoted = true, true
	return a, nil
}

// testedNext are the questions to ask after a result of test.
var testedNext = map[api.TestResult]string{
	api.TestPassed:  "nothing: the tests pass with everything that was saved",
	api.TestFailed:  "why about the test that fails, then mend it and test again",
	api.TestWaiting: "test again, without rerunFailed and noCache: the tests go on",
	api.TestUnknown: "status, for the reason",
}

// triggerIn is the input of trigger.
type triggerIn struct {
	namesIn
	NoCache bool `json:"noCache,omitempty" jsonschema:"build from scratch and replace all pods"`
}

func trigger(ctx context.Context, c call, in triggerIn) (a answer[Line], err error) {
	if err := in.check(); err != nil {
		return a, err
	}
	var out strings.Builder
	err = session.Trigger(ctx, c.session, &out, in.Resources, in.NoCache)
	return done(out.String(), "triggered "+words.List(in.Resources, "resource"), "status, once the update is done"), err
}

// restartIn is the input of restart.
type restartIn struct {
	namesIn
	Pods bool `json:"pods,omitempty" jsonschema:"replace the pods instead"`
}

func restart(ctx context.Context, c call, in restartIn) (a answer[Line], err error) {
	if err := in.check(); err != nil {
		return a, err
	}
	var out strings.Builder
	err = session.Restart(ctx, c.session, &out, in.Resources, in.Pods)
	return done(out.String(), "restarted "+words.List(in.Resources, "resource"), "status"), err
}

// enableIn is the input of enable.
type enableIn struct {
	namesIn
	Disable bool `json:"disable,omitempty" jsonschema:"disable them instead"`
}

func enable(ctx context.Context, c call, in enableIn) (a answer[Line], err error) {
	if err := in.check(); err != nil {
		return a, err
	}
	state := api.StateEnabled
	if in.Disable {
		state = api.StateDisabled
	}
	var out strings.Builder
	err = session.Switch(ctx, c.session, &out, api.SwitchRequest{State: state, ManifestNames: in.Resources})
	return done(out.String(), state+" "+words.List(in.Resources, "resource"), "status"), err
}

// buttonIn is the input of button.
type buttonIn struct {
	Button string            `json:"button,omitempty" jsonschema:"its name; absent to list them"`
	Inputs map[string]string `json:"inputs,omitempty" jsonschema:"values by name; true or false for switches"`
}

func button(ctx context.Context, c call, in buttonIn) (a answer[Line], err error) {
	if in.Button == "" {
		return buttons(ctx, c)
	}
	inputs := map[string]any{}
	for name, value := range in.Inputs {
		inputs[name] = value
	}
	var out strings.Builder
	err = session.Click(ctx, c.session, &out, in.Button, inputs)
	return done(out.String(), "clicked "+words.Clip(in.Button, headChars), "logs, for the output of its command"), err
}

// buttons lists the buttons.
func buttons(ctx context.Context, c call) (a answer[Line], err error) {
	v, err := c.session.View(ctx)
	if err != nil {
		return a, err
	}
	var out strings.Builder
	for _, b := range v.Buttons {
		fmt.Fprintf(&out, "%s: %s", b.Name, b.Text)
		for _, in := range b.Inputs {
			fmt.Fprintf(&out, " [%s=%s]", in.Name, strings.Join(append([]string{in.Default}, in.Choices...), "|"))
		}
		out.WriteByte('\n')
	}
	a = done(out.String(), words.Count(len(v.Buttons), "button"), "button with the name of one clicks it")
	a.foreign, a.quoted = true, true
	return a, nil
}

// deployIn is the input of deploy.
type deployIn struct {
	Resources []string `json:"resources,omitempty" jsonschema:"to trigger first; none if only those that wait are meant"`
	ID        string   `json:"id,omitempty" jsonschema:"of the plan that an earlier call has returned"`
}

func deploy(ctx context.Context, c call, in deployIn) (a answer[Line], err error) {
	var out strings.Builder
	if in.ID != "" {
		plan, err := c.planned(in.ID)
		if err != nil {
			return a, err
		}
		err = session.GoOn(ctx, c.session, &out, plan)
		return done(out.String(), "the session does what the plan says", "status, once it is done"), err
	}
	if len(in.Resources) > 0 {
		if err := session.Trigger(ctx, c.session, &out, in.Resources, false); err != nil {
			return a, err
		}
	}
	v, err := c.session.View(ctx)
	if err != nil {
		return a, err
	}
	waits := slices.ContainsFunc(v.Resources, func(r api.Resource) bool {
		return r.Waiting != nil && r.Waiting.Reason == string(buildcontrol.HoldConfirm)
	})
	if !waits {
		return done(out.String(), "nothing waits for confirmation: updates run by themselves", "status"), nil
	}
	plan, err := c.session.Plan(ctx)
	if err != nil {
		return a, err
	}
	a.summary = fmt.Sprintf("nothing is done yet. Show this plan to the user; if the user agrees, call deploy with id %s", c.planID(plan.Evaluation))
	a.items, a.foreign, a.quoted = append(linesOf(out.String()), linesOf(command.PlanText(plan))...), true, true
	a.next = "deploy with this id, once the user agrees"
	return a, nil
}

// planID returns the id of the plan of an evaluation. It holds for one run of one session; the session itself refuses a plan that is no longer
// the newest.
func (c call) planID(evaluation int) string {
	n := strconv.Itoa(evaluation)
	return "plan-" + n + "-" + sign("plan", "deploy", c.session, n)
}

// planned returns the plan with an id, as far as it takes to confirm it.
func (c call) planned(id string) (api.Plan, error) {
	number, _, _ := strings.Cut(strings.TrimPrefix(id, "plan-"), "-")
	n, err := strconv.Atoi(number)
	if err != nil || n <= 0 || c.planID(n) != id {
		return api.Plan{}, problem.New("no plan of this session has this id", "call deploy without an id for the plan and its id")
	}
	return api.Plan{Evaluation: n}, nil
}

// execIn is the input of exec.
type execIn struct {
	Resource  string   `json:"resource" jsonschema:"where to run it"`
	Command   []string `json:"command" jsonschema:"program and arguments"`
	Pod       string   `json:"pod,omitempty" jsonschema:"the newest that is ready if absent"`
	Container string   `json:"container,omitempty" jsonschema:"the one of live updates if absent"`
}

func execute(ctx context.Context, c call, in execIn) (a answer[Line], err error) {
	if len(in.Command) == 0 {
		return a, problem.New("no command is given", `pass one: ["ls", "-l"]`)
	}
	args := []string{"shell", "--resource=" + in.Resource}
	if name := c.session.Session.Name; name != "" {
		args = append(args, "--session="+name)
	}
	if in.Pod != "" {
		args = append(args, "--pod="+in.Pod)
	}
	if in.Container != "" {
		args = append(args, "--container="+in.Container)
	}
	said, code, err := c.options.Run(ctx, append(append(args, "--"), in.Command...)...)
	if err != nil {
		return a, err
	}
	a.items, a.foreign, a.quoted = linesOf(said), true, true
	a.summary = fmt.Sprintf("exit code %d, %s", code, words.Count(len(a.items), "line"))
	a.next = "a command with less output, if lines are missing: head, tail, grep"
	return a, nil
}

// done is the answer of a tool that has printed lines like a command.
func done(out, summary, next string) answer[Line] {
	return answer[Line]{summary: text.Clean(words.OneLine(summary)), items: linesOf(out), next: next}
}
