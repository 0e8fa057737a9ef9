package k8s

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/moby/spdystream/spdy"
)

// TestSPDYFrames: frames leave whole, in whatever pieces they arrive.
func TestSPDYFrames(t *testing.T) {
	var want [][]byte
	var all bytes.Buffer
	framer, err := spdy.NewFramer(&all, &all)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []spdy.Frame{
		&spdy.SynStreamFrame{StreamId: 1, Headers: http.Header{"A": {"b"}}},
		&spdy.DataFrame{StreamId: 1, Data: bytes.Repeat([]byte("data "), 20_000)},
		&spdy.DataFrame{StreamId: 1, Flags: spdy.DataFlagFin},
		&spdy.PingFrame{Id: 1},
	} {
		from := all.Len()
		if err := framer.WriteFrame(f); err != nil {
			t.Fatal(err)
		}
		want = append(want, bytes.Clone(all.Bytes()[from:]))
	}
	for _, size := range []int{1, 3, 4, 8, 1000, 1 << 20} {
		var frames spdyFrames
		in, n := bytes.NewReader(all.Bytes()), 0
		for piece := make([]byte, size); ; {
			got, err := in.Read(piece)
			if err == io.EOF {
				break
			}
			out := frames.add(piece[:got])
			for len(out) > 0 {
				if n == len(want) || !bytes.HasPrefix(out, want[n]) {
					t.Fatalf("pieces of %d bytes: frame %d is wrong", size, n)
				}
				out = out[len(want[n]):]
				n++
			}
		}
		if n != len(want) {
			t.Errorf("pieces of %d bytes: %d frames of %d", size, n, len(want))
		}
	}
}
