//go:build linux

package main

import (
	"bytes"
	"context"
	_ "embed" // the source of the program
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/hone-dev/hone/internal/test/harness"
	"github.com/hone-dev/hone/internal/test/proxy"
	"github.com/hone-dev/hone/internal/update/agent/patch"
	"github.com/hone-dev/hone/pkg/model"
)

// way is a line to the cluster. trip is the time of a round trip, as ping shows it.
type way struct {
	name string
	trip time.Duration
	mbit float64
	// targets are by the case.
	targets map[string][]target
}

func (w way) line() proxy.Line { return proxy.Line{Delay: w.trip / 2, Rate: w.mbit * 1e6 / 8} }

// floor returns the shortest time in which the given number of bytes can arrive at the other end.
func (w way) floor(bytes int) time.Duration {
	return w.trip/2 + time.Duration(float64(bytes)/w.line().Rate*float64(time.Second))
}

// The names of the cases over a line.
const (
	farOneWay            = "one way: half of an echo over an open exec"
	farOne, farMany      = "one file of 1 KB", "100 files in one save"
	farLine, farText     = "4 MB of text, a line changed", "4 MB of text, all of it"
	farProgram, farPlain = "an 11 MB program, a line changed", "… with Go's compressed debug data"
	farRestart           = "restart: new process answers"
	farDown, farUp       = "2 s of the line's bytes, down a port forward", "… up"
	farStart, farAgain   = "100 new objects, until ready", "… that are there already"
	farRefused           = "back after 20 s without connections"
	farSilent            = "back after 20 s of silence"
	farAddress           = "back after a change of the address"
)

var ways = []way{
	{"20 ms 100 Mbit/s", 20 * time.Millisecond, 100, nil},
	{"50 ms 20 Mbit/s", 50 * time.Millisecond, 20, map[string][]target{
		farOne:     {{share: 0.5, limit: 30 * time.Millisecond}},
		farMany:    {{share: 0.5, limit: 60 * time.Millisecond}},
		farLine:    {{share: 0.5, limit: 150 * time.Millisecond}},
		farProgram: {{share: 0.5, limit: 400 * time.Millisecond}},
	}},
	{"150 ms 5 Mbit/s", 150 * time.Millisecond, 5, nil},
}

// far measures a session over a line.
func (l *live) far(ctx context.Context, w way) error {
	if !slices.ContainsFunc([]string{farOneWay, farOne, farMany, farLine, farText, farProgram, farPlain, farRestart, farDown, farStart, farRefused, farSilent, farAddress}, func(c string) bool { return l.wanted(w.name + ": " + c) }) {
		return nil
	}
	wire, kubeconfig, err := stretched(w.line(), filepath.Dir(l.project.Dir))
	if err != nil {
		return err
	}
	defer wire.Close()
	l.project.Kubeconfig = kubeconfig
	defer func() { l.project.Kubeconfig = "" }()
	return l.session(ctx, model.UpdateAuto, func(ctx context.Context, app []*container) error { return l.measureFar(ctx, w, wire, app) })
}

// stretched opens a line to the cluster, and writes a kubeconfig file for it below dir.
func stretched(line proxy.Line, dir string) (*proxy.Wire, string, error) {
	text, err := os.ReadFile(os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, "", err
	}
	server := regexp.MustCompile(`server: https://(\S+)`)
	found := server.FindSubmatch(text)
	if found == nil {
		return nil, "", errors.New("the kubeconfig names no server")
	}
	wire, err := proxy.NewWire(string(found[1]))
	if err != nil {
		return nil, "", err
	}
	wire.Stretch(line)
	path := filepath.Join(dir, "kubeconfig")
	return wire, path, os.WriteFile(path, server.ReplaceAll(text, []byte("server: https://"+wire.Address())), 0o600)
}

// oneWay measures the time that the smallest change takes to reach a process in a container: the line's delay, and the overhead of
// the proxy and of an exec. The other cases are compared with it.
func (l *live) oneWay(ctx context.Context, pod string, w way) error {
	name := w.name + ": " + farOneWay
	if !l.wanted(name) {
		return nil
	}
	fmt.Fprintln(os.Stderr, name)
	c, err := connect(l.project.Kubeconfig)
	if err != nil {
		return fmt.Errorf("connect over the line: %w", err)
	}
	took, err := c.echo(ctx, l.project.Namespace, pod, 100, l.times(60), w.trip)
	for i := range took {
		took[i] /= 2
	}
	l.report.cases = append(l.report.cases, liveCase{name: name, took: took, floor: w.floor(100)})
	return err
}

