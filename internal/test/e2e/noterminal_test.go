package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
)

// unattended is a call of a command without a terminal.
type unattended struct {
	args string
	// says is a pattern of the output, and code is the exit code.
	says string
	code int
	// reads is set for a command that reads standard input as documented: it finds the end of it.
	reads bool
	// follows is set for a command that runs until it is ended, once it has printed says.
	follows bool
}

// anyCode stands for an exit code that depends on the machine.
const anyCode = -1

// noTerminal has a row for each command, and more for those that may ask something, or open a program that does.
var noTerminal = map[string][]unattended{
	"adopt":                 {{args: "deployment/nope", code: 1, says: "Error:"}},
	"alpha tiltfile-result": {{args: "", says: "gen"}},
	"api-resources":         {{says: "cmds"}},
	"apply":                 {{args: "-f -", code: 1, reads: true, says: "Error:"}},
	"args":                  {{code: 1, says: "the editor vi needs a terminal"}, {args: "-- --word a", says: "Changed"}, {args: "--clear", says: "Cleared"}},
	"attach":                {{code: 1, says: "the screen needs a terminal"}},
	"ci":                    {{args: "--port none --session other", says: "SUCCESS"}},
	"click":                 {{args: "nope", code: 1, says: "Error:"}},
	"completion bash":       {{says: "hone"}},
	"completion fish":       {{says: "hone"}},
	"completion powershell": {{says: "hone"}},
	"completion zsh":        {{says: "hone"}},
	"confirm":               {{code: 1, says: "this is not a terminal"}},
	"create":                {{args: "-f - --edit", code: 1, reads: true, says: "Error:"}, {args: "-f object.yaml --edit", code: 1, says: "the editor vi needs a terminal"}},
	"create cmd":            {{args: "one echo hi", says: "created"}},
	"create ext":            {{args: "one --repo nope", says: "created"}},
	"create filewatch":      {{args: "one .", says: "created"}},
	"create repo":           {{args: "nope file:///nonexistent", says: "created"}},
	"delete":                {{args: "cmd one -i", code: 1, reads: true, says: "Delete them"}},
	"deploy":                {{code: 1, says: "this is not a terminal"}, {args: "--yes --port none --session another", says: "SUCCESS"}},
	"describe":              {{args: "cmd", says: "Name:"}},
	"diff":                  {{code: anyCode, says: "."}},
	"disable":               {{args: "srv", says: "."}},
	"docker-prune":          {{code: 1, says: "Docker engine"}},
	"docs":                  {{says: "first-project"}, {args: "first-project", says: "hone up"}},
	"doctor":                {{code: anyCode, says: "."}},
	"down":                  {{args: "nope", code: 1, says: "nope"}},
	"drift":                 {{code: 1, says: "there is no cluster"}},
	"dump api-docs":         {{says: "#"}},
	"dump cli-docs":         {{says: "#"}},
	"dump engine":           {{says: "."}},
	"dump json-docs":        {{says: "#"}},
	"dump json-schema":      {{says: "defs"}},
	"dump logstore":         {{says: "."}},
	"dump webview":          {{says: "."}},
	"edit":                  {{args: "cmd gen:update", code: 1, says: "Error:"}, {args: "configmap gen-disable", code: 1, says: "the editor vi needs a terminal"}},
	"enable":                {{args: "srv", says: "."}},
	"events":                {{follows: true, says: "."}, {args: "--follow=false", says: "."}},
	"explain":               {{args: "cmds", says: "KIND"}},
	"extensions update":     {{code: anyCode}},
	"forget":                {{args: "deployment/nope", code: 1, says: "Error:"}},
	"forwards":              {{says: "."}},
	"forwards add":          {{args: "nope 1", code: 1, says: "Error:"}},
	"forwards move":         {{args: "nope 1 2", code: 1, says: "Error:"}},
	"forwards remove":       {{args: "nope 1", code: 1, says: "Error:"}},
	"gc":                    {{says: "Nothing to delete"}},
	"get":                   {{args: "uiresources", says: "gen"}, {args: "uiresources -w", follows: true, says: "gen"}},
	"get records":           {{says: "No records"}},
	"graph":                 {{says: "."}},
	"graph resources":       {{says: "digraph"}},
	"history":               {{code: 1, says: "there is no cluster"}},
	"init":                  {{args: "empty --dry-run", code: anyCode}, {args: "empty --ask", code: 1, says: "."}},
	"kubeconfig":            {{code: 1, says: "--read-only"}, {args: "--read-only", code: 1, says: "no cluster"}},
	"logs":                  {{says: "."}, {args: "-f", follows: true, says: "."}},
	"lsp start":             {{reads: true, code: anyCode}},
	"mcp install":           {{code: 1, says: "no configuration of a coding agent"}},
	"mcp uninstall":         {{code: 1, says: "no configuration of a coding agent"}},
	"open":                  {{code: anyCode, says: "."}},
	"patch":                 {{args: "cmd nope -p {}", code: 1, says: "Error:"}},
	"pause":                 {{says: "."}},
	"preview":               {{says: "run"}},
	"relay":                 {{reads: true, says: "hone relay 1 "}},
	"restart":               {{args: "srv", code: anyCode, says: "."}},
	"resume":                {{says: "."}},
	"rollback":              {{args: "1", code: 1, says: "this is not a terminal"}},
	"sessions":              {{says: "gen|Tiltfile"}},
	"settle":                {{args: "gen --timeout 30s", code: anyCode, says: "gen"}},
	"shell":                 {{args: "gen", code: anyCode, reads: true}, {args: "nope", code: 1, says: "Error:"}},
	"snapshot create":       {{args: "--file=snap.json", code: anyCode}},
	"snapshot view":         {{args: "-", reads: true, code: 1, says: "Error:"}},
	"state export":          {{args: "-", code: 1, says: "there is no cluster"}},
	"state import":          {{args: "nope", code: 1, says: "there is no cluster"}},
	"state move":            {{args: "folder:moved", code: 1, says: "there is no cluster"}},
	"state show":            {{code: 1, says: "there is no cluster"}},
	"state unlock":          {{code: 1, says: "there is no cluster"}},
	"status":                {{code: anyCode, says: "ok"}},
	"stop":                  {{args: "--session nope", code: 1, says: "Error:"}},
	"test":                  {{says: "no tests to run"}},
	"tiltfile":              {{says: "gen"}},
	"token create":          {{args: "--name made --allow logs", says: "Token made"}},
	"token list":            {{says: "made"}},
	"token revoke":          {{args: "nope", code: 1, says: "no token"}},
	"trigger":               {{args: "gen", says: "."}},
	"up":                    {{args: "--port none", code: 1, says: "is already running"}, {args: "-f Second --port none --session second", follows: true, says: "second"}},
	"verify-install":        {{code: anyCode}},
	"version":               {{says: "."}},
	"wait":                  {{args: "--for=condition=Ready uiresource/gen --timeout=30s", says: "met"}},
	"why":                   {{args: "gen", says: "gen"}},
}

