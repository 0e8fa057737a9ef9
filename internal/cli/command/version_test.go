package command

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestSource(t *testing.T) {
	stamped := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "330377ef0a1b2c3d4e5f"}, {Key: "vcs.time", Value: "2026-11-22T20:15:00Z"}}}
	modified := &debug.BuildInfo{Settings: append([]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}}, stamped.Settings...)}
	module := func(version string) *debug.BuildInfo { return &debug.BuildInfo{Main: debug.Module{Version: version}} }
	for _, tc := range []struct {
		name, commit, date string
		info               *debug.BuildInfo
		want               string
	}{
		{"nothing is known", "", "", nil, "|"},
		{"told by the build", "0123456789abcdef", "2026-11-21T10:00:00+01:00", nil, "0123456789ab|2026-11-21"},
		{"told by the build, and known", "0123456789abcdef", "2026-11-21T10:00:00+01:00", modified, "0123456789ab|2026-11-21"},
		{"of a working copy", "", "", stamped, "330377ef0a1b|2026-11-22"},
		{"of a changed working copy", "", "", modified, "330377ef0a1b (modified)|2026-11-22"},
		{"of a module without a tag", "", "", module("v0.0.0-20261120201500-330377ef0a1c"), "330377ef0a1c|2026-11-20"},
		{"after a tag", "", "", module("v1.2.4-0.20261120201500-330377ef0a1c"), "330377ef0a1c|2026-11-20"},
		{"of a tag", "", "", module("v1.2.3"), "|"},
		{"developed", "", "", module("(devel)"), "|"},
	} {
		commit, date := source(tc.commit, tc.date, tc.info)
		if got := commit + "|" + date; got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	was, at := Commit, Date
	defer func() { Commit, Date = was, at }()
	Commit, Date = "0123456789abcdef", "2026-11-21T10:00:00Z"
	if text := VersionText(); !strings.HasPrefix(text, "hone v"+Version+", commit 0123456789ab of 2026-11-21, go") {
		t.Error(text)
	}
}

// TestVersion: a build says its version, and go install the one that it has fetched.
func TestVersion(t *testing.T) {
	was := Version
	defer func() { Version = was }()
	for _, tc := range []struct{ set, module, want string }{
		{"1.2.3", "v9.9.9", "1.2.3"},
		{developed, "v1.2.3", "1.2.3"},
		{developed, "v1.2.4-0.20261120201500-330377ef0a1c", developed},
		{developed, "(devel)", developed},
		{developed, "", developed},
	} {
		Version = tc.set
		if got := version(&debug.BuildInfo{Main: debug.Module{Version: tc.module}}); got != tc.want {
			t.Errorf("set %q, module %q: %q, want %q", tc.set, tc.module, got, tc.want)
		}
	}
	if got := version(nil); got != Version {
		t.Errorf("without information about the build: %q", got)
	}
}