// change is a file that is saved again and again, with all its contents.
type change struct {
	name     string
	n        int
	contents [][]byte
}

func (l *live) measureFar(ctx context.Context, w way, wire *proxy.Wire, app []*container) error {
	server, err := l.containers(ctx, "server", "app")
	defer closeAll(server)
	if err != nil {
		return err
	}
	if err := l.awaitSynclets(ctx, slices.Concat(app, server)); err != nil {
		return err
	}
	if l.report.floor == nil {
		if l.report.floor, err = l.cluster.measureFloor(ctx, l.project.Namespace, app[0].pod, app[0].root); err != nil {
			return fmt.Errorf("floor: %w", err)
		}
	}
	measure := func(name string, bytes int, do func() (liveCase, error)) error {
		err := l.measure(ctx, app, w.name+": "+name, w.targets[name], do)
		if last := len(l.report.cases) - 1; err == nil && l.wanted(w.name+": "+name) {
			l.report.cases[last].floor = w.floor(bytes)
		}
		return err
	}
	err = errors.Join(
		l.oneWay(ctx, app[0].pod, w),
		measure(farOne, 100, func() (liveCase, error) {
			return l.spacedCase(ctx, app, l.times(60), w.trip, l.one("files", "1k", func() []byte { return l.text(1024) }))
		}),
		measure(farMany, 1000, func() (liveCase, error) {
			return l.spacedCase(ctx, app, l.times(20), 2*w.trip, l.many(100))
		}))
	if err != nil {
		return err
	}
	changes, err := l.changes(ctx)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if !l.wanted(w.name + ": " + c.name) {
			continue
		}
		differs := differing(c.contents)
		i := 0
		files := func(int) []file {
			i++
			return []file{{"files/10m", "files/10m", c.contents[i%len(c.contents)]}}
		}
		if _, _, err := l.spaced(ctx, app, 2, w.trip, files); err != nil { // the first one is new to the container
			return err
		}
		err := measure(c.name, differs, func() (liveCase, error) { return l.spacedCase(ctx, app, max(l.times(c.n), 3), 2*w.trip, files) })
		if err != nil {
			return err
		}
		if took, err := rsync(ctx, w.line(), c.contents); err != nil {
			return fmt.Errorf("rsync: %w", err)
		} else if took > 0 {
			l.report.cases[len(l.report.cases)-1].note = "rsync -z " + short(took)
		}
	}
	err = measure(farRestart, 100, func() (out liveCase, err error) {
		out.took, _, out.lost, err = l.restarts(ctx, server[0], l.times(20), max(restartPause, 2*w.trip))
		return out, err
	})
	if err != nil {
		return err
	}
	size := int(2 * w.line().Rate)
	var up, again times
	err = measure(farDown, size, func() (out liveCase, err error) {
		out.took, up, err = l.forwards(ctx, size, 3)
		return out, err
	})
	if err != nil {
		return err
	}
	if up != nil {
		if err := l.measure(ctx, app, w.name+": "+farUp, nil, func() (liveCase, error) { return liveCase{took: up, floor: w.floor(size)}, nil }); err != nil {
			return err
		}
	}
	err = measure(farStart, 0, func() (out liveCase, err error) {
		out.took, again, err = l.deploys(ctx, 3)
		return out, err
	})
	if err != nil {
		return err
	}
	if again != nil {
		if err := l.measure(ctx, app, w.name+": "+farAgain, nil, func() (liveCase, error) { return liveCase{took: again}, nil }); err != nil {
			return err
		}
	}
	return l.returns(ctx, app, w, wire)
}

// changes returns the files that are saved over a line.
func (l *live) changes(ctx context.Context) ([]change, error) {
	text := prose(4 << 20)
	edited := func(i int) []byte {
		at := len(text) / 7 * (i + 1)
		return slices.Concat(text[:at], fmt.Appendf(nil, "a line of edit %d\n", i), text[at:])
	}
	programs, err := builds(ctx, 4, "-compressdwarf=false")
	if err != nil {
		return nil, err
	}
	plain, err := builds(ctx, 4, "")
	if err != nil {
		return nil, err
	}
	return []change{
		{farLine, 10, [][]byte{edited(0), edited(1), edited(2), edited(3)}},
		{farText, 3, [][]byte{text, prose(4 << 20), prose(4 << 20)}},
		{farProgram, 10, programs},
		{farPlain, 5, plain},
	}, nil
}

