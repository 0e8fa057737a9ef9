package tiltfile

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// TestEvaluated passes an evaluation on once, with its secrets before its output; then it evaluates again.
func TestEvaluated(t *testing.T) {
	dir := t.TempDir()
	o := Options{Path: filepath.Join(dir, "Tiltfile"), Env: []string{"PATH=" + os.Getenv("PATH")}}
	for name, text := range map[string]string{
		"Tiltfile":    "k8s_yaml('secret.yaml')\nprint('one')\nlocal('echo >>runs', quiet=True, echo_off=True)\nwarn('two')\nlocal_resource('job', 'true')\n",
		"secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: hunter22}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runs := func() int64 {
		info, err := os.Stat(filepath.Join(dir, "runs"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	e := Evaluate(t.Context(), o)
	if e.Result.Err != nil || runs() != 1 {
		t.Fatalf("%d runs, %v", runs(), e.Result.Err)
	}
	var got []string
	o.WarnLater = true
	o.OnSecrets = func(more []model.Secret) {
		if slices.ContainsFunc(more, func(s model.Secret) bool { return s.Value == "hunter22" }) {
			got = append(got, "the secret")
		}
	}
	o.Logger = logstore.Func(func(_ logstore.Level, text string) { got = append(got, text) })
	if r := e.Load(t.Context(), o); len(r.Manifests) != 2 || len(r.Warnings) != 1 || runs() != 1 {
		t.Errorf("taken over: %d runs, %+v", runs(), r)
	}
	if diff := cmp.Diff([]string{"the secret", "one\n"}, got); diff != "" {
		t.Errorf("it passes on (-want +got):\n%s", diff)
	}
	if e.Load(t.Context(), o); runs() != 2 {
		t.Errorf("%d runs after the second call, want 2", runs())
	}
	var none *Evaluated
	if r := none.Load(t.Context(), o); r.Err != nil || runs() != 3 {
		t.Errorf("without one: %d runs, %v", runs(), r.Err)
	}
}
