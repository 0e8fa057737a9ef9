package sessions

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/base/problem"
)

// up returns a session of a project in a folder of the given name.
func up(t *testing.T, folder string) Info {
	t.Helper()
	dir := filepath.Join(t.TempDir(), folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	tiltfile := filepath.Join(dir, "Tiltfile")
	if err := os.WriteFile(tiltfile, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return Info{Command: "up", Tiltfile: tiltfile, Context: "kind-dev", PID: os.Getpid()}
}

func claim(t *testing.T, r *Registry, s Info) *Claim {
	t.Helper()
	c, err := r.Claim(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Release(t.Context()) })
	return c
}

// names returns the names of the living sessions.
func names(t *testing.T, r *Registry) []string {
	t.Helper()
	living, err := r.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, s := range living {
		out = append(out, s.Name)
	}
	return out
}

// files returns the files in the registry's folder, with their modes.
func files(t *testing.T, r *Registry) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = info.Mode().String()
	}
	return out
}

func TestNames(t *testing.T) {
	for folder, want := range map[string]string{
		"shop":                           "shop",
		"My Shop":                        "my-shop",
		"__init__":                       "init",
		"Gemüse & Obst":                  "gem-se-obst",
		"店":                              "session",
		strings.Repeat("long-", 20):      "long-long-long-long-long-long-lo",
		"thirty-one-characters-and-a--b": "thirty-one-characters-and-a-b",
	} {
		if got := baseName("/src/" + folder + "/Tiltfile"); got != want || !validName.MatchString(got) {
			t.Errorf("%q: got %q, want %q", folder, got, want)
		}
	}
	if got := baseName("/Tiltfile"); got != "session" {
		t.Errorf("in the root: %q", got)
	}
}

