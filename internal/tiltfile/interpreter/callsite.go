package interpreter

import (
	"go.starlark.net/syntax"

	"github.com/hone-dev/hone/internal/tiltfile/dialect"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
)

// argSite finds the place of an argument of the call whose opening parenthesis is at call. An argument from *args or
// **kwargs has no place of its own: the result is then the call's place.
func argSite(path, src string, call fault.Site, arg eval.ArgumentPlace) fault.Site {
	f, err := dialect.Options.Parse(path, src, 0)
	if err != nil || arg == eval.NoArgument {
		return call
	}
	found := call
	syntax.Walk(f, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && fault.SiteOf(c.Lparen) == call {
			if at := argOf(c, arg); at.Line > 0 {
				found = fault.SiteOf(at)
			}
		}
		return true
	})
	return found
}

// argOf returns the beginning of an argument; a keyword argument begins with its name.
func argOf(c *syntax.CallExpr, arg eval.ArgumentPlace) syntax.Position {
	position, spread := 0, false
	for _, a := range c.Args {
		start, _ := a.Span()
		switch a := a.(type) {
		case *syntax.UnaryExpr:
			if a.Op == syntax.STAR || a.Op == syntax.STARSTAR {
				spread = true // the positions of the following arguments are unknown
				continue
			}
		case *syntax.BinaryExpr:
			if a.Op != syntax.EQ {
				break
			}
			if name, ok := a.X.(*syntax.Ident); ok && name.Name == arg.Keyword {
				return start
			}
			continue
		}
		if arg.Keyword == "" && !spread && position == arg.Position {
			return start
		}
		position++
	}
	return syntax.Position{}
}
