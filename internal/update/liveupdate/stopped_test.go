package liveupdate

import (
	"archive/tar"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// TestIntoStopped updates a container of Compose that has crashed: files are put into it, and it is started. It is left as it is where
// that needs a command in it.
func TestIntoStopped(t *testing.T) {
	dir := t.TempDir()
	file := put(t, dir, "a", []byte("a"), 0o644)
	copies := func(remotes ...string) (p Plan) {
		for _, r := range remotes {
			p.Copies = append(p.Copies, Copy{Local: file, Remote: r})
		}
		return p
	}
	folder, link, regular := &tar.Header{Typeflag: tar.TypeDir}, &tar.Header{Typeflag: tar.TypeSymlink, Linkname: "/etc"}, &tar.Header{Typeflag: tar.TypeReg, Uid: 1000}
	both := []string{"c0ffee: copy to /", "c0ffee: restart"}
	for name, tt := range map[string]struct {
		there  map[string]*tar.Header
		plan   Plan
		calls  []string
		reason string
	}{
		"a file":                   {map[string]*tar.Header{"/app": folder, "/app/a": regular}, copies("/app/a"), both, ""},
		"a file in a new folder":   {map[string]*tar.Header{"/app": folder}, copies("/app/new/a"), both, ""},
		"a linked destination":     {map[string]*tar.Header{"/app": link, "/app/a": regular}, copies("/app/a"), both, ""},
		"behind a link":            {map[string]*tar.Header{"/app": folder, "/app/cur": link, "/app/cur/a": regular}, copies("/app/b", "/app/cur/a"), nil, "/app/cur/a lies behind a symbolic link"},
		"in place of a link":       {map[string]*tar.Header{"/app": folder, "/app/cur": link}, copies("/app/cur"), both, ""},
		"in place of a folder":     {map[string]*tar.Header{"/app": folder, "/app/a": folder}, copies("/app/a"), nil, "files of its own"},
		"a deletion":               {map[string]*tar.Header{"/app/a": regular}, Plan{Deletes: []string{"/app/a"}}, nil, "no command deletes /app/a in it"},
		"a deletion of nothing":    {nil, Plan{Deletes: []string{"/app/a"}}, []string{"c0ffee: restart"}, ""},
		"nothing but a start":      {nil, Plan{}, []string{"c0ffee: restart"}, ""},
		"a command":                {nil, Plan{Runs: []model.Run{run("a")}}, nil, "no command runs in it"},
		"a restart of the process": {nil, Plan{RestartProcess: true}, []string{"c0ffee: restart"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{entries: tt.there}
			c := web
			c.Stopped = true
			r, err := (ContainerUpdater{Engine: s}).Update(t.Context(), c, tt.plan, logstore.Discard)
			if diff := cmp.Diff(tt.calls, s.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if tt.reason == "" && (err != nil || r.Restarted.IsZero()) || tt.reason != "" && (Classify(err) != FallBack || !strings.Contains(err.Error(), tt.reason)) {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}
