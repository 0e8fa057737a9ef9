package door

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// ErrTooLarge says that a body is longer than it may be.
var ErrTooLarge = errors.New("the request is too large")

// Body reads the body of a request that has come through Guard, which may be up to max bytes long.
func Body(w http.ResponseWriter, r *http.Request, max int64) ([]byte, error) {
	if r.ContentLength > max {
		w.Header().Set("Connection", "close")
		return nil, fmt.Errorf("%w: at most %d bytes", ErrTooLarge, max)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, max))
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
