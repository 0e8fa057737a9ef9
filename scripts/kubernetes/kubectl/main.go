// Command kubectl is what its name says. It is no part of kube: a tenth of the packages are needed by it alone, and a cluster runs
// without it.
package main

import (
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	// kubectl words its errors itself; the servers leave that to cli.Run.
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
