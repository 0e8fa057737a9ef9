package interpreter

import (
	"go.starlark.net/syntax"

	"github.com/hone-dev/hone/internal/tiltfile/dialect"
	"github.com/hone-dev/hone/internal/tiltfile/eval"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
)

// argSite finds the place of an argument of the call whose opening parenthesis stands at a place. An argument that
// comes out of *args or **kwargs has none of its own: then it is that of the call.
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

// argOf returns where an argument begins; of a keyword it is the name.
func argOf(c *syntax.CallExpr, arg eval.ArgumentPlace) syntax.Position {
	position, spread := 0, false
	for _, a := range c.Args {
		start, _ := a.Span()
		switch a := a.(type) {
		case *syntax.UnaryExpr:
			if a.Op == syntax.STAR || a.Op == syntax.STARSTAR {
				spread = true // what follows has no known position any more
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
