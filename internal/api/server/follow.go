package server

import (
	"bytes"
	"net/http"

	"github.com/hone-dev/hone/internal/api/server/access"
)

// pieceBytes is the approximate number of bytes of an answer that a request holds at a time.
const pieceBytes = 64 << 10

// answer is a response that is sent piece by piece. Creating a piece is work that waits for its turn; other requests have
// their turn while a piece is written and while there is nothing new. A slow client receives the next piece after it has read
// the previous one.
type answer struct {
	w http.ResponseWriter
	r *http.Request
	// make adds the next piece, and reports whether more is already available.
	make func(piece *bytes.Buffer) (more bool)
	// changed returns a channel that signals when there may be more; nil for a response without following.
	changed func() <-chan struct{}
}

// send writes all pieces. It returns when the answer is complete or the request has ended.
func (s *Subscriber) send(a answer) {
	ctx := a.r.Context()
	var piece bytes.Buffer
	for {
		var changed <-chan struct{}
		if a.changed != nil {
			changed = a.changed() // before looking, so that nothing is missed
		}
		more := false
		if !s.work(ctx, func() { more = a.make(&piece) }) {
			return
		}
		if !push(a.w, &piece) {
			return
		}
		switch {
		case more:
		case changed == nil:
			return
		default:
			access.Endless(a.w)
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// push writes a piece and reports whether that succeeded.
func push(w http.ResponseWriter, piece *bytes.Buffer) bool {
	access.Extend(w)
	_, err := piece.WriteTo(w)
	if piece.Cap() > 4*pieceBytes {
		*piece = bytes.Buffer{}
	}
	return err == nil && http.NewResponseController(w).Flush() == nil
}
