package tiltfile

import (
	"go.starlark.net/starlark"
)

// run executes the source of a file. The compiled program is remembered: it depends on nothing but path and source, since
// every evaluation offers the same names to the same file.
func (i *interpreter) run(path, src string, env starlark.StringDict) (starlark.StringDict, error) {
	done := i.profile.compiling()
	program, _, err := recall(i.memo, memoKey{memoProgram, path, src}, func() (*starlark.Program, error) {
		_, p, err := starlark.SourceProgramOptions(dialect, path, src, env.Has)
		return p, err
	})
	done()
	if err != nil {
		return nil, err
	}
	globals, err := program.Init(i.thread, env)
	globals.Freeze()
	return globals, err
}
