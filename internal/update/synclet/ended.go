package synclet

import (
	"errors"
	"fmt"
	"io"

	"github.com/hone-dev/hone/internal/update/liveupdate"
)

// ErrKilled means that the synclet was killed inside the container. That happens when the container ends, and when
// memory runs out: then repeated attempts could get the container's own process killed too.
var ErrKilled = errors.New("the synclet was killed in the container: either the container has ended, or its memory has run out")

// errEnding means that the conversation ended because the container is ending.
var errEnding = errors.New("the container is ending")

// codeKilled is the exit code of a process that SIGKILL ended.
const codeKilled = 137

// end returns the error for readers when the exec has ended: io.EOF, or the reason. The reason is text only: an exit code in the
// chain would be mistaken for the exit code of one of the user's commands.
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
