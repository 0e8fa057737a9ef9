package dialect

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Program compiles a file. What may make or inspect a value of any size in one step becomes a call of a function that Universe
// has under a name that no program can write. The places of errors stay.
func Program(path, src string, isPredeclared func(string) bool) (*starlark.Program, error) {
	if err := fewDigitsIn(path, src); err != nil {
		return nil, err
	}
	f, err := Options.Parse(path, src, 0)
	if err != nil {
		return nil, err
	}
	if err := fewNested(f); err != nil {
		return nil, err
	}
	f.Stmts = rewriteBody(f.Stmts)
	return starlark.FileProgram(f, isPredeclared)
}

// fewDigitsIn refuses a number in a program that is too long to parse, at its place.
func fewDigitsIn(path, src string) error {
	line, column, run := int32(1), int32(0), 0
	for _, c := range []byte(src) {
		column++
		if c < '0' || c > '9' {
			run = 0
		} else if run++; run > MostDigits {
			at := syntax.MakePosition(&path, line, column-MostDigits)
			return syntax.Error{Pos: at, Msg: fmt.Sprintf("a number has more than %d digits", MostDigits)}
		}
		if c == '\n' {
			line, column = line+1, 0
		}
	}
	return nil
}

// rewriteBody returns what becomes of statements.
func rewriteBody(body []syntax.Stmt) (out []syntax.Stmt) {
	for _, s := range body {
		if assign, ok := s.(*syntax.AssignStmt); ok {
			out = append(out, rewriteAssign(assign)...)
			continue
		}
		rewriteStmt(s)
		out = append(out, s)
	}
	return out
}

func rewriteStmt(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.DefStmt:
		rewriteEach(s.Params)
		s.Body = rewriteBody(s.Body)
	case *syntax.ExprStmt:
		rewrite(&s.X)
	case *syntax.IfStmt:
		rewrite(&s.Cond)
		s.True = rewriteBody(s.True)
		s.False = rewriteBody(s.False)
	case *syntax.ForStmt:
		rewrite(&s.Vars, &s.X)
		s.Body = rewriteBody(s.Body)
	case *syntax.WhileStmt:
		rewrite(&s.Cond)
		s.Body = rewriteBody(s.Body)
	case *syntax.ReturnStmt:
		rewrite(&s.Result)
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
			if measured[x.Name.Name] {
				*at = call(x.NamePos, methodName, x)
			}
		case *syntax.CallExpr:
			rewrite(&x.Fn)
			rewriteEach(x.Args)
			rewriteArgs(x.Args)
		case *syntax.Comprehension:
			rewrite(&x.Body)
			for _, clause := range x.Clauses {
				rewriteClause(clause)
			}
		case *syntax.CondExpr:
			rewrite(&x.Cond, &x.True, &x.False)
		case *syntax.DictEntry:
			rewrite(&x.Key, &x.Value)
			guard(&x.Key, x.Colon, keyName)
		case *syntax.DictExpr:
			rewriteEach(x.List)
		case *syntax.IndexExpr:
			rewrite(&x.X, &x.Y)
			guard(&x.Y, x.Lbrack, keyName)
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
	if operators[x.Op] == nil || comparesLiteral(x) {
		return
	}
	*at = call(x.OpPos, x.Op.String(), x.X, x.Y)
}

// comparesLiteral reports whether an expression compares a value with a literal, which is one step at most.
func comparesLiteral(x *syntax.BinaryExpr) bool {
	return slices.Contains(comparisons, x.Op) && (isLiteral(x.X) || isLiteral(x.Y))
}

func isLiteral(x syntax.Expr) bool {
	_, ok := x.(*syntax.Literal)
	return ok
}

// rewriteArgs guards the sequences of arguments of a call, such as *args.
func rewriteArgs(args []syntax.Expr) {
	for _, arg := range args {
		if star, ok := arg.(*syntax.UnaryExpr); ok && star.Op == syntax.STAR {
			guard(&star.X, star.OpPos, argsName)
		}
	}
}

// guard puts a function of Universe around an expression that is no literal.
func guard(at *syntax.Expr, pos syntax.Position, name string) {
	if !isLiteral(*at) {
		*at = call(pos, name, *at)
	}
}

// call is a call of a function of Universe, at the place of the expression that it replaces.
func call(at syntax.Position, name string, args ...syntax.Expr) *syntax.CallExpr {
	return &syntax.CallExpr{Fn: identifier(at, name), Lparen: at, Args: args, Rparen: at}
}

func identifier(at syntax.Position, name string) *syntax.Ident {
	return &syntax.Ident{NamePos: at, Name: name}
}
