package synclet

import (
	"errors"
	"fmt"
	"io"

	"github.com/hone-dev/hone/internal/liveupdate"
)

// ErrKilled says that the synclet was killed inside the container, which is how it ends when memory runs out. Trying again
// and again could cost the container's own process the same.
var ErrKilled = errors.New("the synclet was killed in the container, as happens when its memory runs out")

// codeKilled is the exit code of what SIGKILL ended.
const codeKilled = 137

// end is what a reader learns when the exec has ended: io.EOF, or why it did. It is the text alone: an exit code in the
// chain would be taken for that of one of the user's commands.
func (s *stream) end() error {
	if s.err == nil {
		return io.EOF
	}
	if code, ok := liveupdate.ExitCode(s.err); ok && code == codeKilled {
		return ErrKilled
	}
	if said := s.stderr.String(); said != "" {
		return fmt.Errorf("%s: %s", s.err.Error(), said)
	}
	return errors.New(s.err.Error())
}