// TestNoTerminal runs every command with pipes instead of a terminal. Standard input stays open and says nothing, so that a command
// that waits for an answer hangs, and so do the editor, the pager and the browser that it finds.
func TestNoTerminal(t *testing.T) {
	p := newLocalProject(t, `
-- Tiltfile --
config.define_string('word')
config.parse()
local_resource('gen', 'echo generated')
local_resource('srv', serve_cmd='exec sleep 100000')
-- Second --
local_resource('second', 'echo second')
-- object.yaml --
apiVersion: tilt.dev/v1alpha1
kind: ConfigMap
metadata: {name: made}
-- empty/README --
-- bin/vi --
#!/bin/sh
exec sleep 100000
`)
	program := filepath.Join(p.dir, "bin", "vi")
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"less", "more", "nano", "xdg-open"} {
		if err := os.Symlink(program, filepath.Join(p.dir, "bin", name)); err != nil {
			t.Fatal(err)
		}
	}
	p.env = append(p.env, "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "DOCKER_HOST=unix:///nonexistent.sock",
		"TILT_EDITOR=", "KUBE_EDITOR=", "VISUAL=", "EDITOR=", "PAGER=")
	p.up().ready("srv")
	all := commandsOf(t, p)
	for _, name := range all {
		rows, known := noTerminal[name]
		group := slices.ContainsFunc(all, func(other string) bool { return strings.HasPrefix(other, name+" ") })
		if !known && !group {
			t.Errorf("hone %s has no row", name)
		}
		for _, row := range rows {
			row.check(t, p, name)
		}
	}
}

// commandsOf returns the commands in the reference.
func commandsOf(t *testing.T, p *project) (names []string) {
	out, code := p.run("dump", "cli-docs")
	for _, heading := range regexp.MustCompile(`(?m)^## hone (.*)$`).FindAllStringSubmatch(out, -1) {
		names = append(names, heading[1])
	}
	if code != 0 || len(names) < 50 {
		t.Fatalf("the reference has %d commands: %q", len(names), names)
	}
	return names
}

// check runs the command.
func (u unattended) check(t *testing.T, p *project, name string) {
	c := p.command(strings.Fields(name + " " + u.args)...)
	called := "hone " + strings.Join(c.Args[1:], " ")
	if !u.reads {
		in, held, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		defer held.Close()
		c.Stdin = in
	}
	var out output
	c.Stdout, c.Stderr, c.WaitDelay = &out, &out, time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Wait()
	}()
	if u.follows {
		k8stest.Eventually(t, called+" to say "+u.says, func() error {
			if !u.said(&out) {
				return errors.New(out.String())
			}
			return nil
		})
		_ = c.Process.Signal(os.Interrupt)
	}
	select {
	case <-ended:
	case <-time.After(patience):
		_ = c.Process.Kill()
		<-ended
		t.Errorf("%s hangs:\n%s", called, &out)
		return
	}
	if code := c.ProcessState.ExitCode(); !u.follows && u.code != anyCode && code != u.code || !u.said(&out) {
		t.Errorf("%s: exit code %d, want %d and %q:\n%s", called, code, u.code, u.says, &out)
	}
}

func (u unattended) said(out *output) bool {
	return regexp.MustCompile(u.says).MatchString(out.String())
}
