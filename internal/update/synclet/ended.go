package synclet

import (
	"errors"
	"fmt"
	"io"

	"github.com/hone-dev/hone/internal/update/liveupdate"
)

// ErrKilled says that the synclet was killed inside the container. That is how it ends with the container, and when memory
// runs out: then trying again and again could cost the container's own process the same.
var ErrKilled = errors.New("the synclet was killed in the container: either the container has ended, or its memory has run out")

// errEnding says that the conversation ended because the container does.
var errEnding = errors.New("the container is ending")

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
