//go:build linux

package synclet

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hone-dev/hone/internal/update/agent"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// duplex is one end of two pipes. With a limit, the direction to the synclet breaks after that many bytes; with a back
// limit, the direction from it.
type duplex struct {
	r     *io.PipeReader
	w     *io.PipeWriter
	mu    sync.Mutex
	limit int // -1 for none
	sent  int
	back  int // of the goroutine that reads; 0 for no limit
	got   int
	// closed means that the connection has ended.
	closed atomic.Bool
	gate   *atomic.Pointer[chan struct{}] // nil for none; bytes that were read are passed on once the channel is closed
}

func (d *duplex) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if d.gate != nil {
		if gate := d.gate.Load(); gate != nil {
			<-*gate
			if d.closed.Load() {
				return 0, io.ErrClosedPipe
			}
		}
	}
	if d.got += n; d.back > 0 && d.got >= d.back {
		n -= d.got - d.back
		d.Close()
		return n, errors.New("cut")
	}
	return n, err
}

func (d *duplex) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.limit >= 0 && d.sent+len(p) > d.limit {
		n, _ := d.w.Write(p[:max(0, d.limit-d.sent)])
		d.sent += n
		d.Close()
		return n, errors.New("cut")
	}
	n, err := d.w.Write(p)
	d.sent += n
	return n, err
}

func (d *duplex) Close() error {
	d.closed.Store(true)
	return errors.Join(d.r.Close(), d.w.Close())
}

// rig is a local folder, a folder that stands for the container, and a synclet over pipes.
type rig struct {
	testing.TB
	local, remote string
	*Conversation
	end func()
	// back breaks the direction from the synclet of the next connection after that many bytes; 0 means never.
	back int
	gate atomic.Pointer[chan struct{}] // see hold
}

func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{TB: t, local: t.TempDir(), remote: t.TempDir()}
	r.connect(-1)
	t.Cleanup(func() { r.end() })
	return r
}

// connect starts a synclet and a conversation with it.
func (r *rig) connect(limit int, places ...protocol.Place) {
	r.Helper()
	if len(places) == 0 {
		places = []protocol.Place{{Dir: r.remote}}
	}
	in, toSynclet := io.Pipe()
	fromSynclet, out := io.Pipe()
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = agent.Serve(in, out, os.Environ())
		out.Close()
		in.Close()
	}()
	stream := &duplex{r: fromSynclet, w: toSynclet, limit: limit, back: r.back, gate: &r.gate}
	r.back = 0
	s, err := Open(r.Context(), stream, protocol.Hello{Places: places})
	r.Conversation = s
	r.end = func() {
		if s != nil {
			_ = s.Close()
		}
		<-served
	}
	if err != nil && limit < 0 && stream.back == 0 {
		r.end()
		r.Fatal(err)
	}
}

func (r *rig) write(name, text string) { writeFile(r, filepath.Join(r.local, name), text, 0o644) }

func writeFile(t testing.TB, path, text string, mode fs.FileMode) {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(t, os.WriteFile(path, []byte(text), mode))
	check(t, os.Chmod(path, mode))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (r *rig) put(name string) Put {
	return Put{Local: filepath.Join(r.local, name), Remote: filepath.Join(r.remote, name)}
}

func (r *rig) batch(names ...string) (b Batch) {
	for _, n := range names {
		if _, err := os.Lstat(filepath.Join(r.local, n)); err != nil {
			b.Deletes = append(b.Deletes, filepath.Join(r.remote, n))
		} else {
			b.Puts = append(b.Puts, r.put(n))
		}
	}
	return b
}

func (r *rig) apply(names ...string) Report {
	r.Helper()
	rep, err := r.Apply(r.Context(), r.batch(names...))
	check(r, err)
	return rep
}

// tree describes a folder: each path with its kind, mode and content.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	check(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != dir {
			return nil // gone meanwhile
		}
		if err != nil || path == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			out[rel] = "folder"
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			out[rel] = "-> " + target
		default:
			b, _ := os.ReadFile(path)
			out[rel] = info.Mode().String() + " " + string(b)
		}
		return nil
	}))
	return out
}
