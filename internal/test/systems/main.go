// Command systems checks the types of this module's programs for other operating systems and processors, without compiling. For
// every GOOS/GOARCH of its arguments it reads the packages of this module from their source, and only the declarations of other
// modules. A compilation of all dependencies takes minutes for each system and would find no more mistakes in this module. A
// release (scripts/release) shows whether they compile and link. systems prints the mistakes, and fails at the first system that
// has some.
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	for _, system := range os.Args[1:] {
		if err := check(system); err != nil {
			fmt.Fprintf(os.Stderr, "check the types for %s: %v\n", system, err)
			os.Exit(1)
		}
	}
}

// check checks the packages of cmd/hone on a system, given as GOOS/GOARCH.
func check(system string) error {
	goos, goarch, ok := strings.Cut(system, "/")
	if !ok {
		return fmt.Errorf("%q is not GOOS/GOARCH", system)
	}
	env := append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	program, err := packages.Load(&packages.Config{Env: env,
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedModule}, "./cmd/hone")
	if err != nil {
		return err
	}
	var ours []string
	for p := range packages.Postorder(program) {
		if p.Module != nil && p.Module.Main {
			ours = append(ours, p.PkgPath)
		}
	}
	// The loader reads the bodies of functions only for packages that are named.
	checked, err := packages.Load(&packages.Config{Env: env,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo}, ours...)
	if err != nil {
		return err
	}
	mistakes := 0
	for _, p := range append(checked, program...) {
		for _, e := range p.Errors {
			fmt.Fprintln(os.Stderr, e)
			mistakes++
		}
	}
	if mistakes > 0 {
		return fmt.Errorf("%d mistakes", mistakes)
	}
	fmt.Printf("   %s, %d packages\n", system, len(checked))
	return nil
}
