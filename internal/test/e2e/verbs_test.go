package e2e

import (
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hone-dev/hone/pkg/api"
)

var update = flag.Bool("update", false, "write the outputs that scenarios expect")

// TestVerbs runs the scenarios of testdata/verbs: each has a session of a Tiltfile without Kubernetes, and the output of
// the command line about its objects.
func TestVerbs(t *testing.T) {
	if binary == "" {
		t.Skip("builds hone and runs it, which is not short")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/verbs",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup:               setUpVerbs,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"hone":   honeCommand,
			"mask":   mask,
			"mcp":    mcpCommand,
			"setenv": setEnv,
		},
	})
}

// setUpVerbs gives a scenario a registry of sessions of its own, whose sessions end with it. At the end, no file of hone has the value of a
// Secret that the scenario's files declare.
func setUpVerbs(env *testscript.Env) error {
	dir, err := os.MkdirTemp("", "hone") // sockets have short paths
	if err != nil {
		return err
	}
	secrets := &declaredSecrets{}
	env.Values[secretsKey{}] = secrets
	err = filepath.WalkDir(env.WorkDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		secrets.learn(string(text))
		return err
	})
	if err != nil {
		return err
	}
	for _, v := range []string{"XDG_STATE_HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "KUBECONFIG=" + filepath.Join(dir, "none"), "HONE_SESSION=", "TILT_PORT=",
		"TILT_HOST=", "NO_COLOR=1", "GORACE=halt_on_error=1 atexit_sleep_ms=20", "HONE=" + binary, "TILT_EDITOR=", "KUBE_EDITOR=", "VISUAL=", "EDITOR="} {
		name, value, _ := strings.Cut(v, "=")
		env.Setenv(name, value)
	}
	env.Defer(func() {
		run := func(args ...string) []byte {
			c := exec.Command(binary, args...)
			c.Env = env.Vars
			out, _ := c.Output()
			return out
		}
		var left []api.RunningSession
		run("stop", "--all", "--timeout", "30s")
		if json.Unmarshal(run("sessions", "-o", "json"), &left) == nil {
			for _, s := range left {
				if p, err := os.FindProcess(s.PID); err == nil {
					_ = p.Kill()
				}
			}
		}
		err := secrets.left(dir)
		_ = os.RemoveAll(dir)
		if err != nil {
			env.T().Fatal(err)
		}
	})
	return nil
}

// secretsKey is the key of the Secrets that a scenario declares.
type secretsKey struct{}

// honeCommand runs hone: "hone ARGS", or "! hone ARGS" for one that must fail. Its output has no value of a Secret.
func honeCommand(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec(binary, args...)
	secrets := ts.Value(secretsKey{}).(*declaredSecrets)
	for _, stream := range []string{"stdout", "stderr"} {
		ts.Check(secrets.printed(strings.Join(append([]string{stream, "of hone"}, args...), " "), ts.ReadFile(stream)))
	}
	if (err != nil) != neg {
		ts.Fatalf("hone %s: %v", strings.Join(args, " "), err)
	}
}

// setEnv sets an environment variable to the content of a file: "setenv NAME FILE".
func setEnv(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: setenv NAME FILE")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}

// masks match texts that differ between two runs, with their replacements.
var masks = []struct {
	of *regexp.Regexp
	is string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)( \((in )?\w+( ago)?\))?`), "TIME"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`(resourceVersion"?: )"\d+"`), `${1}"VERSION"`},
	{regexp.MustCompile(`(?m)(\s)\d+(\.\d+)?(ms|µs|ns|s|m|h)(\d+s)?(\s|$)`), "${1}AGE$5"},
	{regexp.MustCompile(`(?m)^(Version:\s+)\d+`), "${1}N"},
	{regexp.MustCompile(`(?i)(pid"?:\s+)[1-9]\d*`), "${1}PID"},
}

// mask writes the output, or the errors, of the last command to a file, without texts that differ between two runs:
// "mask stdout FILE". Columns are one space apart, since their widths differ too.
func mask(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mask stdout|stderr FILE")
	}
	text := strings.ReplaceAll(ts.ReadFile(args[0]), ts.Getenv("WORK"), "$WORK")
	text = strings.ReplaceAll(text, filepath.Dir(ts.Getenv("KUBECONFIG")), "$STATE")
	for range 2 { // adjacent masks
		for _, m := range masks {
			text = m.of.ReplaceAllString(text, m.is)
		}
	}
	text = regexp.MustCompile(`(\S)  +`).ReplaceAllString(text, "$1  ")
	text = regexp.MustCompile(`(?m) +$`).ReplaceAllString(text, "")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.TrimRight(text, "\n")+"\n"), 0o600))
}
