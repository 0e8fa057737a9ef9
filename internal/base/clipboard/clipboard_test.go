package clipboard

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestChoice lists which program is used where.
func TestChoice(t *testing.T) {
	for _, c := range []struct {
		name, goos string
		env        map[string]string
		installed  []string
		want       string
	}{
		{"mac", "darwin", nil, []string{"pbcopy"}, "pbcopy"},
		{"mac over SSH", "darwin", map[string]string{"SSH_CONNECTION": "x"}, []string{"pbcopy"}, ""},
		{"windows", "windows", nil, []string{"clip.exe"}, "clip.exe"},
		{"wayland", "linux", map[string]string{"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}, []string{"wl-copy", "xclip"}, "wl-copy"},
		{"wayland without its program", "linux", map[string]string{"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}, []string{"xclip"}, "xclip"},
		{"x11", "linux", map[string]string{"DISPLAY": ":0"}, []string{"xsel", "wl-copy"}, "xsel"},
		{"x11 through SSH", "linux", map[string]string{"DISPLAY": "localhost:10", "SSH_CONNECTION": "x"}, []string{"xclip", "clip.exe"}, "xclip"},
		{"no desktop", "linux", nil, []string{"xsel", "xclip", "wl-copy"}, ""},
		{"WSL", "linux", nil, []string{"clip.exe"}, "clip.exe"},
		{"WSL through SSH", "linux", map[string]string{"SSH_TTY": "/dev/pts/0"}, []string{"clip.exe"}, ""},
		{"nothing installed", "linux", map[string]string{"DISPLAY": ":0"}, nil, ""},
	} {
		got := ""
		for _, tool := range tools(c.goos) {
			if tool.works(func(n string) string { return c.env[n] }, func(n string) (string, error) {
				for _, i := range c.installed {
					if i == n {
						return n, nil
					}
				}
				return "", os.ErrNotExist
			}) {
				got = tool.argv[0]
				break
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestCopy runs a program that leaves another one behind, one that fails, and one that does not end.
func TestCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "copied")
	serves := tool{argv: []string{"sh", "-c", `cat >"$0"; exec sleep 5 &`, path}}
	if err := serves.copy(t.Context(), "grüße\n"); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "grüße\n" {
		t.Errorf("%q %v", got, err)
	}
	if err := (tool{argv: []string{"false"}}).copy(t.Context(), "x"); err == nil {
		t.Error("no error")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := (tool{argv: []string{"sleep", "100"}}).copy(ctx, "x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestWide(t *testing.T) {
	if got, want := wide("a€😀"), "\xff\xfea\x00\xac\x20\x3d\xd8\x00\xde"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
