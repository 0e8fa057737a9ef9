package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/pkg/api"
)

// mcpLimit is the time after which a client of the Model Context Protocol gives up, and mcpBytes is the most that an answer may have: 2,000
// tokens of four bytes.
const (
	mcpLimit = 45 * time.Second
	mcpBytes = 8000
)

// mcpCommand calls a tool of "hone mcp" as an agent does, and writes the text of its answer to FILE: "mcp FILE FLAGS… TOOL [JSON]", or
// "! mcp …" for a call that must fail. FILE.items has only the items of the answer, as the command for people prints them.
func mcpCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: mcp FILE FLAGS… TOOL [JSON]")
	}
	file, args := args[0], args[1:]
	command := []string{"mcp"}
	for strings.HasPrefix(args[0], "-") {
		command, args = append(command, args[0]), args[1:]
	}
	var arguments map[string]any
	if len(args) > 1 {
		ts.Check(json.Unmarshal([]byte(args[1]), &arguments))
	}
	cmd := exec.Command(binary, command...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "KUBECONFIG", "GORACE", "HONE_TOKEN"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	ctx, cancel := context.WithTimeout(context.Background(), mcpLimit)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	ts.Check(err)
	defer session.Close()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: args[0], Arguments: arguments})
	if err != nil && neg {
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(err.Error()+"\n"), 0o600))
		return
	}
	ts.Check(err)
	text := result.Content[0].(*mcp.TextContent).Text
	if result.IsError != neg {
		ts.Fatalf("%s: %s", args[0], text)
	}
	doc, err := json.Marshal(result.StructuredContent)
	ts.Check(err)
	if len(text) > mcpBytes || len(doc) > mcpBytes {
		ts.Fatalf("%s answers with %d bytes of text and %d bytes of JSON", args[0], len(text), len(doc))
	}
	secrets := ts.Value(secretsKey{}).(*declaredSecrets)
	ts.Check(secrets.printed("the answer of "+args[0], text+string(doc)))
	ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text+"\n"), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(file+".items"), []byte(itemsOf(text)), 0o600))
}

// itemsOf returns the items in the text of an answer: without its first line, the notice about foreign text, the marks of it, and the end.
func itemsOf(text string) string {
	var out []string
	for _, l := range strings.Split(text, "\n")[1:] {
		about := strings.HasPrefix(l, "Text that programs wrote") || strings.HasPrefix(l, "Next: ") || strings.Contains(l, " more: cursor ")
		if !about {
			out = append(out, strings.TrimPrefix(l, "│ "))
		}
	}
	return strings.Join(out, "\n") + "\n"
}

// TestToolsConfirm compares the tools preview and deploy with hone confirm, in a session that asks: the plans are the same, and so are the
// words once it goes on. A plan is carried out with its id alone, and once.
func TestToolsConfirm(t *testing.T) {
	t.Parallel()
	p := newProject(t, nothing)
	s := p.up("--confirm")
	a := p.agent()
	call := func(tool string, args map[string]any) (text string, failed bool) {
		t.Helper()
		r, err := a.session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		return r.Content[0].(*mcp.TextContent).Text, r.IsError
	}
	waits := func() {
		t.Helper()
		s.becomes("app", "waiting for confirmation", func(r api.Resource) bool {
			return r.Waiting != nil && r.Waiting.Reason == string(buildcontrol.HoldConfirm)
		})
	}
	planned := func() (plan, id string) {
		t.Helper()
		plan, _ = call("preview", nil)
		asked, failed := call("deploy", nil)
		m := regexp.MustCompile(`call deploy with id (\S+)`).FindStringSubmatch(asked)
		if failed || m == nil || itemsOf(asked) != itemsOf(plan) {
			t.Fatalf("deploy asks:\n%s\npreview says:\n%s", asked, plan)
		}
		return itemsOf(plan), m[1]
	}
	refused := func(id string) {
		t.Helper()
		if text, failed := call("deploy", map[string]any{"id": id}); !failed {
			t.Errorf("deploy with id %s: %s", id, text)
		}
	}

	waits()
	_, id := planned()
	refused(id + "0")
	refused("plan-1-00000000")
	p.absent("deployment/app")
	goes, failed := call("deploy", map[string]any{"id": id})
	if failed {
		t.Fatal(goes)
	}
	s.ready("app")
	confirmedByTool := func(want bool) {
		t.Helper()
		out, _ := p.run("get", "updates.hone.dev", "app", "-o", "wide", "--port", fmt.Sprint(s.port))
		if found := strings.Contains(out, ", confirmed by mcp-"); found != want {
			t.Errorf("the history names the token of the tools: %t\n%s", found, out)
		}
	}
	confirmedByTool(true)

	p.replace("app.yaml", "replicas: 0", "replicas: 0\n  minReadySeconds: 1")
	waits()
	refused(id)
	plan, _ := planned()
	out, code := p.run("confirm", "--yes", "--port", fmt.Sprint(s.port))
	if want := plan + itemsOf(goes); code != 0 || out != want {
		t.Errorf("exit code %d, hone confirm says:\n%s\nthe tools say:\n%s", code, out, want)
	}
	s.ready("app")
	confirmedByTool(false)
}
