package tiltfile

import (
	"go.starlark.net/syntax"
)

// argSite finds the place of an argument of the call whose opening parenthesis stands at a place. An argument that
// comes out of *args or **kwargs has none of its own: then it is that of the call.
func argSite(path, src string, call site, arg argPlace) site {
	f, err := dialect.Parse(path, src, 0)
	if err != nil || arg == noArg {
		return call
	}
	found := call
	syntax.Walk(f, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && siteOf(c.Lparen) == call {
			if at := argOf(c, arg); at.Line > 0 {
				found = siteOf(at)
			}
		}
		return true
	})
	return found
}

// argOf returns where an argument begins; of a keyword it is the name.
func argOf(c *syntax.CallExpr, arg argPlace) syntax.Position {
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
			if name, ok := a.X.(*syntax.Ident); ok && name.Name == arg.keyword {
				return start
			}
			continue
		}
		if arg.keyword == "" && !spread && position == arg.position {
			return start
		}
		position++
	}
	return syntax.Position{}
}
