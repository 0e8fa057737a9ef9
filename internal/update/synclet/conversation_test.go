//go:build linux

package synclet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
	"github.com/hone-dev/hone/internal/update/liveupdate"
)

func (r *rig) wantTree(want map[string]string) {
	r.Helper()
	if d := cmp.Diff(want, tree(r, r.remote)); d != "" {
		r.Errorf("the container (-want +got):\n%s", d)
	}
}

func TestApply(t *testing.T) {
	r := newRig(t)
	r.write("a", "one")
	writeFile(t, filepath.Join(r.local, "bin/tool"), "#!/bin/sh\n", 0o755)
	check(t, os.Symlink("../a", filepath.Join(r.local, "bin/link")))
	check(t, os.Mkdir(filepath.Join(r.local, "empty"), 0o750))
	rep := r.apply("a", "bin/tool", "bin/link", "empty")
	if rep.Files != 4 || rep.Same != 0 {
		t.Errorf("report %+v", rep)
	}
	r.wantTree(map[string]string{"a": "-rw-r--r-- one", "bin": "folder", "bin/tool": "-rwxr-xr-x #!/bin/sh\n", "bin/link": "-> ../a", "empty": "folder"})

	info, err := os.Stat(filepath.Join(r.remote, "a"))
	check(t, err)
	here, err := os.Stat(filepath.Join(r.local, "a"))
	check(t, err)
	if !info.ModTime().Equal(here.ModTime()) {
		t.Errorf("modification time %s, want %s", info.ModTime(), here.ModTime())
	}

	if rep := r.apply("a", "bin/tool", "bin/link", "empty"); rep.Files != 0 || rep.Same != 4 {
		t.Errorf("nothing has changed: %+v", rep)
	}
	r.write("a", "two")
	check(t, os.Remove(filepath.Join(r.local, "bin/link")))
	check(t, os.Chmod(filepath.Join(r.local, "bin/tool"), 0o700))
	if rep := r.apply("a", "bin/tool", "bin/link", "empty"); rep.Files != 2 || rep.Deletes != 1 {
		t.Errorf("report %+v", rep)
	}
	r.wantTree(map[string]string{"a": "-rw-r--r-- two", "bin": "folder", "bin/tool": "-rwx------ #!/bin/sh\n", "empty": "folder"})
}

// TestApplyChangesKind replaces files by folders, folders by links and so on.
func TestApplyChangesKind(t *testing.T) {
	kinds := map[string]func(dir string) error{
		"file":   func(dir string) error { return os.WriteFile(filepath.Join(dir, "x"), []byte("file"), 0o644) },
		"link":   func(dir string) error { return os.Symlink("nowhere", filepath.Join(dir, "x")) },
		"folder": func(dir string) error { return os.Mkdir(filepath.Join(dir, "x"), 0o755) },
		"full folder": func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "x"), 0o755), os.WriteFile(filepath.Join(dir, "x/y"), nil, 0o644))
		},
	}
	for from, makeFrom := range kinds {
		for to, makeTo := range kinds {
			for _, many := range []int{0, 100} {
				t.Run(fmt.Sprintf("%s to %s with %d others", from, to, many), func(t *testing.T) {
					r := newRig(t)
					check(t, makeFrom(r.remote))
					check(t, makeTo(r.local))
					names := []string{"x"}
					if to == "full folder" {
						names = append(names, "x/y")
					}
					b := r.batch(names...)
					if from == "full folder" {
						b.Deletes = append(b.Deletes, filepath.Join(r.remote, "x/y"))
					}
					for i := range many {
						r.write(fmt.Sprintf("f%d", i), "text")
						b.Puts = append(b.Puts, r.put(fmt.Sprintf("f%d", i)))
					}
					_, err := r.Apply(t.Context(), b)
					check(t, err)
					r.wantTree(tree(t, r.local))
				})
			}
		}
	}
}

