//go:build linux

package synclet

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/update/agent/chunk"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// random returns content that cannot be compressed.
func random(seed byte, size int) []byte {
	out := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(out)
	return out
}

// sent returns how many bytes the conversation has sent so far.
func (r *rig) sent() int {
	d := r.stream.ReadWriteCloser.(*duplex)
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sent
}

// holds fails the test unless the container's file has the content.
func (r *rig) holds(name string, want []byte) {
	r.Helper()
	if got, err := os.ReadFile(filepath.Join(r.remote, name)); err != nil || !bytes.Equal(got, want) {
		r.Fatalf("%s: %d bytes that differ from the %d of the source: %v", name, len(got), len(want), err)
	}
}

// TestDelta edits files: little more than the edited parts travels.
func TestDelta(t *testing.T) {
	for _, size := range []int{deltaFrom - 1, deltaFrom, 300 << 10, wholeFile, wholeFile + 1, 9 << 20} {
		r := newRig(t)
		content := random(1, size)
		save := func(what string, next []byte, most int) {
			t.Helper()
			content = next
			r.write("f", string(content))
			before := r.sent()
			rep := r.apply("f")
			r.holds("f", content)
			if rep.Bytes != int64(len(content)) {
				t.Errorf("%s: reports %d bytes", what, rep.Bytes)
			}
			if n := r.sent() - before; most > 0 && n > most {
				t.Errorf("%s of %d bytes: %d were sent, want at most %d", what, size, n, most)
			}
		}
		save("a new file", content, 0)
		edit := 16 << 10 // two chunks and their description
		if size < deltaFrom {
			edit = deltaFrom + 300
		} else if size > wholeFile {
			edit = 80 << 10
		}
		save("a line in the middle", slices.Insert(slices.Clone(content), size/2, []byte("a line\n")...), edit)
		save("a line at the beginning", slices.Insert(slices.Clone(content), 0, []byte("a line\n")...), edit)
		save("a line at the end", append(slices.Clone(content), "a line\n"...), edit)
		save("a removed part", slices.Delete(slices.Clone(content), size/4, size/4+size/8), edit)
		save("parts in another order", append(slices.Clone(content[size/2:]), content[:size/2]...), edit)
		save("another file", random(2, size), 0)
		save("an empty file", nil, 300)
		save("a file again", random(2, size), 0)

		// Another conversation asks for the content of the file, and continues from there.
		r.end()
		r.connect(-1)
		check(t, r.Learn(t.Context(), []string{r.put("f").Remote}))
		save("a line after another start", slices.Insert(slices.Clone(content), size/2, []byte("a line\n")...), edit+300)
		r.end()
	}
}

// TestPatch edits a program as a compiler does: addresses everywhere move by a few bytes, and little more than these bytes travels.
func TestPatch(t *testing.T) {
	for _, size := range []int{400 << 10, 6 << 20} {
		r := newRig(t)
		r.copies = newCopies()
		defer r.copies.close()
		content := random(1, size)
		save := func(what string, most int) {
			t.Helper()
			r.write("f", string(content))
			before := r.sent()
			r.apply("f")
			r.holds("f", content)
			if n := r.sent() - before; most > 0 && n > most {
				t.Errorf("%s of %d bytes: %d were sent, want at most %d", what, size, n, most)
			}
		}
		save("a new file", 0)
		for i := 0; i < size; i += 100 {
			content[i] += 8
		}
		save("an address each 100 bytes", size/20)
		for i := 0; i < size; i += 100 {
			content[i] += 16
		}
		content = slices.Insert(content, size/3, []byte("a new function")...)
		save("another offset, and an insertion", size/20)
		content = slices.Delete(content, size/2, size/2+5000)
		for i := 7; i < len(content); i += 200 {
			content[i]--
		}
		save("another offset, and less", size/20)
		check(t, os.WriteFile(filepath.Join(r.remote, "f"), content[:size/2], 0o644))
		content[0]++
		save("a file that the container has changed", 0)
	}
}

// TestCopies keeps contents until they are too many, and only contents that have the expected sum.
func TestCopies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	c := newCopies()
	defer c.close()
	file := func(seed byte) *local {
		content := random(seed, deltaFrom)
		check(t, os.WriteFile(path, content, 0o600))
		l := &local{path: path, put: &protocol.Put{}}
		check(t, l.compare(bytes.NewReader(content), deltaFrom, base{}))
		return l
	}
	first := file(1)
	c.keep(first)
	second := file(2)
	c.keep(second)
	first.put.Sum[0]++
	c.keep(first) // its file has another content by now
	if len(c.held) != 2 {
		t.Errorf("%d are held", len(c.held))
	}
	first.put.Sum[0]--
	content, done := c.open(first.put.Sum)
	got := make([]byte, deltaFrom)
	if _, err := content.ReadAt(got, 0); err != nil || !bytes.Equal(got, random(1, deltaFrom)) {
		t.Errorf("another content: %v", err)
	}
	c.size += mostCopies
	c.keep(file(3))
	if len(c.held) != 1 || c.held[first.put.Sum] == nil {
		t.Errorf("%d are held besides the one in use", len(c.held))
	}
	done()
	done()
	c.keep(file(4))
	if n := c.held[first.put.Sum]; n != nil {
		t.Error("the oldest is held although it is not in use")
	}
	var none *copies
	none.keep(first)
	if content, done := none.open(first.put.Sum); content != nil {
		t.Error("a content of nothing")
	} else {
		done()
	}
}

