package projection

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

func kindOf(t testing.TB, name string) Kind {
	for _, k := range All() {
		if k.Name == name {
			return k
		}
	}
	t.Fatalf("no kind %q", name)
	return Kind{}
}

// find returns an object, nil where there is none.
func find(t testing.TB, v store.View, kind, name string) Object {
	for i := range kindOf(t, kind).Items(v) {
		if i.Name == name {
			o := i.Make()
			o.SetResourceVersion("17")
			return o
		}
	}
	return nil
}

func names(list ...model.ManifestName) []model.ManifestName { return list }

// TestWrite changes, creates and deletes objects of the shop.
func TestWrite(t *testing.T) {
	v := shop().View()
	now := metav1.NewMicroTime(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	for _, tc := range []struct {
		name, kind, object string
		// change returns the new object for the old one or for nil; a nil change deletes the object.
		change func(o Object) Object
		want   []store.Action
		err    string
	}{
		{"nothing", "UIResource", "web", func(o Object) Object { return o }, nil, ""},
		{"manual", "UIResource", "web", func(o Object) Object { o.(*v1alpha1.UIResource).Status.TriggerMode = 2; return o },
			[]store.Action{state.TriggerModeChosen{Names: names("web"), Mode: model.TriggerManual}}, ""},
		{"automatic", "UIResource", "gen", func(o Object) Object { o.(*v1alpha1.UIResource).Status.TriggerMode = 0; return o },
			[]store.Action{state.TriggerModeChosen{Names: names("gen"), Mode: model.TriggerAuto}}, ""},
		{"no such mode", "UIResource", "web", func(o Object) Object { o.(*v1alpha1.UIResource).Status.TriggerMode = 7; return o }, nil, "not 7"},
		{"the rest of a resource", "UIResource", "web", func(o Object) Object { o.(*v1alpha1.UIResource).Status.Order = 7; return o }, nil, "hone trigger"},
		{"the mode of the Tiltfile", "UIResource", "(Tiltfile)", func(o Object) Object { o.(*v1alpha1.UIResource).Status.TriggerMode = 2; return o }, nil, "forbidden"},
		{"delete a resource", "UIResource", "web", nil, nil, "hone disable"},
		{"arguments", "Tiltfile", "(Tiltfile)", func(o Object) Object { o.(*v1alpha1.Tiltfile).Spec.Args = []string{"api"}; return o },
			[]store.Action{state.TiltfileArgsSet{Args: []string{"api"}}}, ""},
		{"no arguments", "Tiltfile", "(Tiltfile)", func(o Object) Object { o.(*v1alpha1.Tiltfile).Spec.Args = nil; return o }, []store.Action{state.TiltfileArgsSet{}}, ""},
		{"the path of the Tiltfile", "Tiltfile", "(Tiltfile)", func(o Object) Object { o.(*v1alpha1.Tiltfile).Spec.Path = "/x"; return o }, nil, "hone up --file"},
		{"off", "ConfigMap", "web-disable", func(o Object) Object { o.(*v1alpha1.ConfigMap).Data["isDisabled"] = "true"; return o },
			[]store.Action{state.ResourcesSwitched{Off: names("web")}}, ""},
		{"on", "ConfigMap", "off-disable", func(o Object) Object { o.(*v1alpha1.ConfigMap).Data["isDisabled"] = "false"; return o },
			[]store.Action{state.ResourcesSwitched{On: names("off")}}, ""},
		{"off while off", "ConfigMap", "off-disable", func(o Object) Object { return o }, nil, ""},
		{"neither", "ConfigMap", "web-disable", func(o Object) Object { o.(*v1alpha1.ConfigMap).Data["isDisabled"] = "maybe"; return o }, nil, `not "maybe"`},
		{"more in a switch", "ConfigMap", "web-disable", func(o Object) Object { o.(*v1alpha1.ConfigMap).Data["x"] = "y"; return o }, nil, "only data.isDisabled"},
		{"delete a switch", "ConfigMap", "web-disable", nil, nil, "it switches the resource web"},
		{"data of the Tiltfile's", "ConfigMap", "switches", func(o Object) Object { o.(*v1alpha1.ConfigMap).Data = map[string]string{"lint": "true"}; return o },
			[]store.Action{state.ObjectsDeclared{ConfigMaps: []model.ConfigMap{{Name: "switches", Data: map[string]string{"lint": "true"}}}}}, ""},
		{"a redacted value", "ConfigMap", "switches", func(o Object) Object { o.(*v1alpha1.ConfigMap).Data["lint"] = "true"; return o }, nil, "redacted"},
		{"labels of the Tiltfile's", "ConfigMap", "switches", func(o Object) Object {
			o.SetLabels(map[string]string{"a": "b"})
			o.(*v1alpha1.ConfigMap).Data = nil
			return o
		}, nil, "the Tiltfile declares it"},
		{"a config map", "ConfigMap", "new", func(Object) Object {
			return &v1alpha1.ConfigMap{ObjectMeta: meta("new"), Data: map[string]string{"a": "b"}}
		}, []store.Action{state.ObjectsDeclared{ConfigMaps: []model.ConfigMap{{Name: "new", Data: map[string]string{"a": "b"}}}}}, ""},
		{"delete the Tiltfile's", "ConfigMap", "switches", nil, nil, "remove it there"},
		{"a click", "UIButton", "lint", func(o Object) Object {
			b := o.(*v1alpha1.UIButton)
			b.Status = v1alpha1.UIButtonStatus{LastClickedAt: now, Inputs: []v1alpha1.UIInputStatus{{Name: "LEVEL", Choice: &v1alpha1.UIChoiceInputStatus{Value: "strict"}},
				{Name: "FIX", Bool: &v1alpha1.UIBoolInputStatus{Value: true}}, {Name: "WHO", Text: &v1alpha1.UITextInputStatus{Value: "you"}}}}
			return b
		}, []store.Action{state.ButtonClicked{Button: "lint", Inputs: map[string]string{"LEVEL": "strict", "FIX": "yes", "WHO": "you", "TOKEN": password}}}, ""},
		{"inputs without a click", "UIButton", "lint", func(o Object) Object { o.(*v1alpha1.UIButton).Status.Inputs = nil; return o }, nil, ""},
		{"a wrong input", "UIButton", "lint", func(o Object) Object {
			b := o.(*v1alpha1.UIButton)
			b.Status = v1alpha1.UIButtonStatus{LastClickedAt: now, Inputs: []v1alpha1.UIInputStatus{{Name: "LEVEL", Choice: &v1alpha1.UIChoiceInputStatus{Value: "x"}}}}
			return b
		}, nil, "takes one of easy, strict"},
		{"a disabled button", "UIButton", "old", func(o Object) Object { o.(*v1alpha1.UIButton).Status.LastClickedAt = now; return o }, nil, `button "old" is disabled`},
		{"the text of the Tiltfile's", "UIButton", "lint", func(o Object) Object { o.(*v1alpha1.UIButton).Spec.Text = "x"; return o }, nil, "the Tiltfile declares it"},
		{"a click that disables", "UIButton", "toggle-web-disable", func(o Object) Object { o.(*v1alpha1.UIButton).Status.LastClickedAt = now; return o },
			[]store.Action{state.ResourcesSwitched{Off: names("web")}}, ""},
		{"a click that enables", "UIButton", "toggle-off-disable", func(o Object) Object { o.(*v1alpha1.UIButton).Status.LastClickedAt = now; return o },
			[]store.Action{state.ResourcesSwitched{On: names("off")}}, ""},
		{"a button", "UIButton", "go", func(Object) Object {
			return &v1alpha1.UIButton{ObjectMeta: meta("go"), Spec: v1alpha1.UIButtonSpec{Text: "Go", Inputs: []v1alpha1.UIInputSpec{{Name: "A", Text: &v1alpha1.UITextInputSpec{DefaultValue: "x"}}}}}
		}, []store.Action{state.ObjectsDeclared{Buttons: []model.Button{{Name: "go", Text: "Go", Place: model.ButtonPlace{Type: model.ComponentGlobal},
			Inputs: []model.Input{{Name: "A", Kind: model.InputText, Default: "x"}}}}}}, ""},
		{"a button without a text", "UIButton", "go", func(Object) Object { return &v1alpha1.UIButton{ObjectMeta: meta("go")} }, nil, "spec.text is missing"},
		{"a command", "Cmd", "new", func(Object) Object {
			return &v1alpha1.Cmd{ObjectMeta: meta("new"), Spec: v1alpha1.CmdSpec{Args: []string{"make"}, Dir: "sub",
				StartOn: &v1alpha1.StartOnSpec{UIButtons: []string{"lint"}}, ReadinessProbe: &v1alpha1.Probe{PeriodSeconds: 2, Handler: v1alpha1.Handler{TCPSocket: &v1alpha1.TCPSocketAction{Port: 1}}}}}
		}, []store.Action{state.ObjectsDeclared{Commands: []model.Command{{Name: "new", Cmd: model.Cmd{Argv: []string{"make"}, Dir: "/src/sub"},
			StartOn: &model.Triggers{Buttons: []string{"lint"}}, Readiness: &model.Probe{Period: 2 * time.Second, TCP: &model.TCPProbe{Host: "localhost", Port: 1}}}}}}, ""},
		{"a command that does nothing", "Cmd", "new", func(Object) Object { return &v1alpha1.Cmd{ObjectMeta: meta("new")} }, nil, "spec.args is missing"},
		{"a foreign command", "Cmd", "foreign", func(o Object) Object { o.(*v1alpha1.Cmd).Spec.Args = []string{"false"}; return o },
			[]store.Action{state.ObjectsDeclared{Commands: []model.Command{{Name: "foreign", Cmd: model.Cmd{Argv: []string{"false"}, Dir: "/src"}}}}}, ""},
		{"only its status", "Cmd", "foreign", func(o Object) Object { o.(*v1alpha1.Cmd).Status.Ready = true; return o }, nil, ""},
		{"delete it", "Cmd", "foreign", nil, []store.Action{state.ObjectsWithdrawn{Commands: []string{"foreign"}}}, ""},
		{"the Tiltfile's command", "Cmd", "lint", func(o Object) Object { o.(*v1alpha1.Cmd).Spec.Args = nil; return o }, nil, "change it there"},
		{"the command of a resource", "Cmd", "gen:update", func(o Object) Object { o.(*v1alpha1.Cmd).Spec.Args = nil; return o }, nil, "part of a resource"},
		{"delete that", "Cmd", "gen:update", nil, nil, "part of a resource"},
		{"a watch", "FileWatch", "new", func(Object) Object {
			return &v1alpha1.FileWatch{ObjectMeta: meta("new"), Spec: v1alpha1.FileWatchSpec{WatchedPaths: []string{"a", "/b"}, Ignores: []v1alpha1.IgnoreDef{{BasePath: "a/x"}}}}
		}, []store.Action{state.ObjectsDeclared{FileWatches: []model.FileWatch{{Name: "new", Watch: model.WatchSpec{Paths: []string{"/src/a", "/b"},
			Ignores: []model.Ignore{{Base: "/src/a/x", Patterns: []string{"**"}, Source: "spec.ignores"}}}}}}}, ""},
		{"a watch of nothing", "FileWatch", "new", func(Object) Object { return &v1alpha1.FileWatch{ObjectMeta: meta("new")} }, nil, "spec.watchedPaths is missing"},
		{"a repository", "ExtensionRepo", "new", func(Object) Object {
			return &v1alpha1.ExtensionRepo{ObjectMeta: meta("new"), Spec: v1alpha1.ExtensionRepoSpec{URL: "file:///ext"}}
		}, []store.Action{state.ObjectsDeclared{ExtensionRepos: []model.ExtensionRepo{{Name: "new", URL: "file:///ext"}}}}, ""},
		{"a repository that is nowhere", "ExtensionRepo", "new", func(Object) Object { return &v1alpha1.ExtensionRepo{ObjectMeta: meta("new")} }, nil, "url: "},
		{"the Tiltfile's repository", "ExtensionRepo", "ours", func(o Object) Object { o.(*v1alpha1.ExtensionRepo).Spec.Ref = "v2"; return o }, nil, "change it there"},
		{"delete that", "ExtensionRepo", "ours", nil, nil, "remove it there"},
		{"an extension", "Extension", "new", func(Object) Object {
			return &v1alpha1.Extension{ObjectMeta: meta("new"), Spec: v1alpha1.ExtensionSpec{RepoName: "ours", RepoPath: "./a/b", Args: []string{"x"}}}
		}, []store.Action{state.ObjectsDeclared{Extensions: []model.Extension{{Name: "new", Repo: "ours", Path: "a/b", Args: []string{"x"}}}}}, ""},
		{"one by its name", "Extension", "cancel", func(Object) Object { return &v1alpha1.Extension{ObjectMeta: meta("cancel")} },
			[]store.Action{state.ObjectsDeclared{Extensions: []model.Extension{{Name: "cancel", Repo: "default", Path: "cancel"}}}}, ""},
		{"one outside of its repository", "Extension", "new", func(Object) Object {
			return &v1alpha1.Extension{ObjectMeta: meta("new"), Spec: v1alpha1.ExtensionSpec{RepoPath: "../x"}}
		}, nil, "repo_path"},
		{"the Tiltfile's extension", "Extension", "greet", func(o Object) Object { o.(*v1alpha1.Extension).Spec.Args = nil; return o }, nil, "change it there"},
		{"the toggle itself", "ToggleButton", "web-disable", func(o Object) Object { o.(*v1alpha1.ToggleButton).Spec.DefaultOn = true; return o }, nil, "ConfigMap"},
		{"delete the cluster", "Cluster", "default", nil, nil, "hone up --context"},
	} {
		t.Run(tc.kind+": "+tc.name, func(t *testing.T) {
			old := find(t, v, tc.kind, tc.object)
			var is Object
			if tc.change != nil {
				var base Object
				if old != nil {
					base = old.DeepCopyObject().(Object)
				}
				is = tc.change(base)
			}
			got, err := kindOf(t, tc.kind).Write(v, old, is)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || apierrors.ReasonForError(err) == metav1.StatusReasonUnknown {
					t.Fatalf("error %v, want one with %q", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			checkEmitted(t, got)
		})
	}
}

// checkEmitted checks that Actions lists the written actions.
func checkEmitted(t *testing.T, actions []store.Action) {
	t.Helper()
	for _, a := range actions {
		named := false
		for _, example := range Actions() {
			named = named || store.TypeOf(example) == store.TypeOf(a)
		}
		if !named {
			t.Errorf("Actions does not list %T", a)
		}
	}
}

// TestNamesAreTaken creates objects that already exist, as when another client was quicker.
func TestNamesAreTaken(t *testing.T) {
	v := shop().View()
	for kind, o := range map[string]Object{
		"Cmd": &v1alpha1.Cmd{ObjectMeta: metav1.ObjectMeta{Name: "lint"}}, "FileWatch": &v1alpha1.FileWatch{ObjectMeta: metav1.ObjectMeta{Name: "sources"}},
		"ConfigMap": &v1alpha1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "switches"}}, "UIButton": &v1alpha1.UIButton{ObjectMeta: metav1.ObjectMeta{Name: "lint"}},
	} {
		if _, err := kindOf(t, kind).Write(v, nil, o); !apierrors.IsAlreadyExists(err) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestHiddenInputsStay changes a button that a client created: hidden values are not lost.
func TestHiddenInputsStay(t *testing.T) {
	s := shop().Then(state.ObjectsDeclared{Buttons: []model.Button{{Name: "b", Text: "B", Inputs: []model.Input{{Name: "T", Kind: model.InputHidden, Default: "t0ken"}}}}})
	old := find(t, s.View(), "UIButton", "b")
	is := old.DeepCopyObject().(*v1alpha1.UIButton)
	is.Spec.Text = "other"
	got, err := kindOf(t, "UIButton").Write(s.View(), old, is)
	if err != nil {
		t.Fatal(err)
	}
	if b := got[0].(state.ObjectsDeclared).Buttons[0]; b.Text != "other" || b.Inputs[0].Default != "t0ken" {
		t.Errorf("%+v", b)
	}
}
