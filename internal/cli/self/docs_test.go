package self

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/web/docs"
)

// TestSee checks that every page that a problem names exists.
func TestSee(t *testing.T) {
	see, named := regexp.MustCompile(`\.See\("([^"]+)"\)`), 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range see.FindAllSubmatch(source, -1) {
			named++
			if _, ok := docs.Find(string(m[1])); !ok {
				t.Errorf("%s names the page %q, which does not exist", path, m[1])
			}
		}
		return nil
	})
	if err != nil || named == 0 {
		t.Errorf("%d problems name a page: %v", named, err)
	}
}

// TestQuotes checks that hone still prints the messages that the troubleshooting page quotes: a reader searches the page for the
// message on the screen. Words in capitals and … stand for variable parts.
func TestQuotes(t *testing.T) {
	page, _ := docs.Find("troubleshooting")
	var source strings.Builder
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test") {
			return err
		}
		content, err := os.ReadFile(path)
		source.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	code, open := regexp.MustCompile("(?s)```.*?```|`[^`]*`"), regexp.MustCompile(`…|\b[A-Z]{2,}\b`)
	quotes := regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(code.ReplaceAllString(string(page.Text), ""), -1)
	for _, q := range quotes {
		parts := open.Split(strings.Join(strings.Fields(q[1]), " "), -1)
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		if message := strings.Join(parts, ".*"); !regexp.MustCompile(message).MatchString(source.String()) {
			t.Errorf("no source file has %q", q[1])
		}
	}
	if len(quotes) < 4 {
		t.Errorf("the page quotes only %d messages", len(quotes))
	}
}

func TestDocs(t *testing.T) {
	for _, tc := range []struct {
		name  string
		args  []string
		shows []string
		fails string
	}{
		{name: "contents", shows: []string{"Start\n  install ", "hone docs TOPIC shows a page"}},
		{name: "page", args: []string{"live-update"}, shows: []string{"Live update\n", "restart_process"}},
		{name: "short", args: []string{"go"}, shows: []string{"Live update: Go\n"}},
		{name: "find", args: []string{"--find", "address already in use"}, shows: []string{"troubleshooting "}},
		{name: "nothing found", args: []string{"--find", "zzz"}, fails: `no page contains "zzz"`},
		{name: "typo", args: []string{"livupdate"}, fails: "did you mean: hone docs live-update"},
		{name: "unknown", args: []string{"zzz"}, fails: "hone docs lists all pages"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out bytes.Buffer
			c := newDocs(&command.Global{Stdout: &out, Stderr: &out})
			c.SetArgs(tc.args)
			c.SilenceUsage, c.SilenceErrors = true, true
			err := c.Execute()
			if tc.fails != "" {
				if err == nil || !strings.Contains(problem.Text(err), tc.fails) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tc.shows {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is missing in:\n%s", want, out.String())
				}
			}
		})
	}
}

func TestDocsSite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "public")
	var out bytes.Buffer
	c := newDocs(&command.Global{Stdout: &out, Stderr: &out})
	c.SetArgs([]string{"--site", dir})
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "live-update", "go.html")); err != nil {
		t.Error(err)
	}
	if want := "Wrote " + filepath.Join(dir, "index.html") + "\n"; out.String() != want {
		t.Errorf("output %q", out.String())
	}
}
