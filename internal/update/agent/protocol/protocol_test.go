package protocol

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// samples holds every type of message, with every field set.
var samples = []Message{
	&Hello{Program: "abc", Places: []Place{{Dir: "/app"}, {Dir: "/etc", Name: "conf"}}, UID: 1000, Supervised: true, Client: "0123456789", Sequence: 7, Run: 8},
	&Hello{},
	&Failed{Text: "another version"},
	&Begin{ID: 1, Files: 2, Bytes: 1 << 40},
	&Put{Path: "/app/a", Kind: KindFile, Mode: 0o755, ModTime: 1_700_000_000_123_456_789, Owner: &Owner{1, 2}, Base: "/app/b", Size: 3, Sum: Sum{1, 2, 15: 16}, Data: []byte("abc")},
	&Put{Path: "/app/d", Kind: KindDir, ModTime: -1, Data: []byte{}},
	&Data{Data: []byte("more")},
	&Delete{Path: "/app/b"},
	&Commit{ID: 300},
	&Abort{ID: 4},
	&Applied{ID: 1, Changed: 2, Nanos: 3, Faults: []Fault{{Path: "/x", Staged: true, Errno: 30, Text: "read-only"}}},
	&Copy{Offset: 1 << 33, Size: 4096},
	&Patch{Offset: 1 << 33, Size: 4096, Edits: []byte{1, 1, 1}},
	&List{ID: 1, Places: []Place{{Dir: "/"}}, Chunks: 1 << 20},
	&Entry{ID: 1, Path: "/app/l", Kind: KindLink, Mode: 0o777, Size: 4, Sum: Sum{9}, Chunks: []byte{12, 1}},
	&Listed{ID: 1, Faults: []Fault{{Path: "/y"}}},
	&Run{ID: 9, Argv: []string{"sh", "-c", "x y"}, Dir: "/d", Env: []string{"A=b"}, After: 8},
	&Output{ID: 9, Data: []byte{0, 255}},
	&Exited{ID: 9, Code: 127, Text: "not found"},
	&Kill{ID: 9},
	&Step{Sequence: 1 << 63, Number: 2},
	&Done{Sequence: 1 << 63},
	&Leave{},
	&Restart{ID: 5, GraceNanos: 1e10, After: 9},
	&Restarted{ID: 5, PID: 7, Code: RestartUnsupervised, Text: "no supervisor"},
	&Process{Running: true, PID: 7, Code: 1, Starts: 2, Crashes: 3, AgainNanos: 1e10, Ending: true},
	&Ping{ID: 1},
	&Pong{ID: 1},
}

func TestRoundTrip(t *testing.T) {
	var stream bytes.Buffer
	w := NewWriter(&stream)
	for _, m := range samples {
		w.Append(m)
	}
	if err := w.Flush(); err != nil || w.Buffered() != 0 {
		t.Fatal(err, w.Buffered())
	}
	r := NewReader(&stream)
	seen := map[kind]bool{}
	for _, want := range samples {
		got, err := r.Next()
		if err != nil {
			t.Fatalf("%T: %v", want, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("-want +got\n%s", d)
		}
		seen[got.kind()] = true
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
	for k := kindHello; k <= kindPatch; k++ {
		if !seen[k] && k != kindPacked {
			t.Errorf("no sample of type %d", k)
		}
	}
}

// deflated packs frames as a client does.
func deflated(frames []byte) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestSpeed)
	_, _ = w.Write(frames)
	_ = w.Close()
	return b.Bytes()
}

