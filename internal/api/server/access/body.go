package access

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// ErrTooLarge is the error for a body that is too long.
var ErrTooLarge = errors.New("the request is too large")

// Body reads the body of a request that has come through Guard, which may be up to max bytes long.
func Body(w http.ResponseWriter, r *http.Request, max int64) ([]byte, error) {
	if r.ContentLength > max {
		w.Header().Set("Connection", "close")
		return nil, fmt.Errorf("%w: at most %d bytes", ErrTooLarge, max)
	}
	body, err := readAll(http.MaxBytesReader(w, r.Body, max))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, fmt.Errorf("%w: at most %d bytes", ErrTooLarge, max)
	case err != nil:
		return nil, fmt.Errorf("read the request: %w", err)
	}
	// The body is there, so that its deadline must not end the connection while the answer is made.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return body, nil
}

// block is a buffer that bodies are read into, piece by piece.
type block [32 << 10]byte

// blocks is a pool of unused blocks. A body that turns out to be too long leaves no garbage, and a body that never arrives
// takes no memory. With io.ReadAll, clients that sent endless bodies kept the garbage collector busy and delayed the loop.
var blocks = sync.Pool{New: func() any { return new(block) }}

// readAll is io.ReadAll by way of blocks.
func readAll(r io.Reader) ([]byte, error) {
	var taken []*block
	defer func() {
		for _, b := range taken {
			blocks.Put(b)
		}
	}()
	for size := 0; ; {
		at := size % len(block{})
		if at == 0 && size == len(taken)*len(block{}) {
			taken = append(taken, blocks.Get().(*block))
		}
		n, err := r.Read(taken[len(taken)-1][at:])
		size += n
		if err == io.EOF {
			return join(taken, size), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// join copies the first size bytes of blocks.
func join(blocks []*block, size int) []byte {
	all := make([]byte, 0, size)
	for _, b := range blocks {
		all = append(all, b[:min(len(b), size-len(all))]...)
	}
	return all
}
