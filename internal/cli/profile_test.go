package cli

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/pkg/api"
)

// TestProfile measures a real evaluation, in both commands.
func TestProfile(t *testing.T) {
	root := newFolder(t)
	writeFile(t, filepath.Join(root, "Tiltfile"), "local_resource('a', 'true')\n")
	for _, args := range [][]string{{"tiltfile", "--profile"}, {"alpha", "tiltfile-result", "-b"}} {
		var stdout, stderr bytes.Buffer
		if code := Main(args, &stdout, &stderr); code != command.ExitOK || !regexp.MustCompile(`(?m) 1  local_resource$`).Match(stdout.Bytes()) {
			t.Errorf("%v: exit code %d\n%s%s", args, code, &stdout, &stderr)
		}
	}
	var stdout, stderr bytes.Buffer
	var got api.TiltfileResult
	if code := Main([]string{"tiltfile", "--profile", "-o", "json"}, &stdout, &stderr); code != command.ExitOK {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil || got.Profile == nil || len(got.Profile.Builtins) != 1 || len(got.Resources) != 1 {
		t.Errorf("%v\n%s", err, &stdout)
	}
}