// TestDeltaOfAMovedFile moves files to other folders: they need not be sent again, unless the container has changed them.
func TestDeltaOfAMovedFile(t *testing.T) {
	for _, size := range []int{400 << 10, 6 << 20} {
		for _, changed := range []bool{false, true} {
			r := newRig(t)
			content := random(1, size)
			names := []string{"a/program", "b/program", "a/other"}
			r.write(names[0], string(content))
			r.write(names[2], string(random(2, size)))
			r.apply(names...)
			check(t, os.MkdirAll(filepath.Join(r.local, "b"), 0o755))
			check(t, os.Rename(filepath.Join(r.local, names[0]), filepath.Join(r.local, names[1])))
			together := [][]string{names}
			if size > wholeFile { // the new path is noticed before the old one is known to be gone
				together = [][]string{names[1:], names[:1]}
			}
			if changed {
				check(t, os.WriteFile(filepath.Join(r.remote, names[0]), random(3, size), 0o600))
			}
			before := r.sent()
			for _, names := range together {
				r.apply(names...)
			}
			if n := r.sent() - before; !changed && n > 4<<10 || changed && n < size {
				t.Errorf("%d bytes, changed %v: %d were sent", size, changed, n)
			}
			r.wantTree(tree(t, r.local))
		}
	}
}

// TestDeltaToAFileThatChanged has something in the container change or remove the old file: the knowledge about it is wrong, and
// the whole file is sent.
func TestDeltaToAFileThatChanged(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"changed":   func(path string) error { return os.WriteFile(path, random(9, 400<<10), 0o600) },
		"shortened": func(path string) error { return os.Truncate(path, 1000) },
		"removed":   os.Remove,
		"a folder": func(path string) error {
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o755))
		},
		"a link out": func(path string) error {
			return errors.Join(os.Remove(path), os.Symlink("/etc/passwd", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			content := random(1, 400<<10)
			r.write("f", string(content))
			r.apply("f")
			check(t, change(filepath.Join(r.remote, "f")))
			content[200<<10]++
			r.write("f", string(content))
			r.apply("f")
			r.holds("f", content)
			content[100<<10]++
			r.write("f", string(content))
			before := r.sent()
			r.apply("f")
			r.holds("f", content)
			if n := r.sent() - before; n > 20<<10 {
				t.Errorf("the next edit sends %d bytes", n)
			}
		})
	}
}

