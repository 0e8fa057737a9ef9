package dialect

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Program compiles a file. Operators and methods that may make a value of any size in one step become calls of the functions
// that Universe has under names that no program can write. The places of errors stay.
func Program(path, src string, isPredeclared func(string) bool) (*starlark.Program, error) {
	f, err := Options.Parse(path, src, 0)
	if err != nil {
		return nil, err
	}
	rewriteAll(f.Stmts, rewriteStmt)
	return starlark.FileProgram(f, isPredeclared)
}

func rewriteStmt(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.AssignStmt:
		rewriteAssign(s)
	case *syntax.DefStmt:
		rewriteEach(s.Params)
		rewriteAll(s.Body, rewriteStmt)
	case *syntax.ExprStmt:
		rewrite(&s.X)
	case *syntax.IfStmt:
		rewrite(&s.Cond)
		rewriteAll(s.True, rewriteStmt)
		rewriteAll(s.False, rewriteStmt)
	case *syntax.ForStmt:
		rewrite(&s.Vars, &s.X)
		rewriteAll(s.Body, rewriteStmt)
	case *syntax.WhileStmt:
		rewrite(&s.Cond)
		rewriteAll(s.Body, rewriteStmt)
	case *syntax.ReturnStmt:
		rewrite(&s.Result)
	}
}

// rewriteAssign has the function of an operator check both operands of an assignment such as x *= y, which the interpreter
// carries out itself: a list changes in place. Other targets than variables are not checked, since evaluating them twice
// might have effects.
func rewriteAssign(s *syntax.AssignStmt) {
	rewrite(&s.LHS, &s.RHS)
	target, ok := s.LHS.(*syntax.Ident)
	if ok && operators[s.Op-syntax.PLUS_EQ+syntax.PLUS] != nil {
		s.RHS = call(s.OpPos, s.Op.String(), &syntax.Ident{NamePos: target.NamePos, Name: target.Name}, s.RHS)
	}
}

func rewriteAll[N any](nodes []N, each func(N)) {
	for _, n := range nodes {
		each(n)
	}
}

func rewriteEach(list []syntax.Expr) {
	for i := range list {
		rewrite(&list[i])
	}
}

// rewrite replaces expressions by what Program makes of them. Absent ones stay absent.
func rewrite(places ...*syntax.Expr) {
	for _, at := range places {
		switch x := (*at).(type) {
		case *syntax.BinaryExpr:
			rewriteBinary(at, x)
		case *syntax.DotExpr:
			rewrite(&x.X)
			if methods[x.Name.Name] != nil {
				*at = call(x.NamePos, guardName, x)
			}
		case *syntax.CallExpr:
			rewrite(&x.Fn)
			rewriteEach(x.Args)
		case *syntax.Comprehension:
			rewrite(&x.Body)
			rewriteAll(x.Clauses, rewriteClause)
		case *syntax.CondExpr:
			rewrite(&x.Cond, &x.True, &x.False)
		case *syntax.DictEntry:
			rewrite(&x.Key, &x.Value)
		case *syntax.DictExpr:
			rewriteEach(x.List)
		case *syntax.IndexExpr:
			rewrite(&x.X, &x.Y)
		case *syntax.LambdaExpr:
			rewriteEach(x.Params)
			rewrite(&x.Body)
		case *syntax.ListExpr:
			rewriteEach(x.List)
		case *syntax.ParenExpr:
			rewrite(&x.X)
		case *syntax.SliceExpr:
			rewrite(&x.X, &x.Lo, &x.Hi, &x.Step)
		case *syntax.TupleExpr:
			rewriteEach(x.List)
		case *syntax.UnaryExpr:
			rewrite(&x.X)
		}
	}
}

func rewriteClause(clause syntax.Node) {
	switch c := clause.(type) {
	case *syntax.ForClause:
		rewrite(&c.Vars, &c.X)
	case *syntax.IfClause:
		rewrite(&c.Cond)
	}
}

// rewriteBinary rewrites an operator or, where it needs no bound, its operands only.
func rewriteBinary(at *syntax.Expr, x *syntax.BinaryExpr) {
	rewrite(&x.X, &x.Y)
	if operators[x.Op] != nil {
		*at = call(x.OpPos, x.Op.String(), x.X, x.Y)
	}
}

// call is a call of a function of Universe, at the place of the expression that it replaces.
func call(at syntax.Position, name string, args ...syntax.Expr) *syntax.CallExpr {
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: at, Name: name}, Lparen: at, Args: args, Rparen: at}
}
