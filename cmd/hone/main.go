// Command hone keeps a Kubernetes cluster in step with a source tree.
package main

import (
	"os"

	"github.com/hone-dev/hone/internal/cli"
	"github.com/hone-dev/hone/internal/cli/crash"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, crash.Stderr())) }
