package interpreter

import (
	"context"
	"maps"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/dialect"
	"github.com/hone-dev/hone/internal/tiltfile/memo"
)

// Execute executes the source of a file. The compiled program is remembered: it depends only on path and source, since
// every evaluation predeclares the same names for the same file.
func (i *Interpreter) Execute(path, src string, env starlark.StringDict) (starlark.StringDict, error) {
	done := i.Profile.Compiling()
	program, _, err := memo.Recall(i.Memo, memo.Key{Kind: memo.Program, Name: path, Content: src}, func() (*starlark.Program, error) {
		names := maps.Clone(env) // since the compiler may go on after the end of the evaluation
		return unlessCancelled(i.Context, func() (*starlark.Program, error) { return dialect.Program(path, src, names.Has) })
	})
	done()
	if err != nil {
		return nil, err
	}
	return dialect.Run(i.Thread, program, env)
}

// unlessCancelled returns the result of a function, which cannot be interrupted, or the cause of the end of ctx, whichever comes
// first. The function must hold nothing that others need: it may run on, and its result is dropped then.
func unlessCancelled[T any](ctx context.Context, run func() (T, error)) (T, error) {
	type outcome struct {
		value    T
		err      error
		panicked any
	}
	ended := make(chan outcome, 1)
	go func() {
		o := outcome{}
		defer func() {
			o.panicked = recover()
			ended <- o
		}()
		o.value, o.err = run()
	}()
	select {
	case o := <-ended:
		if o.panicked != nil {
			panic(o.panicked)
		}
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
