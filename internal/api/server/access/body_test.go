package access

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
)

// TestBody reads bodies around the size of blocks and around the limit, in pieces of all sorts.
func TestBody(t *testing.T) {
	const size, most = len(block{}), 3*len(block{}) + 5
	text := bytes.Repeat([]byte("0123456789abc"), most)
	broken := errors.New("broken")
	for _, n := range []int{0, 1, size - 1, size, size + 1, 2 * size, most - 1, most, most + 1, 2 * most} {
		for name, pieces := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader, "with its end": iotest.DataErrReader, "bytes": iotest.OneByteReader,
		} {
			for end, err := range map[string]error{"": nil, "cut": io.ErrUnexpectedEOF, "broken": broken} {
				t.Run(fmt.Sprint(n, name, end), func(t *testing.T) {
					body := io.Reader(bytes.NewReader(text[:n]))
					if err != nil {
						body = io.MultiReader(body, iotest.ErrReader(err))
					}
					r := httptest.NewRequest(http.MethodPost, "/", pieces(body))
					got, gotErr := Body(httptest.NewRecorder(), r, int64(most))
					switch {
					case n > most:
						err = ErrTooLarge
					case err == nil && !bytes.Equal(got, text[:n]):
						t.Errorf("%d bytes that differ", len(got))
					}
					if !errors.Is(gotErr, err) || gotErr != nil && got != nil {
						t.Errorf("%d bytes, error %v, want %v", len(got), gotErr, err)
					}
				})
			}
		}
	}
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", 2*most)))
	w := httptest.NewRecorder()
	if _, err := Body(w, r, int64(most)); !errors.Is(err, ErrTooLarge) || w.Header().Get("Connection") != "close" {
		t.Errorf("%v, %v", err, w.Header())
	}
}
