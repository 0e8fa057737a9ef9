package dialect

import (
	"fmt"

	"go.starlark.net/syntax"
)

// mostNested bounds how deep a program is nested. The parser refuses nested brackets, blocks and operators beyond 1000 levels, but
// not the parts of a row, which the parser nests as well: the branches of an if statement, the operands of x + x + …, calls and attributes of
// each other. Compiling these takes time that grows with the square of their number, or overflows the stack, which ends the
// session.
const mostNested = 2_000

// fewNested refuses a program that is nested too deep.
func fewNested(f *syntax.File) error {
	depth := 0
	var beyond syntax.Node
	syntax.Walk(f, func(n syntax.Node) bool {
		switch {
		case n == nil:
			depth--
		case beyond != nil:
			return false
		case depth == mostNested:
			beyond = n
			return false
		default:
			depth++
		}
		return true
	})
	if beyond == nil {
		return nil
	}
	return syntax.Error{Pos: place(beyond), Msg: fmt.Sprintf("there are more than %d branches, operators or calls in a row: use a list, a dictionary or a loop", mostNested)}
}

// place returns the position of a part of a program. It reads the position of the part's own token where it can: Span looks into nested
// parts, however deep they are.
func place(n syntax.Node) syntax.Position {
	switch n := n.(type) {
	case *syntax.IfStmt:
		return n.If
	case *syntax.BinaryExpr:
		return n.OpPos
	case *syntax.DotExpr:
		return n.Dot
	case *syntax.CallExpr:
		return n.Lparen
	case *syntax.IndexExpr:
		return n.Lbrack
	case *syntax.SliceExpr:
		return n.Lbrack
	}
	at, _ := n.Span()
	return at
}
