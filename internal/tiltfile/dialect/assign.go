package dialect

import "go.starlark.net/syntax"

// The variables that hold the parts of the target of an assignment such as a[i] *= y.
const (
	heldValue = ".value"
	heldKey   = ".key"
)

// rewriteAssign returns what becomes of an assignment. The interpreter carries out x *= y itself, since a list changes in
// place; so the function of the operator checks both operands first, which reads x twice. The parts of another target than a
// variable are evaluated once: a[i] *= y becomes three statements.
func rewriteAssign(s *syntax.AssignStmt) []syntax.Stmt {
	rewrite(&s.LHS, &s.RHS)
	if s.Op == syntax.EQ || operators[s.Op-syntax.PLUS_EQ+syntax.PLUS] == nil {
		return []syntax.Stmt{s}
	}
	var out []syntax.Stmt
	hold := func(at *syntax.Expr, pos syntax.Position, name string) {
		out = append(out, &syntax.AssignStmt{OpPos: pos, Op: syntax.EQ, LHS: identifier(pos, name), RHS: *at})
		*at = identifier(pos, name)
	}
	switch target := s.LHS.(type) {
	case *syntax.IndexExpr:
		hold(&target.X, target.Lbrack, heldValue)
		hold(&target.Y, target.Lbrack, heldKey)
	case *syntax.DotExpr:
		hold(&target.X, target.Dot, heldValue)
	}
	s.RHS = call(s.OpPos, s.Op.String(), reading(s.LHS), s.RHS)
	return append(out, s)
}

// reading is an expression for the value of a target.
func reading(target syntax.Expr) syntax.Expr {
	switch x := target.(type) {
	case *syntax.Ident:
		return identifier(x.NamePos, x.Name)
	case *syntax.IndexExpr:
		return &syntax.IndexExpr{X: reading(x.X), Lbrack: x.Lbrack, Y: reading(x.Y), Rbrack: x.Rbrack}
	case *syntax.DotExpr:
		return &syntax.DotExpr{X: reading(x.X), Dot: x.Dot, NamePos: x.NamePos, Name: x.Name}
	}
	return target
}
