package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/adrg/xdg"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/tools/txtar"

	"github.com/hone-dev/hone/internal/cli/command"
)

var update = flag.Bool("update", false, "rewrite the goldens in testdata, and the pages of reference")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestTiltfile runs hone in the folder of each testdata/tiltfile/*.txtar with the words of its section "args", and
// compares exit code, standard output and standard error with the sections of those names. A file "kubeconfig" is the
// only kubeconfig that there is. Each line of a section "built" is an image that was built before: its reference, its Dockerfile, and its names
// here and in the cluster. $ROOT in a file or an output stands for the folder.
func TestTiltfile(t *testing.T) {
	files, err := filepath.Glob("testdata/tiltfile/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runTiltfile(t, file) })
	}
}

// remember writes the images that were built before into the memory of builds.
func remember(t *testing.T, root, built string) {
	t.Helper()
	for line := range strings.Lines(built) {
		image := strings.Fields(line)
		sum := sha256.Sum256([]byte(image[0] + "\x00" + image[1]))
		writeFile(t, filepath.Join(root, "state", "hone", "images", hex.EncodeToString(sum[:16]), "0.json"), fmt.Sprintf(`{"local":%q,"cluster":%q}`, image[2], image[3]))
	}
}

func runTiltfile(t *testing.T, file string) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	full, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	root := newFolder(t)
	var args []string
	scenario := &txtar.Archive{Comment: ar.Comment}
	want := map[string]string{}
	for _, f := range ar.Files {
		switch f.Name {
		case "exit", "stdout", "stderr":
			want[f.Name] = string(f.Data)
			continue
		case "args":
			args = strings.Fields(string(f.Data))
		case "built":
			remember(t, root, strings.ReplaceAll(string(f.Data), "$ROOT", root))
		default:
			writeFile(t, filepath.Join(root, f.Name), strings.ReplaceAll(string(f.Data), "$ROOT", root))
		}
		scenario.Files = append(scenario.Files, f)
	}
	var stdout, stderr bytes.Buffer
	code := Main(args, &stdout, &stderr)
	got := map[string]string{"exit": fmt.Sprintln(code)}
	for name, b := range map[string]*bytes.Buffer{"stdout": &stdout, "stderr": &stderr} {
		if b.Len() > 0 {
			got[name] = duration.ReplaceAllString(strings.ReplaceAll(b.String(), root, "$ROOT"), "TIME  ")
		}
	}
	if *update {
		for _, name := range []string{"exit", "stdout", "stderr"} {
			if text, ok := got[name]; ok {
				scenario.Files = append(scenario.Files, txtar.File{Name: name, Data: []byte(text)})
			}
		}
		writeFile(t, full, string(txtar.Format(scenario)))
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// duration matches a duration in a report and the width of its column.
var duration = regexp.MustCompile(`\b\d+(\.\d+)?(µs|ms|s)\b *|TOOK +`)

// newFolder makes an empty folder the working one, in surroundings without a cluster.
func newFolder(t *testing.T) string {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	t.Cleanup(xdg.Reload) // after the environment is as it was
	t.Setenv("HOME", root)
	t.Setenv("KUBECONFIG", filepath.Join(root, "kubeconfig"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(root, "state"))
	xdg.Reload()
	t.Setenv("TILT_HOST", "")
	t.Setenv("TILT_PORT", "")
	return root
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestTiltfileBuiltins checks that the reference needs no Tiltfile.
func TestTiltfileBuiltins(t *testing.T) {
	newFolder(t)
	var stdout, stderr bytes.Buffer
	if code := Main([]string{"tiltfile", "--builtins"}, &stdout, &stderr); code != command.ExitOK || !strings.Contains(stdout.String(), "### `docker_build`") {
		t.Errorf("exit code %d, %d bytes, %s", code, stdout.Len(), &stderr)
	}
}

// TestTiltfileCompletion checks the shell's completions of --output.
func TestTiltfileCompletion(t *testing.T) {
	newFolder(t)
	var stdout, stderr bytes.Buffer
	if code := Main([]string{"__complete", "tiltfile", "--output", ""}, &stdout, &stderr); code != command.ExitOK {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	if diff := cmp.Diff("table\njson\nyaml\n:4\n", stdout.String()); diff != "" {
		t.Error(diff)
	}
}