func TestLife(t *testing.T) {
	r := New(filepath.Join(t.TempDir(), "run"))
	if got := names(t, r); len(got) != 0 {
		t.Errorf("before the first: %v", got)
	}
	if exists(r.dir) {
		t.Error("listing creates the folder")
	}
	c := claim(t, r, up(t, "shop"))
	l, err := c.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.MakeKeys(t.Context(), &net.TCPAddr{IP: net.IPv4zero, Port: 10350}); err != nil {
		t.Fatal(err)
	}
	err = c.Publish(t.Context(), func(i *Info) { i.Socket, i.Port = l.Addr().String(), 10350 })
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{".hone": "-rw-------", "shop.json": "-rw-------", "shop.lock": "-rw-------", "shop.sock": "Srw-------",
		"shop.token": "-rw-------", "shop.kubeconfig": "-rw-------"}
	if diff := cmp.Diff(want, files(t, r)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(r.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v %v", info.Mode(), err)
	}
	living, err := r.List(t.Context())
	if err != nil || len(living) != 1 {
		t.Fatalf("%v %v", living, err)
	}
	if diff := cmp.Diff(c.Info(), living[0]); diff != "" {
		t.Errorf("it is listed differently (-own +listed):\n%s", diff)
	}
	token, err := r.Token(living[0])
	if err != nil || len(token) < 20 {
		t.Errorf("token %q, %v", token, err)
	}
	b, err := os.ReadFile(r.path("shop", extInfo))
	if err != nil || strings.Contains(string(b), token) {
		t.Errorf("%v; the description contains the token:\n%s", err, b)
	}
	_ = l.Close()
	c.Release(t.Context())
	if diff := cmp.Diff(map[string]string{".hone": "-rw-------"}, files(t, r)); diff != "" {
		t.Errorf("left behind (-want +got):\n%s", diff)
	}
	if err := r.Wait(t.Context(), living[0]); err != nil {
		t.Error(err)
	}
}

// TestSideBySide claims sessions of several projects: their names differ, and only a second up of the same project is refused.
func TestSideBySide(t *testing.T) {
	r := New(filepath.Join(t.TempDir(), "run"))
	shop, other := up(t, "shop"), up(t, "shop")
	first := claim(t, r, shop)
	claim(t, r, other)
	elsewhere := shop
	elsewhere.Context = "kind-other"
	claim(t, r, elsewhere)
	ci := shop
	ci.Command = "ci"
	claim(t, r, ci)
	if diff := cmp.Diff([]string{"shop", "shop-2", "shop-3", "shop-4"}, names(t, r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Dir(shop.Tiltfile), link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{shop.Tiltfile, filepath.Join(link, "Tiltfile")} {
		again := shop
		again.Tiltfile = path
		_, err := r.Claim(t.Context(), again)
		var busy *BusyError
		if !errors.As(err, &busy) || busy.Session.Name != "shop" {
			t.Errorf("%s: got %v, want that shop runs it", path, err)
		}
	}
	first.Release(t.Context())
	if c := claim(t, r, shop); c.Info().Name != "shop" {
		t.Errorf("the name is not free again: %s", c.Info().Name)
	}
}

// TestForeignFiles puts files of other programs into the folder of the sessions' files: they stay, whatever their names.
func TestForeignFiles(t *testing.T) {
	r := New(filepath.Join(t.TempDir(), "run"))
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	foreign := map[string]string{"notes.json": `{"name": "something"}`, "notes.token": "x", "broken.json": "{", "Upper.json": `{"name": "Upper"}`,
		"shop.lock": "held by another program", "data.sock": "x"}
	for name, content := range foreign {
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(r.dir, "open.json"), []byte(`{"name": "open"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(r.dir, "link.json")); err != nil {
		t.Fatal(err)
	}
	if got := names(t, r); len(got) != 0 {
		t.Errorf("listed as sessions: %v", got)
	}
	c := claim(t, r, up(t, "shop"))
	if c.Info().Name != "shop-2" {
		t.Errorf("got %s next to a lock of another program", c.Info().Name)
	}
	c.Release(t.Context())
	for name, content := range foreign {
		if b, err := os.ReadFile(filepath.Join(r.dir, name)); err != nil || string(b) != content {
			t.Errorf("%s: %v %s", name, err, b)
		}
	}
	for _, name := range []string{"open.json", "link.json"} {
		if !exists(filepath.Join(r.dir, name)) {
			t.Errorf("%s is gone", name)
		}
	}
}

func TestFolderMustBePrivate(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"open to others": func(path string) error { return errors.Join(os.Mkdir(path, 0o755), os.Chmod(path, 0o755)) },
		"a file":         func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a link":         func(path string) error { return os.Symlink(t.TempDir(), path) },
	} {
		t.Run(name, func(t *testing.T) {
			r := New(filepath.Join(t.TempDir(), "run"))
			if err := make(r.dir); err != nil {
				t.Fatal(err)
			}
			_, err := r.Claim(t.Context(), up(t, "shop"))
			if _, ok := problem.Of(err); !ok {
				t.Errorf("got %v", err)
			}
			if _, err := r.List(t.Context()); err == nil {
				t.Error("it is listed")
			}
		})
	}
}

func TestDir(t *testing.T) {
	runtime, state := t.TempDir(), t.TempDir()
	for _, tc := range []struct{ runtime, want string }{
		{runtime, filepath.Join(runtime, "hone")},
		{"", filepath.Join(state, "run")},
		{filepath.Join(runtime, "missing"), filepath.Join(state, "run")},
	} {
		if got := Dir(tc.runtime, state); got != tc.want {
			t.Errorf("%q: got %s, want %s", tc.runtime, got, tc.want)
		}
	}
}

// TestLongPaths opens a socket for a registry whose path is too long for a socket.
func TestLongPaths(t *testing.T) {
	r := New(filepath.Join(t.TempDir(), strings.Repeat("d/", 60)))
	c := claim(t, r, up(t, "shop"))
	l, err := c.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path := l.Addr().String()
	if len(path) > maxSocket {
		t.Errorf("%d bytes: %s", len(path), path)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // as if it were killed
	_ = l.Close()
	c.Release(t.Context())
	if exists(path) {
		t.Errorf("%s is left", path)
	}
}

// TestKilled kills a process that holds a session, as kill -9 does: the next listing removes the files that it left.
func TestKilled(t *testing.T) {
	dir := os.Getenv("HONE_TEST_SESSION_DIR")
	if dir != "" { // the process that is killed
		c, err := New(dir).Claim(t.Context(), Info{Command: "up", Tiltfile: "/src/shop/Tiltfile", PID: os.Getpid()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Listen(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := c.MakeKeys(t.Context(), &net.TCPAddr{IP: net.IPv6loopback, Port: 1}); err != nil {
			t.Fatal(err)
		}
		_, _ = os.Stdout.WriteString("ready\n")
		_, _ = io.Copy(io.Discard, os.Stdin)
		t.Fatal("not killed")
	}
	r := New(filepath.Join(t.TempDir(), "run"))
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), "HONE_TEST_SESSION_DIR="+r.dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("ready\n"))); err != nil {
		t.Fatal(err)
	}
	if got := names(t, r); len(got) != 1 || len(files(t, r)) != 6 {
		t.Errorf("while it lives: %v %v", got, files(t, r))
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if got := names(t, r); len(got) != 0 {
		t.Errorf("after its end: %v", got)
	}
	if diff := cmp.Diff(map[string]string{".hone": "-rw-------"}, files(t, r)); diff != "" {
		t.Errorf("left behind (-want +got):\n%s", diff)
	}
}

// watched is a context that calls a function when a caller begins to wait for its end.
type watched struct {
	context.Context
	waiting func()
}

func (w watched) Done() <-chan struct{} {
	w.waiting()
	return w.Context.Done()
}

// TestInheritedLock checks a session whose process was killed while it started another one, which holds the lock for a moment,
// and a session whose process is not visible and whose lock stays held.
func TestInheritedLock(t *testing.T) {
	gone := exec.Command(os.Args[0], "-test.run=^$")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	r := New(filepath.Join(t.TempDir(), "run"))
	s := up(t, "shop")
	s.PID = gone.Process.Pid
	c := claim(t, r, s)
	if !r.lives(t.Context(), c.info) {
		t.Error("a session whose process is not visible and whose lock stays held is not alive")
	}
	waited := 0
	if r.lives(watched{t.Context(), func() { waited++; c.unlock() }}, c.info) || waited == 0 {
		t.Errorf("a session whose lock was released is alive; waited: %d", waited)
	}
}

// TestKeys runs a server with the certificate and connects to it as the kubeconfig describes.
func TestKeys(t *testing.T) {
	r := New(filepath.Join(t.TempDir(), "run"))
	c := claim(t, r, up(t, "shop"))
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Header.Get("Authorization"))
	}))
	k, err := c.MakeKeys(t.Context(), s.Listener.Addr())
	if err != nil {
		t.Fatal(err)
	}
	s.TLS = &tls.Config{Certificates: []tls.Certificate{k.Certificate}}
	s.StartTLS()
	defer s.Close()
	var config struct {
		CurrentContext string `json:"current-context"`
		Clusters       []struct {
			Cluster struct {
				Server string `json:"server"`
				CA     []byte `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Token string `json:"token"`
			} `json:"user"`
		} `json:"users"`
	}
	b, err := os.ReadFile(r.Kubeconfig(c.Info()))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(b, &config); err != nil {
		t.Fatal(err)
	}
	if config.CurrentContext != "hone-shop" || config.Users[0].User.Token != k.Token {
		t.Errorf("kubeconfig:\n%s", b)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(config.Clusters[0].Cluster.CA) {
		t.Fatalf("no certificate in\n%s", b)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}}
	resp, err := client.Get(config.Clusters[0].Cluster.Server)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
}