// TestPacked sends every message in packed frames, several to a frame, between frames that are not packed.
func TestPacked(t *testing.T) {
	for _, each := range []int{1, 3, len(samples)} {
		var stream bytes.Buffer
		w := NewWriter(&stream)
		packed := 0
		w.Pack = func(frames []byte) []byte {
			if packed++; packed%3 == 0 {
				return nil
			}
			return deflated(frames)
		}
		for i, m := range samples {
			w.Append(m)
			if i%each == 0 {
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		r := NewReader(&stream)
		for _, want := range samples {
			got, err := r.Next()
			if err != nil {
				t.Fatalf("%T: %v", want, err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		}
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("at the end: %v", err)
		}
	}
}

// TestHostilePacked reads packed frames that no client writes: none costs more memory than a frame may, and none is taken for a message.
func TestHostilePacked(t *testing.T) {
	frame := func(m Message) []byte {
		var b bytes.Buffer
		w := NewWriter(&b)
		w.Append(m)
		_ = w.Flush()
		return b.Bytes()
	}
	ping := frame(&Ping{ID: 1})
	for name, data := range map[string][]byte{
		"no deflate":          []byte("nonsense"),
		"empty":               deflated(nil),
		"endless":             deflated(make([]byte, 64<<20)),
		"half a frame":        deflated(ping[:len(ping)-1]),
		"half a header":       deflated(ping[:5]),
		"something behind it": append(deflated(ping), 1),
		"packed in packed":    deflated(frame(&Packed{deflated(ping)})),
	} {
		m, err := NewReader(bytes.NewReader(frame(&Packed{data}))).Next()
		if err == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

// TestSum compares with the published values of MurmurHash3 (x64, 128 bits, seed 0), whole and in parts.
func TestSum(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "00000000000000000000000000000000",
		"hello":                     "cbd8a7b341bd9b025b1e906a48ae1d19",
		"hello, world":              "342fac623a5ebc8e4cdcbc079642414d",
		"19 Jan 2038 at 3:14:07 AM": "b89e5988b737affc664fc2950231b2cb",
		"The quick brown fox jumps over the lazy dog.": "cd99481f9ee902c9695da1a38987b6e7",
	} {
		for part := 1; part <= len(text)+1; part++ {
			var s Summer
			for rest := []byte(text); len(rest) > 0; {
				n := min(part, len(rest))
				_, _ = s.Write(rest[:n])
				rest = rest[n:]
			}
			sum := s.Sum()
			got := fmt.Sprintf("%016x%016x", getUint64(sum[:]), getUint64(sum[8:]))
			if got != want {
				t.Errorf("%q in parts of %d: %s, want %s", text, part, got, want)
			}
		}
	}
}

func BenchmarkSum(b *testing.B) {
	content := make([]byte, 1<<20)
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		SumOf(content)
	}
}

// TestDamage changes every byte of a stream and cuts it everywhere: a damaged frame is never taken for a message.
func TestDamage(t *testing.T) {
	for _, m := range samples {
		var stream bytes.Buffer
		w := NewWriter(&stream)
		w.Append(m)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		whole := stream.Bytes()
		for i := range whole {
			damaged := bytes.Clone(whole)
			damaged[i] ^= 0x41
			if got, err := NewReader(bytes.NewReader(damaged)).Next(); err == nil {
				t.Errorf("%T with byte %d changed is read as %+v", m, i, got)
			}
			if _, err := NewReader(bytes.NewReader(whole[:i])).Next(); i > 0 && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%T cut after %d bytes: %v", m, i, err)
			}
		}
	}
}

func TestLimits(t *testing.T) {
	var stream bytes.Buffer
	w := NewWriter(&stream)
	w.Append(&Put{Path: "/a", Data: make([]byte, MaxData)})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := NewReader(&stream).Next(); err != nil {
		t.Errorf("a full Put: %v", err)
	}
	w.Append(&Data{Data: make([]byte, MaxPayload)})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := NewReader(&stream).Next(); !errors.Is(err, ErrTooLong) {
		t.Errorf("a frame that is too long: %v", err)
	}
}

// FuzzReader reads arbitrary bytes: there is no panic, and the messages that it reads can be written and read again.
func FuzzReader(f *testing.F) {
	var stream bytes.Buffer
	w := NewWriter(&stream)
	for _, m := range samples {
		w.Append(m)
	}
	_ = w.Flush()
	f.Add(stream.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader(bytes.NewReader(data))
		for {
			m, err := r.Next()
			if err != nil {
				return
			}
			again(t, m)
		}
	})
}

// FuzzPayload reads arbitrary payloads of every type, which would otherwise fail the checksum.
func FuzzPayload(f *testing.F) {
	for _, m := range samples {
		e := encoder{}
		m.encode(&e)
		f.Add(uint8(m.kind()), e.b)
	}
	f.Fuzz(func(t *testing.T, k uint8, payload []byte) {
		if m, err := decode(kind(k), payload); err == nil {
			again(t, m)
		}
	})
}

func again(t *testing.T, m Message) {
	e := encoder{}
	m.encode(&e)
	got, err := decode(m.kind(), e.b)
	if err != nil {
		t.Fatalf("%+v: %v", m, err)
	}
	if d := cmp.Diff(m, got); d != "" {
		t.Fatalf("-want +got\n%s", d)
	}
}
