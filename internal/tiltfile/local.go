package tiltfile

import (
	"errors"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/logstore"
)

func (d *localDeclarations) local(c *call) (starlark.Value, error) {
	var words, bat argv
	var quiet, echoOff bool
	var env textMap
	var dir string
	var stdin text
	if err := c.unpack("command", &words, "quiet??", &quiet, "command_bat??", &bat, "echo_off??", &echoOff,
		"env??", &env, "dir??", &dir, "stdin??", &stdin); err != nil {
		return nil, err
	}
	if len(words.words) == 0 {
		return nil, errors.New("the command is empty")
	}
	if err := d.gate.allowed("run a command"); err != nil {
		return nil, err
	}
	cmd := c.cmd(words, dir, env, echoOff)
	if !quiet && !echoOff {
		logstore.Infof(c.log, "local: %s", cmd)
	}
	out, err := c.exec(command{Cmd: cmd, stdin: stdin.value, quiet: quiet})
	if err != nil {
		return nil, err
	}
	return newBlob(out, "local: "+cmd.String()), nil
}
