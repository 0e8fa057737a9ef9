package screen

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/hud/settings"
	"github.com/hone-dev/hone/pkg/model"
)

// linked matches a link with its address and its text, which may be styled.
var linked = regexp.MustCompile("\x1b\\]8;[^;]*;([^\x1b]+)\x1b\\\\(.*?)\x1b\\]8;;\x1b\\\\")

// linksIn returns the texts of the links in some output, by their addresses.
func linksIn(written string) map[string]string {
	out := map[string]string{}
	for _, m := range linked.FindAllStringSubmatch(written, -1) {
		out[m[1]] = regexp.MustCompile("\x1b(\\[[0-9;?]*[a-zA-Z]|\\(B)").ReplaceAllString(m[2], "")
	}
	return out
}

func TestLinks(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a folder")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "job.go")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fileURL := "file://laptop" + strings.ReplaceAll(file, " ", "%20") + "#7"
	if u, err := url.Parse(fileURL); err != nil || u.Path != file {
		t.Fatalf("%v %v", u, err)
	}
	const page = "http://127.0.0.1:10350/"
	on := func(t *testing.T, about terminal.Description, s settings.Settings, keys string) map[string]string {
		w := newWire()
		d := on(t, w, "xterm-256color", about, func(d *driver, o *Options) {
			o.Settings, o.Page = s, page
			o.Web = func(string) (string, error) { return page + "?ticket=1", nil }
			before := d.view
			d.view = func(now time.Time) Frame {
				f := before(now)
				f.Locate = func(_ model.ManifestName, name string) []string {
					return []string{filepath.Join(folder, "elsewhere", name), filepath.Join(folder, name)}
				}
				return f
			}
			d.logs.Append(logstore.Entry{Resource: "worker", Level: logstore.LevelInfo, Text: "see job.go:7 and gone.go:9, or http://example.org"})
		})
		w.typed <- keys
		d.after(time.Second)
		if err := d.stop(); err != nil {
			t.Error(err)
		}
		return linksIn(w.take())
	}
	const port = "http://localhost:8080/"
	for _, tt := range []struct {
		name     string
		about    terminal.Description
		settings settings.Settings
		keys     string
		want     map[string]string
		without  []string
	}{
		{"on this machine", terminal.Description{Host: "laptop"}, settings.Settings{}, "", map[string]string{port: "8080", fileURL: "job.go:7", page: "honeshop@kind-dev/default"}, []string{"gone.go", "example.org"}},
		{"from another machine", terminal.Description{}, settings.Settings{}, "", map[string]string{port: "8080"}, []string{"file:", page}},
		{"switched off", terminal.Description{Host: "laptop"}, settings.Settings{NoLinks: true}, "", nil, []string{"http:", "file:"}},
		{"an old VTE", terminal.Description{Host: "laptop", Program: "VTE", Version: "4205"}, settings.Settings{}, "", nil, []string{"http:", "file:"}},
		{"GNU screen", terminal.Description{Host: "laptop", Program: "screen"}, settings.Settings{}, "", nil, []string{"http:", "file:"}},
		{"Tiltfile", terminal.Description{Host: "laptop"}, settings.Settings{}, "\r", map[string]string{"file://laptop/home/dev/shop/Tiltfile": "/home/dev/shop/Tiltfile"}, nil},
		{"details", terminal.Description{Host: "laptop"}, settings.Settings{}, "jj\r", map[string]string{port: "http://localhost:8080/"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := on(t, tt.about, tt.settings, tt.keys)
				for address, text := range tt.want {
					found := false
					for a, shown := range got {
						found = found || a == address && shown == text
					}
					if !found {
						t.Errorf("no link to %s on %q: %q", address, text, got)
					}
				}
				for address := range got {
					for _, s := range tt.without {
						if strings.Contains(address, s) {
							t.Errorf("there is a link to %s", address)
						}
					}
				}
			})
		})
	}
}