// prose returns text that compresses like source code, another one on each call.
func prose(size int) []byte {
	words := strings.Fields("if err != nil { return func string for range type struct package import var := == && || fmt Errorf context " +
		"ctx name value index count size buffer reader writer request response status server client message update container file path")
	var b bytes.Buffer
	for b.Len() < size {
		for range 3 + rand.N(8) {
			b.WriteString(words[rand.N(len(words))])
			if rand.N(4) == 0 {
				fmt.Fprintf(&b, "%d", rand.N(1000))
			}
			b.WriteByte(' ')
		}
		b.WriteByte('\n')
	}
	return b.Bytes()[:size]
}

//go:embed server/main.go
var serverSource string

// builds compiles a program n times, each time with another line changed in its source.
func builds(ctx context.Context, n int, ldflags string) (out [][]byte, err error) {
	dir, err := os.MkdirTemp("", "hone-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module bench.local\n\ngo 1.24\n"), 0o600); err != nil {
		return nil, err
	}
	for i := range n {
		source := strings.Replace(serverSource, "time.Sleep(startup)\n",
			fmt.Sprintf("time.Sleep(startup)\n%s\tprintln(\"build\", %d, len(os.Args)+%d)\n", strings.Repeat("\n", i%2), i, i*7), 1)
		source = strings.Replace(source, "w.Write(text)", fmt.Sprintf("w.Write(append([]byte(\"build %d \"), text...))", i), 1)
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o600); err != nil {
			return nil, err
		}
		build := exec.CommandContext(ctx, "go", "build", "-o", "program", "-ldflags="+ldflags, ".")
		build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		if said, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go build: %w\n%s", err, said)
		}
		program, err := os.ReadFile(filepath.Join(dir, "program"))
		if err != nil {
			return nil, err
		}
		out = append(out, program)
	}
	return out, nil
}

// differing returns the smallest known size of a description of the second content for a receiver that has the first one: the size
// that zstd reaches with the first content as its dictionary, or the compressed size of the byte by byte differences.
func differing(contents [][]byte) int {
	n := described(contents[1], contents[0])
	if len(contents[0]) == len(contents[1]) {
		n = min(n, described(patch.Edits(nil, contents[0], contents[1]), nil))
	}
	return n
}

func described(content, known []byte) int {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderDictRaw(1, known), zstd.WithWindowSize(32<<20), zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
	if err != nil {
		return 0
	}
	defer e.Close()
	return len(e.EncodeAll(content, nil))
}

// rsync returns the time that rsync takes to turn the first content into the second, over a line; zero where there is no rsync.
func rsync(ctx context.Context, line proxy.Line, contents [][]byte) (time.Duration, error) {
	program, err := exec.LookPath("rsync")
	if err != nil {
		return 0, nil
	}
	dir, err := os.MkdirTemp("", "hone-bench")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	there, here := filepath.Join(dir, "there"), filepath.Join(dir, "here")
	if err := os.Mkdir(there, 0o700); err != nil {
		return 0, err
	}
	address, err := freeAddress()
	if err != nil {
		return 0, err
	}
	config := fmt.Sprintf("uid = %d\ngid = %d\nuse chroot = no\n[there]\npath = %s\nread only = no\n", os.Getuid(), os.Getgid(), there)
	if err := os.WriteFile(filepath.Join(dir, "rsyncd.conf"), []byte(config), 0o600); err != nil {
		return 0, err
	}
	host, port, _ := strings.Cut(address, ":")
	daemon := exec.CommandContext(ctx, program, "--daemon", "--no-detach", "--config", filepath.Join(dir, "rsyncd.conf"), "--address", host, "--port", port)
	if err := daemon.Start(); err != nil {
		return 0, err
	}
	defer func() { _ = daemon.Process.Kill(); _ = daemon.Wait() }()
	wire, err := proxy.NewWire(address)
	if err != nil {
		return 0, err
	}
	defer wire.Close()
	wire.Stretch(line)
	send := func(content []byte) (time.Duration, error) {
		if err := os.WriteFile(here, content, 0o600); err != nil {
			return 0, err
		}
		began := time.Now()
		said, err := exec.CommandContext(ctx, program, "-z", "--no-whole-file", "--ignore-times", here, "rsync://"+wire.Address()+"/there/file").CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, said)
		}
		return time.Since(began), err
	}
	err = harness.Await(ctx, 10*time.Second, "the rsync daemon", func() error {
		_, err := send(contents[0])
		return err
	})
	if err != nil {
		return 0, err
	}
	return send(contents[1])
}
