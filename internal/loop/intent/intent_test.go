package intent_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/loop/intent"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

func labelled(name string, labels ...string) model.Manifest {
	m := statetest.Local(name)
	m.Labels = labels
	return m
}

// shop is a session with the enabled resources b and a, the disabled resource c, and buttons.
func shop() store.View {
	loaded := statetest.Loaded(labelled("b", "front", "web"), labelled("a", "back"), labelled("c", "front"))
	loaded.Result.Buttons = []model.Button{
		{Name: "seed", Inputs: []model.Input{{Name: "SIZE", Kind: model.InputChoice, Choices: []string{"s", "l"}, Default: "s"}}},
		{Name: "off", Disabled: true},
	}
	return statetest.New(statetest.Session, loaded, state.ResourcesSwitched{Off: []model.ManifestName{"c"}}, state.TiltfileArgsSet{Args: []string{"web"}},
		state.ResourcesSwitched{Off: []model.ManifestName{"c"}}).View()
}

// refusal is an expected refusal. The zero value stands for success.
type refusal struct {
	why  intent.Reason
	text string
}

func refusalOf(err error) refusal {
	if err == nil {
		return refusal{}
	}
	return refusal{intent.Why(err), problem.Text(err)}
}

func TestIntents(t *testing.T) {
	v := shop()
	trigger := func(names ...string) func() (any, error) {
		return func() (any, error) { return intent.Trigger(v, names) }
	}
	mode := func(names ...string) func() (any, error) {
		return func() (any, error) { return intent.SetTriggerMode(v, names, model.TriggerManual) }
	}
	click := func(button string, inputs map[string]any) func() (any, error) {
		return func() (any, error) { return intent.Click(v, button, inputs) }
	}
	set := func(args ...string) func() (any, error) {
		return func() (any, error) {
			a, changed, err := intent.SetArguments(v, args)
			if err == nil && !changed {
				return "unchanged", nil
			}
			return a, err
		}
	}
	unknown := func(text string) refusal { return refusal{intent.Unknown, text} }
	for _, tc := range []struct {
		name    string
		do      func() (any, error)
		want    any
		refused refusal
	}{
		{"trigger one", trigger("a"), state.ResourcesTriggered{Names: []model.ManifestName{"a"}}, refusal{}},
		{"trigger the Tiltfile", trigger("b", "(Tiltfile)"), state.ResourcesTriggered{Names: []model.ManifestName{"b", "(Tiltfile)"}}, refusal{}},
		{"trigger nothing", trigger(), state.ResourcesTriggered{}, refusal{intent.Invalid, "must specify at least one resource"}},
		{"trigger an unknown resource", trigger("a", "bb"), state.ResourcesTriggered{},
			unknown("no resource is called \"bb\"\n  did you mean b? there are: (Tiltfile), b, a, c")},
		{"trigger a disabled resource", trigger("a", "c"), state.ResourcesTriggered{},
			refusal{intent.Impossible, "resource \"c\" is disabled\n  enable it first: hone enable c"}},
		{"trigger mode", mode("a", "c"), state.TriggerModeChosen{Names: []model.ManifestName{"a", "c"}, Mode: model.TriggerManual}, refusal{}},
		{"trigger mode of nothing", mode(), state.TriggerModeChosen{Mode: model.TriggerManual}, refusal{intent.Invalid, "must specify at least one resource"}},
		{"trigger mode of the Tiltfile", mode("(Tiltfile)"), state.TriggerModeChosen{},
			refusal{intent.Impossible, "the Tiltfile has no trigger mode: it is evaluated whenever one of its files changes\n  hold all updates back instead: hone pause"}},
		{"trigger mode of an unknown resource", mode("x"), state.TriggerModeChosen{}, unknown("no resource is called \"x\"\n  did you mean b? there are: b, a, c")},
		{"click", click("seed", nil), state.ButtonClicked{Button: "seed", Inputs: map[string]string{"SIZE": "s"}}, refusal{}},
		{"click with an input", click("seed", map[string]any{"SIZE": "l"}), state.ButtonClicked{Button: "seed", Inputs: map[string]string{"SIZE": "l"}}, refusal{}},
		{"click with a wrong input", click("seed", map[string]any{"SIZE": "m"}), state.ButtonClicked{},
			refusal{intent.Invalid, `button "seed": input "SIZE" takes one of s, l`}},
		{"click an unknown button", click("sed", nil), state.ButtonClicked{}, unknown("no button is called \"sed\"\n  did you mean seed? there are: seed, off")},
		{"click a disabled button", click("off", nil), state.ButtonClicked{}, refusal{intent.Impossible, `button "off" is disabled`}},
		{"arguments", set("api", "web"), state.TiltfileArgsSet{Args: []string{"api", "web"}}, refusal{}},
		{"no arguments", set(), state.TiltfileArgsSet{}, refusal{}},
		{"the same arguments", set("web"), "unchanged", refusal{}},
		{"a redacted argument", set("--key", "[redacted secret db:password]"), state.TiltfileArgsSet{},
			refusal{intent.Invalid, "an argument contains a redacted value: replace it with the actual value"}},
	} {
		got, err := tc.do()
		if diff := cmp.Diff(tc.refused, refusalOf(err), cmp.AllowUnexported(refusal{})); diff != "" {
			t.Errorf("%s: refusal (-want +got):\n%s", tc.name, diff)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	if why := intent.Why(errors.New("other")); why != 0 {
		t.Errorf("another error has the reason %d", why)
	}
}

func TestSwitch(t *testing.T) {
	v := shop()
	for _, tc := range []struct {
		name    string
		on      bool
		of      intent.Selection
		want    intent.Outcome
		refused refusal
	}{
		{"disable some", false, intent.Selection{Names: []string{"a", "b"}}, intent.Outcome{Disabled: []string{"b", "a"}}, refusal{}},
		{"enable what is enabled", true, intent.Selection{Names: []string{"a"}}, intent.Outcome{Unchanged: []string{"a"}}, refusal{}},
		{"enable all", true, intent.Selection{All: true}, intent.Outcome{Enabled: []string{"c"}, Unchanged: []string{"b", "a"}}, refusal{}},
		{"only one", true, intent.Selection{Names: []string{"c"}, Only: true}, intent.Outcome{Enabled: []string{"c"}, Disabled: []string{"b", "a"}}, refusal{}},
		{"all but one", false, intent.Selection{Names: []string{"b"}, Only: true},
			intent.Outcome{Enabled: []string{"c"}, Disabled: []string{"b"}}, refusal{}},
		{"by label and name", false, intent.Selection{Names: []string{"a"}, Labels: []string{"web"}}, intent.Outcome{Disabled: []string{"b", "a"}}, refusal{}},
		{"an unknown name", false, intent.Selection{Names: []string{"a", "bb"}}, intent.Outcome{},
			refusal{intent.Unknown, "no resource is called \"bb\"\n  did you mean b? there are: b, a, c"}},
		{"an unknown label", false, intent.Selection{Labels: []string{"front", "bcak"}}, intent.Outcome{},
			refusal{intent.Unknown, "no label is called \"bcak\"\n  did you mean back? there are: back, front, web"}},
		{"the Tiltfile", false, intent.Selection{Names: []string{"(Tiltfile)"}}, intent.Outcome{},
			refusal{intent.Unknown, "(Tiltfile) cannot be enabled or disabled\n  hone stop ends the session"}},
		{"nothing", true, intent.Selection{Only: true}, intent.Outcome{}, refusal{intent.Invalid, "must specify at least one resource"}},
		{"all and a name", true, intent.Selection{All: true, Names: []string{"a"}}, intent.Outcome{},
			refusal{intent.Invalid, "all cannot be combined with manifest_names, labels or only"}},
	} {
		got, err := intent.Switch(v, tc.on, tc.of)
		if diff := cmp.Diff(tc.refused, refusalOf(err), cmp.AllowUnexported(refusal{})); diff != "" {
			t.Errorf("%s: refusal (-want +got):\n%s", tc.name, diff)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		a, ok := got.Action()
		if len(a.On) != len(got.Enabled) || len(a.Off) != len(got.Disabled) || ok != (len(got.Enabled)+len(got.Disabled) > 0) {
			t.Errorf("%s: %+v, %v", tc.name, a, ok)
		}
	}
}

// TestConfirm agrees to the changes that a plan has shown, and to nothing else.
func TestConfirm(t *testing.T) {
	session := statetest.Session
	asks := session
	asks.Session.Confirmation.Asked = true
	begin := func(s state.SessionStarted) *statetest.State {
		return statetest.New(s, state.TiltfileStarted{}, statetest.Loaded(statetest.K8s("a"))).Then(statetest.Connected()...)
	}
	for _, tc := range []struct {
		name    string
		s       *statetest.State
		runs    int
		want    []model.ManifestName
		refused string
	}{
		{"what waits", begin(asks), 1, []model.ManifestName{"a"}, ""},
		{"a session that does not ask", begin(session), 1, nil, "this session does not ask: changes are deployed as they come\n  hone up --confirm asks"},
		{"another Tiltfile", begin(asks).Then(state.TiltfileStarted{}, statetest.Loaded(statetest.K8s("a"), statetest.K8s("b"))), 1, []model.ManifestName{"a", "b"},
			"the Tiltfile has changed since: something else would happen now\n  look at it again"},
		{"a Tiltfile with an error", begin(asks).Then(state.TiltfileStarted{}, state.TiltfileLoaded{Err: "broken"}), 1, []model.ManifestName{"a"}, "the Tiltfile is being evaluated, or has an error\n  wait, or mend it first"},
		{"nothing waits", begin(asks).Then(state.ChangesConfirmed{Names: []model.ManifestName{"a"}}).Deployed("a"), 1, nil, "nothing waits for you to confirm it"},
		{"only a deletion waits", begin(asks).Then(state.ChangesConfirmed{Names: []model.ManifestName{"a"}}).Deployed("a").Then(state.LeavingHeld{Names: []model.ManifestName{"x"}}), 1, nil, ""},
	} {
		a, err := intent.Confirm(tc.s.View(), tc.runs)
		got := ""
		if err != nil {
			got = refusalOf(err).text
		}
		if got != tc.refused || err == nil && !slices.Equal(a.Names, tc.want) {
			t.Errorf("%s: %v, %q; want %v, %q", tc.name, a.Names, got, tc.want, tc.refused)
		}
	}
}

// TestFailedTiltfile: a name that a broken Tiltfile may declare is refused with the failure.
func TestFailedTiltfile(t *testing.T) {
	v := statetest.New(statetest.Session, state.TiltfileLoaded{Err: "Tiltfile:2: undefined: x\n\n   2 | x"}).View()
	want := refusal{intent.Unknown, "no resource is called \"web\"; the Tiltfile has failed: Tiltfile:2: undefined: x\n" +
		"  fix the Tiltfile; hone logs '(Tiltfile)' shows its log"}
	_, restart := intent.Restart(v, []string{"web"}, false)
	_, mode := intent.SetTriggerMode(v, []string{"web"}, model.TriggerManual)
	_, enable := intent.Switch(v, true, intent.Selection{Names: []string{"web"}})
	for name, err := range map[string]error{"restart": restart, "trigger mode": mode, "enable": enable} {
		if diff := cmp.Diff(want, refusalOf(err), cmp.AllowUnexported(refusal{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
