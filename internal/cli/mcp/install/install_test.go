package install

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// files are files of users, with the file that install makes of them. Uninstall makes the first of the second.
var files = map[string]struct{ client, before, after string }{
	"a new file": {"claude", "", `{
  "mcpServers": {
    "hone": {
      "command": "hone",
      "args": [
        "mcp"
      ]
    }
  }
}
`},
	"comments and trailing commas": {"vscode", `// mine
{
	// the inputs
	"inputs": [ { "id": "a, b" } ],
	"servers": {
		"other": { "command": "x" }, // keep
		/* and this */
	},
}
`, `// mine
{
	// the inputs
	"inputs": [ { "id": "a, b" } ],
	"servers": {
		"other": { "command": "x" }, // keep
		/* and this */
		"hone": {
			"type": "stdio",
			"command": "hone",
			"args": [
				"mcp"
			]
		},
	},
}
`},
	"other settings": {"gemini", "{\n    \"theme\": \"dark\" // at night\n}\n", `{
    "theme": "dark", // at night
    "mcpServers": {
        "hone": {
            "command": "hone",
            "args": [
                "mcp"
            ]
        }
    }
}
`},
	"one line": {"cursor", `{"mcpServers": {"a": {"command": "}{"}}}`, `{"mcpServers": {"a": {"command": "}{"}, "hone": {"command":"hone","args":["mcp"]}}}`},
	"TOML":     {"codex", "model = \"x\" # mine\n\n[mcp_servers.a]\ncommand = \"a\"\n", "model = \"x\" # mine\n\n[mcp_servers.a]\ncommand = \"a\"\n\n[mcp_servers.hone]\ncommand = \"hone\"\nargs = [\"mcp\"]\n"},
	"no TOML":  {"codex", "", "[mcp_servers.hone]\ncommand = \"hone\"\nargs = [\"mcp\"]\n"},
}

// TestInstall installs into files, twice, and uninstalls: all that a user has written stays.
func TestInstall(t *testing.T) {
	for name, tc := range files {
		t.Run(name, func(t *testing.T) {
			p := Places{Project: t.TempDir(), Home: t.TempDir()}
			clients, err := p.Choose([]string{tc.client})
			if err != nil {
				t.Fatal(err)
			}
			c := clients[0]
			path := filepath.Join(p.of(c), c.file)
			if tc.before != "" {
				write(t, path, tc.before)
			}
			make := func(change Change, err error) string {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
				if err := change.Make(); err != nil {
					t.Fatal(err)
				}
				text, err := os.ReadFile(path)
				if err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				return string(text)
			}
			for range 2 {
				if diff := cmp.Diff(tc.after, make(p.Install(c, nil))); diff != "" {
					t.Errorf("installed (-want +got):\n%s", diff)
				}
			}
			if got := make(p.Install(c, []string{"--start"})); !strings.Contains(got, `--start`) || strings.Count(got, `"hone"`) > 2 {
				t.Errorf("changed: %s", got)
			}
			if diff := cmp.Diff(tc.before, make(p.Uninstall(c))); diff != "" {
				t.Errorf("uninstalled (-want +got):\n%s", diff)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestLeavesAlone gives files that are not edited: nothing is written over.
func TestLeavesAlone(t *testing.T) {
	for name, tc := range map[string]struct{ client, text string }{
		"no JSON":                        {"claude", "servers: {}"},
		"a list":                         {"claude", "[]"},
		"a cut file":                     {"claude", `{"mcpServers": {"a": {`},
		"two documents":                  {"claude", "{} {}"},
		"servers that are a list":        {"claude", `{"mcpServers": []}`},
		"an entry of another":            {"claude", `{"mcpServers": {"hone": {"command": "/opt/mine", "args": ["mcp"]}}}`},
		"an entry with a URL":            {"claude", `{"mcpServers": {"hone": {"url": "http://localhost"}}}`},
		"an entry in one line of TOML":   {"codex", "[mcp_servers]\nhone = { command = \"x\" }\n"},
		"a dotted entry of TOML":         {"codex", "mcp_servers.hone.command = \"x\"\n"},
		"a table of TOML in two places":  {"codex", "[mcp_servers.hone]\ncommand = \"x\"\n[a]\n[mcp_servers.hone.env]\nA = \"1\"\n"},
		"a comma that nothing precedes":  {"claude", `{,"a": 1}`},
		"a member without a value":       {"claude", `{"a": , "b": 1}`},
		"a comment that does not end":    {"claude", `{"a": 1 /* `},
		"members that nothing separates": {"claude", `{"a": 1 "b": 2}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := Places{Project: t.TempDir(), Home: t.TempDir()}
			clients, err := p.Choose([]string{tc.client})
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(p.of(clients[0]), clients[0].file), tc.text)
			if c, err := p.Install(clients[0], nil); err == nil {
				t.Errorf("it would become %s", c.After)
			}
		})
	}
}

// TestChoose finds the clients that are in use.
func TestChoose(t *testing.T) {
	p := Places{Project: t.TempDir(), Home: t.TempDir()}
	if _, err := p.Choose(nil); err == nil {
		t.Error("a client is in use in an empty folder")
	}
	if _, err := p.Choose([]string{"claud"}); err == nil || !strings.Contains(err.Error(), "claud") {
		t.Error(err)
	}
	write(t, filepath.Join(p.Project, "CLAUDE.md"), "x")
	write(t, filepath.Join(p.Home, ".codex", "auth.json"), "{}")
	got, err := p.Choose(nil)
	if err != nil || len(got) != 2 || got[0].Name != "claude" || got[1].Name != "codex" {
		t.Errorf("%v %v", got, err)
	}
}

// TestAdvise adds the section for agents, renews it, and removes it.
func TestAdvise(t *testing.T) {
	for name, before := range map[string]string{"no file": "", "a file": "# Mine\n\nText.\n"} {
		t.Run(name, func(t *testing.T) {
			p := Places{Project: t.TempDir()}
			if before != "" {
				write(t, p.agents(), before)
			}
			for range 2 {
				c, err := p.Advise()
				if err != nil {
					t.Fatal(err)
				}
				if err := c.Make(); err != nil {
					t.Fatal(err)
				}
				if !strings.HasPrefix(c.After, before) || strings.Count(c.After, sectionBegin) != 1 || !strings.HasPrefix(c.Diff(), p.agents()) {
					t.Errorf("%s\n%s", c.After, c.Diff())
				}
			}
			if c, err := p.Unadvise(); err != nil || c.After != before {
				t.Errorf("%v: %q, want %q", err, c.After, before)
			}
		})
	}
}

// FuzzSet edits any text. The text keeps all members, and is as before once the entry is removed, apart from objects that were empty.
func FuzzSet(f *testing.F) {
	for _, tc := range files {
		f.Add(tc.before)
	}
	f.Add(`{"a": [1, {"b": "]"}], "mcpServers": {}}`)
	f.Fuzz(func(t *testing.T, text string) {
		after, err := set(text, "mcpServers", server, entry{Command: "hone", Args: []string{"mcp"}})
		if err != nil {
			return
		}
		value, ok, err := get(after, "mcpServers", server)
		if err != nil || !ok || !json.Valid([]byte(value)) {
			t.Fatalf("%v: %q became %q, which has %q", err, text, after, value)
		}
		var plain map[string]any
		if json.Unmarshal([]byte(text), &plain) == nil && !json.Valid([]byte(after)) {
			t.Fatalf("%q became %q, which is not JSON", text, after)
		}
		if _, err := remove(after, "mcpServers", server); err != nil {
			t.Fatalf("%v: %q", err, after)
		}
	})
}
