package eval

import (
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/hone-dev/hone/internal/tiltfile/dialect"
)

// FuzzUnpack compares Unpack with starlark.UnpackArgs: both must refuse the same calls, and unpack the others alike.
func FuzzUnpack(f *testing.F) {
	for _, s := range []string{"1, 'x'", "a=1", "'x', b=None", "1, 2, 3, 4, 5", "c=True, c=False", "b='x', a=1, d=[1]", "d={}", "e=len", "None, None, None", "a='x', b=1, z=3"} {
		f.Add(s)
	}
	type values struct {
		A int
		B string
		C bool
		D *starlark.List
		E starlark.Callable
	}
	f.Fuzz(func(t *testing.T, args string) {
		if strings.ContainsAny(args, "*%<\n:") {
			return
		}
		var ours, theirs values
		var ourErr, theirErr error
		probe := starlark.NewBuiltin("f", func(_ *starlark.Thread, _ *starlark.Builtin, pos starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
			c := &Call{Name: "f", Args: pos, Kwargs: kw}
			ourErr = c.Unpack("a", &ours.A, "b?", &ours.B, "c??", &ours.C, "d", &ours.D, "e??", &ours.E)
			theirErr = starlark.UnpackArgs("f", pos, kw, "a", &theirs.A, "b?", &theirs.B, "c??", &theirs.C, "d?", &theirs.D, "e??", &theirs.E)
			return starlark.None, nil
		})
		thread := &starlark.Thread{}
		thread.SetMaxExecutionSteps(1000)
		if _, err := starlark.ExecFileOptions(dialect.Options, thread, "x", "f("+args+")", starlark.StringDict{"f": probe}); err != nil {
			return
		}
		if (ourErr == nil) != (theirErr == nil) {
			t.Fatalf("f(%s): got %v, want %v", args, ourErr, theirErr)
		}
		if ourErr == nil && (ours.A != theirs.A || ours.B != theirs.B || ours.C != theirs.C || ours.D != theirs.D) {
			t.Fatalf("f(%s): got %+v, want %+v", args, ours, theirs)
		}
	})
}
