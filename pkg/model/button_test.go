package model

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var seed = Button{Name: "seed", Inputs: []Input{
	{Name: "SHARD", Kind: InputText, Default: "main"},
	{Name: "DRY", Kind: InputBool, True: "--dry-run", False: "", On: true, Default: "--dry-run"},
	{Name: "SIZE", Kind: InputChoice, Choices: []string{"small", "large"}, Default: "small"},
	{Name: "TOKEN", Kind: InputHidden, Default: "t0"},
}}

func TestResolve(t *testing.T) {
	defaults := map[string]string{"SHARD": "main", "DRY": "--dry-run", "SIZE": "small", "TOKEN": "t0"}
	for _, tc := range []struct {
		name   string
		given  map[string]any
		change map[string]string
	}{
		{"nothing given", nil, nil},
		{"all given", map[string]any{"SHARD": "b c", "DRY": false, "SIZE": "large", "TOKEN": "t0"}, map[string]string{"SHARD": "b c", "DRY": "", "SIZE": "large"}},
		{"words for a bool", map[string]any{"DRY": "false"}, map[string]string{"DRY": ""}},
		{"the other word", map[string]any{"DRY": "true"}, nil},
		{"empty text is text", map[string]any{"SHARD": ""}, map[string]string{"SHARD": ""}},
	} {
		want := map[string]string{}
		for k, v := range defaults {
			want[k] = v
		}
		for k, v := range tc.change {
			want[k] = v
		}
		got, err := seed.Resolve(tc.given)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tc.name, err, diff)
		}
	}
}

func TestResolveRefuses(t *testing.T) {
	for _, tc := range []struct {
		given map[string]any
		want  string
	}{
		{map[string]any{"SHARD": 1.0}, `input "SHARD" takes text`},
		{map[string]any{"SHARD": "a\x00b"}, `input "SHARD" must not hold a NUL`},
		{map[string]any{"DRY": "--dry-run"}, `input "DRY" takes true or false`},
		{map[string]any{"DRY": nil}, `takes true or false`},
		{map[string]any{"SIZE": "medium"}, `takes one of small, large`},
		{map[string]any{"TOKEN": "mine"}, `is fixed by the Tiltfile`},
		{map[string]any{"PATH": "/tmp"}, `input "PATH" does not exist: there are SHARD, DRY, SIZE, TOKEN`},
	} {
		got, err := seed.Resolve(tc.given)
		var bad *InputError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), `"seed"`) || got != nil {
			t.Errorf("%v: %v, %v", tc.given, got, err)
		}
	}
	if _, err := (Button{Name: "x"}).Resolve(map[string]any{"A": "b"}); err == nil || !strings.Contains(err.Error(), "the button has none") {
		t.Error(err)
	}
}

func TestDisableSource(t *testing.T) {
	data := func(configMap, key string) string {
		return map[string]string{"a/on": "true", "a/off": "false", "b/on": "True", "b/odd": "maybe"}[configMap+"/"+key]
	}
	for _, tc := range []struct {
		keys []ConfigMapKey
		want bool
	}{
		{nil, false},
		{[]ConfigMapKey{{"a", "on"}}, true},
		{[]ConfigMapKey{{"a", "off"}}, false},
		{[]ConfigMapKey{{"b", "odd"}}, false},
		{[]ConfigMapKey{{"none", "on"}}, false},
		{[]ConfigMapKey{{"a", "on"}, {"b", "on"}}, true},
		{[]ConfigMapKey{{"a", "on"}, {"a", "off"}}, false},
	} {
		if got := (DisableSource{tc.keys}).Off(data); got != tc.want {
			t.Errorf("%v: %v", tc.keys, got)
		}
	}
}

func TestSameWork(t *testing.T) {
	full := func() Command {
		return Command{Name: "x", Cmd: Cmd{Argv: []string{"a"}}, Readiness: &Probe{TCP: &TCPProbe{Port: 1}},
			RestartOn: Triggers{Buttons: []string{"b"}}, StartOn: &Triggers{Buttons: []string{"c"}}}
	}
	for name, change := range map[string]func(*Command){
		"command":   func(c *Command) { c.Cmd.Argv = []string{"b"} },
		"probe":     func(c *Command) { c.Readiness.TCP.Port = 2 },
		"restart":   func(c *Command) { c.RestartOn.FileWatches = []string{"w"} },
		"start":     func(c *Command) { c.StartOn.Buttons = nil },
		"no start":  func(c *Command) { c.StartOn = nil },
		"no probe":  func(c *Command) { c.Readiness = nil },
		"variables": func(c *Command) { c.Cmd.Env = []string{"A=1"} },
	} {
		other := full()
		change(&other)
		if other.SameWork(full()) {
			t.Errorf("%s: no difference is seen", name)
		}
	}
	other := full()
	other.Log, other.Labels, other.Disable = "web", map[string]string{"a": "b"}, DisableSource{[]ConfigMapKey{{"a", "b"}}}
	if !other.SameWork(full()) {
		t.Error("log, labels and switches are no part of the work")
	}
}
