package local

import (
	"errors"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/process"
	"github.com/hone-dev/hone/internal/tiltfile/command"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/value"
)

func (d *Declarations) local(c *eval.Call) (starlark.Value, error) {
	var words, bat value.Argv
	var quiet, echoOff bool
	var env value.TextMap
	var dir, cluster string
	var stdin value.Text
	if err := c.Unpack("command", &words, "quiet??", &quiet, "command_bat??", &bat, "echo_off??", &echoOff,
		"env??", &env, "dir??", &dir, "stdin??", &stdin, "cluster??", &cluster); err != nil {
		return nil, err
	}
	if len(words.Words) == 0 {
		return nil, errors.New("the command is empty")
	}
	in, err := d.gate.Already(cluster)
	if err != nil {
		return nil, err
	}
	if err := d.gate.Allowed("run a command", in); err != nil {
		return nil, err
	}
	cmd, err := in.Command(c.Cmd(words, dir, env, echoOff))
	if err != nil {
		return nil, err
	}
	c.Named(process.NamedFiles(cmd))
	if !quiet && !echoOff {
		logstore.Infof(c.Log, "local: %s", cmd)
	}
	out, err := c.Exec(command.Command{Cmd: cmd, Stdin: stdin.Value, Quiet: quiet})
	if err != nil {
		return nil, err
	}
	return value.NewBlob(out, "local: "+cmd.String()), nil
}
