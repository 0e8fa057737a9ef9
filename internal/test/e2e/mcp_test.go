package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
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