func TestApplyConfined(t *testing.T) {
	r := newRig(t)
	outside := t.TempDir()
	writeFile(t, filepath.Join(outside, "precious"), "precious", 0o644)
	check(t, os.Symlink(outside, filepath.Join(r.remote, "out")))
	check(t, os.Symlink(filepath.Join(outside, "precious"), filepath.Join(r.remote, "file")))
	check(t, os.MkdirAll(filepath.Join(r.remote, "only"), 0o755))
	r.end()
	r.connect(-1, protocol.Place{Dir: r.remote + "/app"}, protocol.Place{Dir: r.remote + "/only", Name: "one"}, protocol.Place{Dir: r.remote})
	r.write("f", "bad")
	from := filepath.Join(r.local, "f")
	for _, tt := range []struct {
		name string
		b    Batch
	}{
		{"through a link", Batch{Puts: []Put{{Local: from, Remote: r.remote + "/out/precious"}}}},
		{"new file through a link", Batch{Puts: []Put{{Local: from, Remote: r.remote + "/out/new/file"}}}},
		{"dots", Batch{Puts: []Put{{Local: from, Remote: r.remote + "/../x"}}}},
		{"outside", Batch{Puts: []Put{{Local: from, Remote: outside + "/precious"}}}},
		{"beside", Batch{Puts: []Put{{Local: from, Remote: r.remote + "beside"}}}},
		{"relative", Batch{Puts: []Put{{Local: from, Remote: "x"}}}},
		{"delete outside", Batch{Deletes: []string{outside}}},
		{"delete dots", Batch{Deletes: []string{r.remote + "/app/../../x"}}},
	} {
		_, err := r.Apply(t.Context(), tt.b)
		var f *FaultError
		if !errors.As(err, &f) {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
	// A link itself may be replaced and deleted; its target stays.
	_, err := r.Apply(t.Context(), Batch{Puts: []Put{{Local: from, Remote: r.remote + "/file"}},
		Deletes: []string{r.remote + "/out/precious", r.remote + "/out"}})
	check(t, err)
	if d := cmp.Diff(map[string]string{"precious": "-rw-r--r-- precious"}, tree(t, outside)); d != "" {
		t.Errorf("outside (-want +got):\n%s", d)
	}
}

// TestApplyAllOrNothing checks that no file is changed if one cannot be staged.
func TestApplyAllOrNothing(t *testing.T) {
	r := newRig(t)
	r.write("a", "new")
	r.write("b", "new")
	writeFile(t, filepath.Join(r.remote, "a"), "old", 0o644)
	before := tree(t, r.remote)
	b := r.batch("a", "b")
	b.Puts = append(b.Puts, Put{Local: filepath.Join(r.local, "b"), Remote: "/proc/none/b"})
	_, err := r.Apply(t.Context(), b)
	var f *FaultError
	if !errors.As(err, &f) || len(f.Faults) != 1 || !f.Faults[0].Staged || f.Faults[0].Path != "/proc/none/b" {
		t.Errorf("got %v", err)
	}
	r.wantTree(before)
	r.apply("a", "b")
	r.wantTree(tree(t, r.local))
}

func TestApplySizes(t *testing.T) {
	r := newRig(t)
	for _, n := range []int{0, 1, protocol.MaxData - 1, protocol.MaxData, protocol.MaxData + 1, 3*protocol.MaxData + 7, wholeFile, wholeFile + 1, 10 << 20} {
		name := fmt.Sprintf("f%d", n)
		r.write(name, strings.Repeat("0123456789abcdef", n/16+1)[:n])
		r.apply(name)
	}
	r.wantTree(tree(t, r.local))
}

// TestBulk tests updates of many files with different modes, some of which the umask would take: existing files, new ones, programs and
// linked files.
func TestBulk(t *testing.T) {
	r := newRig(t)
	var names []string
	for i := range 300 {
		n := fmt.Sprintf("d%d/f%d", i/43, i)
		names = append(names, n)
		r.write(n, fmt.Sprintf("new content of %d", i))
		check(t, os.Chmod(filepath.Join(r.local, n), []fs.FileMode{0o644, 0o644, 0o666, 0o777, 0o600, 0o444, 0}[i/2%7]))
		if i%3 == 0 {
			writeFile(t, filepath.Join(r.remote, n), strings.Repeat("old and longer than new ", 5), 0o600)
		}
	}
	running := filepath.Join(r.remote, names[1])
	sleep, err := os.ReadFile("/bin/sleep")
	check(t, err)
	writeFile(t, running, string(sleep), 0o755)
	check(t, os.Link(filepath.Join(r.remote, names[0]), filepath.Join(r.remote, "linked")))
	p, err := os.StartProcess(running, []string{"sleep", "1000"}, &os.ProcAttr{})
	check(t, err)
	t.Cleanup(func() { _ = p.Kill(); _, _ = p.Wait() })
	if rep := r.apply(names...); rep.Files != 300 {
		t.Errorf("report %+v", rep)
	}
	want := tree(t, r.local)
	want["linked"] = "-rw------- " + strings.Repeat("old and longer than new ", 5)
	r.wantTree(want)
}

// TestBulkRemoves tests updates of many files that also remove some: a folder becomes a file, a file a folder, and others go.
func TestBulkRemoves(t *testing.T) {
	r := newRig(t)
	names := []string{"file"}
	for i := range 100 {
		names = append(names, fmt.Sprintf("gone/%d/%d", i%9, i), fmt.Sprintf("folder/f/%d", i))
	}
	for _, n := range names {
		r.write(n, "old "+n)
	}
	r.apply(names...)
	check(t, os.RemoveAll(r.local))
	b := r.batch(append(names, "gone", "gone/0", "folder/f")...)
	for i := range 100 {
		for _, n := range []string{fmt.Sprintf("new/%d/%d", i/30, i), fmt.Sprintf("file/a/%d", i)} {
			r.write(n, fmt.Sprint("new ", i))
			b.Puts = append(b.Puts, r.put(n))
		}
	}
	r.write("folder", "a file now")
	b.Puts = append(b.Puts, r.put("folder"))
	_, err := r.Apply(t.Context(), b)
	check(t, err)
	want := tree(t, r.local)
	for i := 1; i < 9; i++ { // nothing said that they are gone
		want[fmt.Sprintf("gone/%d", i)] = "folder"
	}
	want["gone"] = "folder"
	r.wantTree(want)
}

// TestBulkWithoutRoom tests an update for which there is room only after it has removed files.
func TestBulkWithoutRoom(t *testing.T) {
	r := newRig(t)
	r.end()
	if err := syscall.Mount("tmpfs", r.remote, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("no file system can be mounted here: ", err)
	}
	t.Cleanup(func() { check(t, syscall.Unmount(r.remote, 0)) })
	r.connect(-1)
	t.Cleanup(func() { r.end() })
	var old, names []string
	for i := range 150 {
		old, names = append(old, fmt.Sprint("old/", i)), append(names, fmt.Sprint("new/", i))
	}
	for _, n := range old {
		r.write(n, strings.Repeat("x", 4000))
	}
	r.apply(old...)
	check(t, os.RemoveAll(filepath.Join(r.local, "old")))
	for _, n := range names {
		r.write(n, strings.Repeat("y", 4000))
	}
	r.apply(append(old, append(names, "old")...)...)
	r.wantTree(tree(t, r.local))
}

func TestLearn(t *testing.T) {
	r := newRig(t)
	for _, n := range []string{"same", "differs", "new"} {
		r.write(n, n)
	}
	writeFile(t, filepath.Join(r.remote, "same"), "same", 0o644)
	writeFile(t, filepath.Join(r.remote, "differs"), "other", 0o644)
	b := r.batch("same", "differs", "new", "gone already")
	paths := append([]string(nil), b.Deletes...)
	for _, p := range b.Puts {
		paths = append(paths, p.Remote)
	}
	check(t, r.Learn(t.Context(), paths))
	rep, err := r.Apply(t.Context(), b)
	check(t, err)
	if rep.Files != 2 || rep.Same != 2 || rep.Deletes != 0 {
		t.Errorf("report %+v", rep)
	}
	entries := 0
	check(t, r.list(t.Context(), []protocol.Place{{Dir: r.remote}}, 0, func(*protocol.Entry) error {
		entries++
		return nil
	}))
	if entries != 4 { // the folder itself is one
		t.Errorf("%d entries", entries)
	}
}

func TestRun(t *testing.T) {
	r := newRig(t)
	for _, tt := range []struct {
		script, out string
		code        int
	}{
		{"echo out; echo err >&2; pwd", "out\nerr\n" + r.remote + "\n", 0},
		{"exit 3", "", 3},
		{"kill -9 $$", "", 137},
		{"echo $A; cat", "b\n", 0},
	} {
		var out bytes.Buffer
		err := r.Conversation.Run(t.Context(), []string{"sh", "-c", tt.script}, r.remote, []string{"A=b"}, &out)
		var exit *ExitError
		code := 0
		if errors.As(err, &exit) {
			code = exit.Code
		} else if err != nil {
			t.Errorf("%s: %v", tt.script, err)
		}
		if len(out.String()) != len(tt.out) || code != tt.code { // two streams come in any order
			t.Errorf("%s: %q, code %d", tt.script, out.String(), code)
		}
	}
	var exit *ExitError
	if err := r.Conversation.Run(t.Context(), []string{"no-such-program"}, "", nil, io.Discard); !errors.As(err, &exit) || exit.Code != 127 {
		t.Errorf("got %v", err)
	}
}

// TestRunKilled cancels a command with a child, and sends files meanwhile.
func TestRunKilled(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- r.Conversation.Run(ctx, []string{"sh", "-c", "sleep 1000 & echo started; wait"}, "", nil, w)
		w.Close()
	}()
	line := make([]byte, 8)
	_, err := io.ReadFull(out, line)
	check(t, err)
	r.write("a", "meanwhile")
	r.apply("a")
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := r.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if err := r.Restart(t.Context(), protocol.Step{}, time.Second); !errors.Is(err, ErrNoSupervisor) {
		t.Errorf("got %v", err)
	}
}

// TestCut breaks the stream at every byte of a conversation with one update, in either direction. Data lost on the way
// there leaves the container as it was; data lost on the way back leaves it as it was or as it should become; whatever
// is reported as done is done; and the next conversation delivers the rest.
func TestCut(t *testing.T) {
	local := t.TempDir()
	names := []string{"d0/f", "d1/f", "d2/f", "d3/f", "d4/f", "d5/f"}
	for i := 1; i <= 5; i++ {
		writeFile(t, filepath.Join(local, fmt.Sprintf("d%d/f", i)), strings.Repeat("new", 10), 0o644)
	}
	for _, direction := range []string{"there", "back"} {
		t.Run(direction, func(t *testing.T) {
			t.Parallel()
			cuts, changed := 0, 0
			for limit := 1; ; limit++ {
				r := &rig{TB: t, local: local, remote: filepath.Join(t.TempDir(), "container")}
				for i := range 5 {
					writeFile(t, filepath.Join(r.remote, fmt.Sprintf("d%d/f", i)), "old", 0o644)
				}
				before := tree(t, r.remote)
				if direction == "there" {
					r.connect(limit)
				} else {
					r.back = limit
					r.connect(-1)
				}
				err := errors.New("not even hello")
				if r.Conversation != nil {
					_, err = r.Apply(t.Context(), r.batch(names...))
				}
				r.end()
				got := tree(t, r.remote)
				r.connect(-1)
				b := r.batch(names...)
				check(t, r.Learn(t.Context(), remotes(planOf(b))))
				_, again := r.Apply(t.Context(), b)
				check(t, again)
				r.end()
				after := tree(t, r.remote)
				if len(after) != 12-1 || after["d5/f"] != "-rw-r--r-- "+strings.Repeat("new", 10) {
					t.Fatalf("after another conversation: %v", after)
				}
				if err == nil {
					if d := cmp.Diff(after, got); d != "" {
						t.Errorf("reported as done (-want +got):\n%s", d)
					}
					break
				}
				cuts++
				switch {
				case cmp.Equal(before, got):
				case direction == "back" && cmp.Equal(after, got):
					changed++
				default:
					t.Fatalf("cut after %d bytes: %v", limit, got)
				}
			}
			t.Logf("%d cuts, %d of them after the change", cuts, changed)
			if cuts < 30 || direction == "back" && changed == 0 {
				t.Error("too few")
			}
		})
	}
}

func planOf(b Batch) (plan liveupdate.Plan) {
	plan.Deletes = b.Deletes
	for _, p := range b.Puts {
		plan.Copies = append(plan.Copies, liveupdate.Copy{Local: p.Local, Remote: p.Remote})
	}
	return plan
}

// TestModel changes a local tree at random while the stream breaks occasionally: after each successful update both trees
// are the same.
func TestModel(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 1))
			r := newRig(t)
			pending := map[string]bool{}
			for range 40 {
				for range 1 + rnd.IntN(8) {
					mutate(r, rnd, pending)
				}
				if rnd.IntN(10) == 0 {
					for i := range 100 {
						n := fmt.Sprintf("many/f%d", i)
						writeSafely(r, n, fmt.Sprint(rnd.IntN(3)))
						pending[n] = true
					}
				}
				if rnd.IntN(4) == 0 {
					r.end()
					limit := 40 + rnd.IntN(3000)
					if rnd.IntN(2) == 0 {
						r.back, limit = 40+rnd.IntN(100), -1
					}
					r.connect(limit)
				}
				converge(r, pending)
				if d := cmp.Diff(tree(t, r.local), tree(t, r.remote)); d != "" {
					t.Fatalf("-local +container\n%s", d)
				}
			}
		})
	}
}

