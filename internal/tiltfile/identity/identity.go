// Package identity reads from a Tiltfile, without evaluating it, which project it belongs to and where the project's ledger is. Both must
// be known before the evaluation, and also when the evaluation fails.
package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"

	"go.starlark.net/syntax"

	"github.com/hone-dev/hone/internal/tiltfile/dialect"
)

// The calls that declare an identity.
const (
	ProjectCall = "project"
	LedgerCall  = "ledger_settings"
	ledgerArg   = "url"
)

// Identity is the identity that a Tiltfile declares. The zero value declares none.
type Identity struct {
	// Project is the name of the project.
	Project string
	// Ledger is the URL of the storage of its ledger.
	Ledger string
}

// Read reads the identity that a Tiltfile declares by calls at its top level, with texts as arguments. A file that does not exist declares
// none. ok is false if the file cannot be parsed: then its identity is unknown.
func Read(tiltfile string) (is Identity, ok bool, err error) {
	source, err := os.ReadFile(tiltfile)
	if errors.Is(err, fs.ErrNotExist) {
		return is, false, nil
	}
	if err != nil {
		return is, false, fmt.Errorf("read the Tiltfile: %w", err)
	}
	f, err := dialect.Options.Parse(tiltfile, source, 0)
	if err != nil {
		return is, false, nil //nolint:nilerr // the evaluation reports it with its place
	}
	for _, s := range f.Stmts {
		call, of := topCall(s)
		switch of {
		case ProjectCall:
			is.Project = textArg(call, "name")
		case LedgerCall:
			is.Ledger = textArg(call, ledgerArg)
		}
	}
	return is, true, nil
}

// topCall returns the call of a function that is a whole statement, and the name of the function.
func topCall(s syntax.Stmt) (*syntax.CallExpr, string) {
	e, ok := s.(*syntax.ExprStmt)
	if !ok {
		return nil, ""
	}
	call, ok := e.X.(*syntax.CallExpr)
	if !ok {
		return nil, ""
	}
	name, ok := call.Fn.(*syntax.Ident)
	if !ok {
		return nil, ""
	}
	return call, name.Name
}

// textArg returns the first argument of a call, which may be given by name; empty if it is not a text as it stands.
func textArg(call *syntax.CallExpr, name string) string {
	if len(call.Args) == 0 {
		return ""
	}
	arg := call.Args[0]
	if named, ok := arg.(*syntax.BinaryExpr); ok && named.Op == syntax.EQ {
		if id, ok := named.X.(*syntax.Ident); !ok || id.Name != name {
			return ""
		}
		arg = named.Y
	}
	if text, ok := arg.(*syntax.Literal); ok {
		value, _ := text.Value.(string)
		return value
	}
	return ""
}

// names are the names of projects: values of labels, and parts of the names of documents.
var names = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)

// generated are the IDs of projects without a name.
var generated = regexp.MustCompile(`^[0-9a-f]{12}$`)

// CheckName returns an error for a text that cannot name a project.
func CheckName(name string) error {
	if !names.MatchString(name) || generated.MatchString(name) {
		return fmt.Errorf("%q cannot name a project: use at most 40 lower-case letters, digits and -", name)
	}
	return nil
}
