package server

import (
	"bytes"
	"net/http"

	"github.com/hone-dev/hone/internal/api/server/access"
)

// pieceBytes is about how much of an answer a request holds at a time.
const pieceBytes = 64 << 10

// answer is one that is sent piece by piece. Making a piece is work that waits for its turn; while it is written, and while
// nothing is new, others have theirs. A client that reads slowly is sent the next piece when it has taken the one before.
type answer struct {
	w http.ResponseWriter
	r *http.Request
	// make adds the next piece, and reports whether there is more already.
	make func(piece *bytes.Buffer) (more bool)
	// changed returns a channel that says when there may be more; nil for an answer that ends with what there is.
	changed func() <-chan struct{}
}

// send writes all pieces. It returns when the answer is complete, or the request over.
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

// push writes what was made, and reports whether the client took it.
func push(w http.ResponseWriter, piece *bytes.Buffer) bool {
	access.Extend(w)
	_, err := piece.WriteTo(w)
	if piece.Cap() > 4*pieceBytes {
		*piece = bytes.Buffer{}
	}
	return err == nil && http.NewResponseController(w).Flush() == nil
}