func mutate(r *rig, rnd *rand.Rand, pending map[string]bool) {
	name := []string{"a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "many"}[rnd.IntN(8)]
	path := filepath.Join(r.local, name)
	pending[name] = true
	// The watcher also reports everything that was below.
	_ = filepath.WalkDir(path, func(p string, _ os.DirEntry, err error) error {
		if err == nil {
			rel, _ := filepath.Rel(r.local, p)
			pending[rel] = true
		}
		return nil
	})
	switch rnd.IntN(4) {
	case 0:
		removeAll(r, path)
	case 1:
		removeAll(r, path)
		if os.MkdirAll(filepath.Dir(path), 0o755) == nil {
			_ = os.Symlink("target"+fmt.Sprint(rnd.IntN(3)), path)
		}
		markParents(name, pending)
	default:
		writeSafely(r, name, strings.Repeat(fmt.Sprint(rnd.IntN(5)), rnd.IntN(200)))
		markParents(name, pending)
	}
}

func removeAll(t testing.TB, path string) {
	if err := os.RemoveAll(path); err != nil && !errors.Is(err, syscall.ENOTDIR) {
		t.Fatal(err)
	}
}

func markParents(name string, pending map[string]bool) {
	for d := filepath.Dir(name); d != "."; d = filepath.Dir(d) {
		pending[d] = true
	}
}

// writeSafely writes a file unless a file or link stands where a folder is needed, or the other way round.
func writeSafely(r *rig, name, text string) {
	path := filepath.Join(r.local, name)
	for d := filepath.Dir(path); d != r.local; d = filepath.Dir(d) {
		if info, err := os.Lstat(d); err == nil && !info.IsDir() {
			check(r, os.Remove(d))
		}
	}
	check(r, os.MkdirAll(filepath.Dir(path), 0o755))
	removeAll(r, path)
	check(r, os.WriteFile(path, []byte(text), 0o644))
}

// converge applies the pending changes until that succeeds.
func converge(r *rig, pending map[string]bool) {
	r.Helper()
	for range 20 {
		if r.Conversation == nil {
			r.end()
			r.connect(-1)
		}
		var b Batch
		for n := range pending {
			info, err := os.Lstat(filepath.Join(r.local, n))
			switch {
			case err != nil:
				b.Deletes = append(b.Deletes, filepath.Join(r.remote, n))
			case info.IsDir():
				p := r.put(n)
				p.IsDir = true
				b.Puts = append(b.Puts, p)
			default:
				b.Puts = append(b.Puts, r.put(n))
			}
		}
		_, err := r.Apply(r.Context(), b)
		if err == nil {
			clear(pending)
			return
		}
		var f *FaultError
		if errors.As(err, &f) {
			r.Fatal(err)
		}
		r.end()
		r.connect(-1)
	}
	r.Fatal("it never succeeds")
}

func TestOpenFails(t *testing.T) {
	for _, tt := range []struct{ name, says, want string }{
		{"nothing", "", "EOF"},
		{"noise", "sh: head: not found\n", `sh: head: not found`},
		{"another version", "hello" + protocol.Preamble + "\x00\x00\x00\x00\x01\x63\x00\x00\x00\x00\x00\x00", "another version"},
	} {
		in, w := io.Pipe()
		go func() {
			_, _ = io.WriteString(w, tt.says)
			w.Close()
		}()
		drain, toSynclet := io.Pipe()
		go func() { _, _ = io.Copy(io.Discard, drain) }()
		_, err := Open(t.Context(), &duplex{r: in, w: toSynclet, limit: -1}, protocol.Hello{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	in, w := io.Pipe()
	cancel()
	if _, err := Open(ctx, &duplex{r: in, w: w, limit: -1}, protocol.Hello{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestFaultError(t *testing.T) {
	err := error(&FaultError{Faults: []protocol.Fault{{Path: "/a", Errno: uint64(syscall.EROFS), Text: "open: read-only"}, {Path: "/b"}, {Path: "/c"}, {Path: "/d"}, {Path: "/e"}}})
	if !errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EACCES) {
		t.Error("the reason is not recognised")
	}
	if got, want := err.Error(), "/a: open: read-only; /b: ; /c: ; and 2 more"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestEndlessAnswers talks to programs that never stop answering: the request fails, memory stays bounded, and the reports of a
// process arrive at a pace that others can bear.
func TestEndlessAnswers(t *testing.T) {
	path, long := "/a", "/"+strings.Repeat("b", 100<<10)
	for _, tt := range []struct {
		name   string
		answer protocol.Message
		err    error
	}{
		{"entries", &protocol.Entry{ID: 1, Path: path}, errForeign},
		{"entries that were not asked for", &protocol.Entry{ID: 1, Path: long}, errForeign},
		{"signs of life", &protocol.Pong{}, ErrSilent},
		{"reports", &protocol.Process{Starts: 1}, ErrSilent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				var program sync.WaitGroup
				defer program.Wait()
				program.Go(func() { _, _ = io.Copy(io.Discard, far) })
				program.Go(func() {
					_, _ = io.WriteString(far, protocol.Preamble)
					w := protocol.NewWriter(far)
					w.Append(&protocol.Hello{})
					for w.Flush() == nil {
						w.Append(tt.answer)
						time.Sleep(5 * time.Millisecond)
					}
				})
				s, err := Open(t.Context(), near, protocol.Hello{})
				check(t, err)
				defer s.Close()
				reports := 0
				s.OnProcess(func(protocol.Process) { reports++ })
				if err := s.Learn(t.Context(), []string{path}); !errors.Is(err, ErrClosed) || !errors.Is(err, tt.err) {
					t.Errorf("got %v", err)
				}
				_ = s.Close()
				if most := int(longestAnswer.Seconds()*reportRate) + reportBurst; reports > most {
					t.Errorf("%d reports, want at most %d", reports, most)
				}
			})
		})
	}
}

// FuzzHostile talks to a program that answers with arbitrary data: every request ends, nothing outside of the requested
// paths is believed, and the conversation ends with its stream.
func FuzzHostile(f *testing.F) {
	var good bytes.Buffer
	w := protocol.NewWriter(&good)
	for _, m := range []protocol.Message{&protocol.Hello{Supervised: true}, &protocol.Entry{ID: 1, Path: "/a"}, &protocol.Listed{ID: 1},
		&protocol.Applied{ID: 2, Faults: []protocol.Fault{{Path: "/a"}}}, &protocol.Exited{ID: 3, Code: 1}, &protocol.Restarted{ID: 4},
		&protocol.Pong{ID: 5}, &protocol.Process{Starts: 1}, &protocol.Output{ID: 99}, &protocol.Failed{Text: "no"}, &protocol.Begin{}} {
		w.Append(m)
	}
	check(f, w.Flush())
	f.Add(good.Bytes())
	// Answers that come twice, before their question, or to another.
	for _, m := range []protocol.Message{&protocol.Applied{ID: 1}, &protocol.Exited{ID: 1}, &protocol.Pong{ID: 1}, &protocol.Listed{ID: 2}} {
		var b bytes.Buffer
		w := protocol.NewWriter(&b)
		for _, m := range []protocol.Message{&protocol.Hello{}, m, m, m} {
			w.Append(m)
		}
		check(f, w.Flush())
		f.Add(b.Bytes())
	}
	local := filepath.Join(f.TempDir(), "a")
	check(f, os.WriteFile(local, []byte("x"), 0o600))
	f.Fuzz(func(t *testing.T, answers []byte) {
		in, out := io.Pipe()
		drain, toSynclet := io.Pipe()
		go func() { _, _ = io.Copy(io.Discard, drain) }()
		go func() {
			_, _ = io.WriteString(out, protocol.Preamble)
			_, _ = out.Write(answers)
			_ = out.Close()
		}()
		s, err := Open(t.Context(), &duplex{r: in, w: toSynclet, limit: -1}, protocol.Hello{})
		if err != nil {
			return
		}
		defer s.Close()
		s.OnProcess(func(protocol.Process) {})
		_ = s.Learn(t.Context(), []string{"/a"})
		_, _ = s.Apply(t.Context(), Batch{Puts: []Put{{Local: local, Remote: "/a"}}, Deletes: []string{"/b"}})
		_ = s.Run(t.Context(), []string{"true"}, "", nil, io.Discard)
		_ = s.Restart(t.Context(), protocol.Step{}, time.Second)
		_, _ = s.Ping(t.Context())
		<-s.Done()
		if _, err := s.Apply(t.Context(), Batch{Deletes: []string{"/never"}}); !errors.Is(err, ErrClosed) {
			t.Errorf("after the end: %v", err)
		}
	})
}
