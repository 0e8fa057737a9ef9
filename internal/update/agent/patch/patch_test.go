package patch

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRoundTrip makes content of other content by edits, which cost little if little differs.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		old := make([]byte, rng.IntN(3000))
		for i := range old {
			old[i] = byte(rng.Uint32())
		}
		content := slices.Clone(old)
		changed := 0
		for rate := rng.IntN(100); rate > 0 && changed < len(content)/rate; changed++ {
			content[rng.IntN(len(content))] += byte(rng.IntN(4))
		}
		edits := Edits(nil, old, content)
		if len(edits) > 5*changed {
			t.Errorf("%d bytes for %d that differ", len(edits), changed)
		}
		if err := Apply(old, edits); err != nil || !bytes.Equal(old, content) {
			t.Fatalf("%d bytes, %d changed: %v", len(content), changed, err)
		}
	}
}

func TestReach(t *testing.T) {
	common := bytes.Repeat([]byte("of which most are the same "), 100)
	for _, tt := range []struct {
		name              string
		old, content      []byte
		forward, backward int
	}{
		{"equal", common, common, len(common), len(common)},
		{"nothing", nil, common, 0, 0},
		{"all different", bytes.Repeat([]byte("a"), 9000), bytes.Repeat([]byte("b"), 9000), 0, 0},
		{"one longer", append(slices.Clone(common), "xyz"...), common, len(common), 0},
	} {
		if f, b := Forward(tt.old, tt.content), Backward(tt.old, tt.content); f != tt.forward || b < tt.backward {
			t.Errorf("%s: %d and %d", tt.name, f, b)
		}
	}
	scattered := slices.Clone(common)
	for i := 0; i < len(scattered); i += 5 {
		scattered[i]++
	}
	if f, b := Forward(common, scattered), Backward(common, scattered); f < len(common)-5 || b < len(common)-5 {
		t.Errorf("each fifth byte differs: %d and %d of %d", f, b, len(common))
	}
}

// FuzzApply applies edits that a foreign program may send: there is no panic, and no write outside of the content.
func FuzzApply(f *testing.F) {
	f.Add([]byte("hello, world"), Edits(nil, []byte("hello, world"), []byte("hallo, wurld")))
	f.Add([]byte{}, []byte{0x80})
	f.Fuzz(func(t *testing.T, content, edits []byte) {
		behind := append(slices.Clone(content), "guard"...)
		_ = Apply(behind[:len(content):len(content)], edits)
		if string(behind[len(content):]) != "guard" {
			t.Error("it wrote behind the content")
		}
	})
}

func BenchmarkEdits(b *testing.B) {
	old := make([]byte, 1<<20)
	content := slices.Clone(old)
	for i := 0; i < len(content); i += 50 {
		content[i]++
	}
	var edits []byte
	b.SetBytes(1 << 20)
	for b.Loop() {
		edits = Edits(edits[:0], old, content)
	}
}
