package buildkit_test

import (
	"archive/tar"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/containers/buildkit"
	"github.com/hone-dev/hone/internal/containers/buildkit/buildkittest"
	"github.com/hone-dev/hone/internal/containers/docker"
	"github.com/hone-dev/hone/internal/containers/docker/dockertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect returns the builder at an address.
func connect(t *testing.T, at buildkit.Address) *buildkit.Builder {
	t.Helper()
	b, err := buildkit.New(at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// TestDaemon runs the tests of a builder on a real daemon, through its socket and through TLS.
func TestDaemon(t *testing.T) {
	d := buildkittest.Start(t)
	buildkittest.Busybox(t)
	secured, err := buildkit.ParseAddress("tcp://" + d.TCP + "?ca=" + d.Certs.CA + "&cert=" + d.Certs.Cert + "&key=" + d.Certs.Key + "&servername=" + buildkittest.ServerName)
	if err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]buildkit.Address{"socket": {URL: "unix://" + d.Socket}, "tls": secured} {
		t.Run(name, func(t *testing.T) {
			b := connect(t, at)
			info, err := b.Ping(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if info.OS != "linux" || info.Arch == "" || info.Host != at.URL {
				t.Errorf("incomplete: %+v", info)
			}
			dockertest.Builds(t, b)
		})
	}
	t.Run("features", func(t *testing.T) { testFeatures(t, connect(t, buildkit.Address{URL: "unix://" + d.Socket})) })
	t.Run("refused", func(t *testing.T) { testRefused(t, d) })
	t.Run("cancelled", func(t *testing.T) { testCancelled(t, connect(t, buildkit.Address{URL: "unix://" + d.Socket})) })
	t.Run("cut off", func(t *testing.T) { testCutOff(t, d) })
	t.Run("through ssh", func(t *testing.T) { testSSH(t, d) })
	t.Run("in a container", func(t *testing.T) { testContainer(t, d) })
}

// testSSH builds through a program that stands for ssh: it leaves its options and the host out, and runs the command.
func testSSH(t *testing.T, d *buildkittest.Daemon) {
	dir := t.TempDir()
	said := filepath.Join(dir, "said")
	script := "#!/bin/sh\necho \"$*\" >>" + said + "\nwhile [ \"$1\" != -- ]; do shift; done\nshift 2\nexec \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv(buildkittest.Variable)+":"+os.Getenv("PATH"))
	at, err := buildkit.ParseAddress("ssh://me@box:2222" + d.Socket)
	if err != nil {
		t.Fatal(err)
	}
	dockertest.Builds(t, connect(t, at))
	got, err := os.ReadFile(said)
	if want := "-T -o BatchMode=yes -l me -p 2222 -- box buildctl --addr unix://" + d.Socket + " dial-stdio\n"; err != nil || !strings.HasPrefix(string(got), want) {
		t.Errorf("ssh ran with %s, want %s", got, want)
	}
	away := connect(t, buildkit.Address{URL: "ssh://box/none"})
	if err := away.Alive(t.Context()); !docker.IsUnreachable(err) {
		t.Errorf("without a daemon: %v", err)
	}
}

// testContainer builds with the daemon of a container, as docker buildx has it: the container has buildctl, and the daemon's socket in its
// usual place.
func testContainer(t *testing.T, d *buildkittest.Daemon) {
	const name = "hone-test-buildkit"
	run := func(ctx context.Context, args ...string) {
		if out, err := exec.CommandContext(ctx, "docker", args...).CombinedOutput(); err != nil {
			t.Fatalf("docker %v: %v\n%s", args, err, out)
		}
	}
	run(t.Context(), "run", "-d", "--rm", "--network", "none", "--name", name+dockertest.Run, "-v", d.Socket+":/run/buildkit/buildkitd.sock",
		"-v", filepath.Join(os.Getenv(buildkittest.Variable), "buildctl")+":/bin/buildctl", "busybox", "sleep", "1000")
	t.Cleanup(func() { run(context.WithoutCancel(t.Context()), "rm", "-f", name+dockertest.Run) })
	at, err := buildkit.ParseAddress("docker-container://" + name + dockertest.Run)
	if err != nil {
		t.Fatal(err)
	}
	dockertest.Builds(t, connect(t, at))
	gone := connect(t, buildkit.Address{Name: "gone", URL: "docker-container://" + name + "-gone"})
	if p, ok := problem.Of(gone.Alive(t.Context())); !ok || !strings.Contains(p.Mend, "docker buildx inspect --bootstrap gone") {
		t.Errorf("without a container: %+v", p)
	}
}

// testFeatures: arguments, secrets, stages, labels, hosts and the network get to the daemon.
func testFeatures(t *testing.T, b *buildkit.Builder) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("hush"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("FROM_ENV", "env")
	req := docker.BuildRequest{
		Contents: `FROM busybox AS wanted
ARG GIVEN
ARG FROM_ENV
LABEL run=` + dockertest.Run + `
RUN --mount=type=secret,id=s test "$(cat /run/secrets/s)" = hush
RUN test "$GIVEN-$FROM_ENV" = given-env && grep -q "10.1.2.3.*db" /etc/hosts
FROM wanted
RUN exit 3
`,
		BuildArgs: map[string]*string{"GIVEN": new("given"), "FROM_ENV": nil}, Secrets: []string{"id=s,src=" + secret}, Target: "wanted",
		ExtraHosts: []string{"db:10.1.2.3"}, Network: "none", Platform: "linux/amd64",
	}
	dockertest.MustBuild(t, b, req)
	var archive []string
	req.Output = &docker.Output{Name: "hone-test:archived", Archive: func() io.WriteCloser { return listed(t, &archive) }}
	dockertest.MustBuild(t, b, req)
	if text := strings.Join(archive, " "); !strings.Contains(text, "manifest.json") {
		t.Errorf("the archive has %s", text)
	}
}

// listed returns a writer that lists the files of an archive.
func listed(t *testing.T, names *[]string) io.WriteCloser {
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		files := tar.NewReader(r)
		for h, err := files.Next(); err == nil; h, err = files.Next() {
			*names = append(*names, h.Name)
		}
		_, _ = io.Copy(io.Discard, r)
	}()
	t.Cleanup(func() { _ = w.Close(); <-done })
	return waiting{w, done}
}

type waiting struct {
	*io.PipeWriter
	done chan struct{}
}

func (w waiting) Close() error {
	err := w.PipeWriter.Close()
	<-w.done
	return err
}

// testRefused: an address with nothing behind it, and one whose certificate is not the daemon's, are problems that name a mend.
func testRefused(t *testing.T, d *buildkittest.Daemon) {
	for name, tt := range map[string]struct {
		at    buildkit.Address
		cause string
		mend  string
	}{
		"no socket":  {buildkit.Address{URL: "unix://" + d.Socket + ".none"}, "no such file", "start buildkitd"},
		"no tls":     {buildkit.Address{URL: "tcp://" + d.TCP}, "", "start buildkitd"},
		"other name": {buildkit.Address{URL: "tcp://" + d.TCP, CA: d.Certs.CA, Cert: d.Certs.Cert, Key: d.Certs.Key, ServerName: "other"}, buildkittest.ServerName, "check ca"},
		"no key":     {buildkit.Address{URL: "tcp://" + d.TCP, CA: d.Certs.CA, ServerName: buildkittest.ServerName}, "", "check"},
	} {
		t.Run(name, func(t *testing.T) {
			b := connect(t, tt.at)
			_, err := b.Build(t.Context(), docker.BuildRequest{Contents: "FROM scratch\nLABEL a=b\n"})
			if !docker.IsUnreachable(err) {
				t.Fatalf("got %v", err)
			}
			p, ok := problem.Of(err)
			if !ok || !strings.Contains(problem.Text(err), tt.cause) || !strings.Contains(p.Mend, tt.mend) {
				t.Errorf("got %s", problem.Text(err))
			}
			if alive := b.Alive(t.Context()); !docker.IsUnreachable(alive) {
				t.Errorf("alive: %v", alive)
			}
		})
	}
}

func testCancelled(t *testing.T, b *buildkit.Builder) {
	ctx, cancel := context.WithCancel(t.Context())
	req := docker.BuildRequest{Contents: "FROM busybox\nENV run=" + dockertest.Run + "\nRUN sleep 1000\n"}
	req.OnStep = func(begun, all int) {
		if begun == all {
			cancel()
		}
	}
	if _, err := b.Build(ctx, req); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// testCutOff: a daemon that is away in the middle of a build counts as unreachable, and is used again when it is back.
func testCutOff(t *testing.T, d *buildkittest.Daemon) {
	line := newLine(t, d.Socket)
	b := connect(t, buildkit.Address{URL: "unix://" + line.path})
	req := docker.BuildRequest{Contents: "FROM busybox\nENV again=" + dockertest.Run + "\nRUN sleep 1000\n"}
	req.OnStep = func(begun, all int) {
		if begun == all {
			line.cut()
		}
	}
	if _, err := b.Build(t.Context(), req); !docker.IsUnreachable(err) {
		t.Errorf("got %v", err)
	}
	line.open(t)
	for err := b.Alive(t.Context()); err != nil; err = b.Alive(t.Context()) {
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
	dockertest.MustBuild(t, b, docker.BuildRequest{Contents: "FROM busybox\nENV back=" + dockertest.Run + "\nRUN true\n"})
}

// TestOnlyChangesTravel: after an edit of one file in a context of 200 MB, less than 1 MB goes over the line to the daemon.
func TestOnlyChangesTravel(t *testing.T) {
	d := buildkittest.Start(t)
	line := newLine(t, d.Socket)
	b := connect(t, buildkit.Address{URL: "unix://" + line.path})
	dir := t.TempDir()
	block := make([]byte, 10<<20)
	for i := range 20 {
		_, _ = rand.Read(block)
		if err := os.WriteFile(filepath.Join(dir, "big"+string(rune('a'+i))), block, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	edit := filepath.Join(dir, "edited.txt")
	build := func(text string) (moved int64) {
		if err := os.WriteFile(edit, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		before := line.moved.Load()
		dockertest.MustBuild(t, b, docker.BuildRequest{Context: dir, Contents: "FROM scratch\nLABEL run=" + dockertest.Run + "\nCOPY . /\n"})
		return line.moved.Load() - before
	}
	first, second, third := build("one"), build("another"), build("another")
	t.Logf("moved: first %d bytes, after an edit %d, unchanged %d", first, second, third)
	if first < 200<<20 {
		t.Errorf("the first build moved only %d bytes", first)
	}
	if second > 1_000_000 {
		t.Errorf("the edit moved %d bytes", second)
	}
}

// line is a socket that passes on to a daemon, and counts.
type line struct {
	path, to string
	moved    atomic.Int64

	mu       sync.Mutex
	listener net.Listener // guarded by mu, like conns
	conns    []net.Conn
}

func newLine(t *testing.T, to string) *line {
	t.Helper()
	l := &line{path: to + ".line", to: to}
	l.open(t)
	t.Cleanup(l.cut)
	return l
}

func (l *line) open(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("unix", l.path)
	if err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listener = listener
	go l.serve(listener)
}

func (l *line) serve(listener net.Listener) {
	for {
		near, err := listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("unix", l.to)
		if err != nil {
			_ = near.Close()
			continue
		}
		l.mu.Lock()
		l.conns = append(l.conns, near, far)
		l.mu.Unlock()
		for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
			go func() {
				_, _ = io.Copy(counted{way[0], &l.moved}, way[1])
				_ = way[0].Close()
			}()
		}
	}
}

// cut closes the line.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.listener.Close()
	for _, c := range l.conns {
		_ = c.Close()
	}
}

type counted struct {
	io.Writer
	n *atomic.Int64
}

func (c counted) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return c.Writer.Write(p)
}