// TestDeltaInTheEnd makes random edits of random files, over a line that breaks anywhere, with a container that changes files
// itself, is replaced by another one, or has other content than the client believes. An update brings the content byte by byte, or
// fails.
func TestDeltaInTheEnd(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 8
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 19))
			r := newRig(t)
			kept := newCopies()
			defer kept.close()
			if seed%2 == 0 {
				r.copies = kept
			}
			names := []string{"a", "b", "sub/c"}
			contents := map[string][]byte{}
			for range 12 {
				var changed []string
				for _, name := range names {
					if rng.IntN(3) == 0 {
						contents[name] = edited(rng, contents[name])
						r.write(name, string(contents[name]))
						changed = append(changed, name)
					}
				}
				switch rng.IntN(6) {
				case 0: // the container changes a file
					path := filepath.Join(r.remote, names[rng.IntN(len(names))])
					if old, err := os.ReadFile(path); err == nil {
						check(t, os.WriteFile(path, edited(rng, old), 0o644))
					}
				case 1: // another container
					check(t, os.RemoveAll(r.remote))
					check(t, os.Mkdir(r.remote, 0o755))
					r.end()
					r.connect(-1)
					changed = names
				case 2: // the line breaks, at a byte of the next sequence
					r.end()
					r.connect(rng.IntN(600 << 10))
				case 3: // nothing is true that is believed
					for name, k := range r.known.at {
						if k.chunks != nil {
							rng.Shuffle(len(k.chunks.list), func(i, j int) { k.chunks.list[i], k.chunks.list[j] = k.chunks.list[j], k.chunks.list[i] })
							r.known.at[name] = k
						}
					}
				}
				var present []string
				for _, name := range changed {
					if contents[name] != nil {
						present = append(present, name)
					}
				}
				for try := 0; ; try++ {
					if r.Conversation == nil {
						r.connect(-1)
					}
					_, err := r.Apply(t.Context(), r.batch(present...))
					if err == nil {
						break
					}
					if try == 3 {
						t.Fatal(err)
					}
					r.end()
					r.connect(-1)
					if seed%2 == 0 {
						r.copies = kept
					}
				}
				for _, name := range present {
					r.holds(name, contents[name])
				}
			}
			left, err := filepath.Glob(filepath.Join(r.remote, ".hone*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

// edited returns content with a random edit.
func edited(rng *rand.Rand, content []byte) []byte {
	fill := func(n int) []byte {
		out := make([]byte, n)
		for i := range out {
			out[i] = byte(rng.Uint32())
		}
		return out
	}
	if len(content) == 0 || rng.IntN(10) == 0 {
		return fill(rng.IntN(300 << 10))
	}
	at := rng.IntN(len(content))
	out := slices.Clone(content)
	switch rng.IntN(4) {
	case 0:
		return slices.Insert(out, at, fill(rng.IntN(5000))...)
	case 1:
		return slices.Delete(out, at, at+rng.IntN(len(out)-at))
	case 2:
		copy(out[at:], fill(rng.IntN(len(out)-at)))
	default:
		return append(out, out[:at]...)[:min(len(out)+at, 2<<20)]
	}
	return out
}

// TestHostileChunks has a container say anything about its chunks: nothing is taken that cannot be a file of that size.
func TestHostileChunks(t *testing.T) {
	good := chunk.List{{Size: 100, Hash: 1}, {Size: 28, Hash: 2}}.Append(nil, chunk.Smallest)
	for name, tt := range map[string]struct {
		entry protocol.Entry
		ok    bool
	}{
		"as it should be":  {protocol.Entry{Size: 128, Chunks: good}, true},
		"of a folder":      {protocol.Entry{Kind: protocol.KindDir, Size: 128, Chunks: good}, false},
		"of another size":  {protocol.Entry{Size: 129, Chunks: good}, false},
		"too large chunks": {protocol.Entry{Size: 128, Chunks: append([]byte{60}, good[1:]...)}, false},
		"cut":              {protocol.Entry{Size: 128, Chunks: good[:len(good)-2]}, false},
		"none":             {protocol.Entry{Size: 128}, false},
	} {
		if got := entryChunks(&tt.entry); (got != nil) != tt.ok {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func BenchmarkDelta(b *testing.B) {
	content := random(1, 9<<20)
	d := newDelta(nil, uint64(len(content)))
	_, _, err := d.scan(bytes.NewReader(content), nil)
	check(b, err)
	old := &chunks{d.old.bounds, d.list}
	content = slices.Insert(content, len(content)/2, []byte("a line\n")...)
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		l := &local{put: &protocol.Put{}}
		check(b, l.compare(bytes.NewReader(content), uint64(len(content)), base{chunks: old}))
	}
}

// TestPackedUpdates sends updates over a connection that counts as slow: text is compressed, content that does not shrink is not,
// and all content arrives as it was.
func TestPackedUpdates(t *testing.T) {
	r := newRig(t)
	r.line.latency = far
	text := bytes.Repeat([]byte("every line of this text is much like the others, up to a number\n"), 8000)
	for i := 0; i < len(text); i += 640 {
		copy(text[i:], fmt.Sprintf("%08d", i*7919))
	}
	for _, tt := range []struct {
		name    string
		content []byte
		most    int
	}{
		{"small", []byte("a = 1\n"), 400},
		{"text", text, len(text) / 5},
		{"random", random(1, 1<<20), 1<<20 + 4000},
		{"mixed", append(random(2, 600<<10), text...), 600<<10 + len(text)},
		{"text again", text[640:], len(text) / 5},
	} {
		before := r.sent()
		r.line.rate = 2.5e6
		r.write(tt.name, string(tt.content))
		r.apply(tt.name)
		r.holds(tt.name, tt.content)
		if n := r.sent() - before; n > tt.most {
			t.Errorf("%s: %d of %d bytes were sent", tt.name, n, len(tt.content))
		}
	}
}

// TestLine decides from measurements whether compressing is worth it.
func TestLine(t *testing.T) {
	for _, tt := range []struct {
		name string
		line *line
		n    int
		want bool
	}{
		{"a new line nearby", &line{latency: time.Millisecond}, 100 << 10, false},
		{"a new line far away", &line{latency: 20 * time.Millisecond}, 100 << 10, true},
		{"a few bytes", &line{latency: 20 * time.Millisecond}, 100, false},
		{"20 Mbit/s", &line{rate: 2.5e6}, 100 << 10, true},
		{"this machine", &line{rate: 400e6}, 100 << 10, false},
		{"far away and fast", &line{latency: 20 * time.Millisecond, rate: 400e6}, 100 << 10, false},
		{"content that is compressed", &line{rate: 2.5e6, pace: 100e6, ratio: 0.99}, 100 << 10, false},
		{"a processor that is too slow", &line{rate: 2.5e6, pace: 2e6, ratio: 0.3}, 100 << 10, false},
	} {
		if got := tt.line.worthIt(tt.n); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
