package interpreter

import (
	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/dialect"
	"github.com/hone-dev/hone/internal/tiltfile/memo"
)

// Execute executes the source of a file. The compiled program is remembered: it depends only on path and source, since
// every evaluation predeclares the same names for the same file.
func (i *Interpreter) Execute(path, src string, env starlark.StringDict) (starlark.StringDict, error) {
	done := i.Profile.Compiling()
	program, _, err := memo.Recall(i.Memo, memo.Key{Kind: memo.Program, Name: path, Content: src}, func() (*starlark.Program, error) {
		return dialect.Program(path, src, env.Has)
	})
	done()
	if err != nil {
		return nil, err
	}
	return dialect.Run(i.Thread, program, env)
}
