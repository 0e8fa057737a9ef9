// Command hone keeps a Kubernetes cluster in step with a source tree.
package main

import (
	"os"

	"github.com/hone-dev/hone/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
