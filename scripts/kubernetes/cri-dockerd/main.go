// Command cri-dockerd lets a kubelet run its pods on a Docker engine: it answers the kubelet's runtime interface (CRI) and
// does what is asked with the engine's API.
//
// It is a module of its own, not a part of kube, because it is written against Kubernetes 1.29, whose packages have since
// changed. CRI itself has not, so the newer kubelet works with it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/Mirantis/cri-dockerd/cmd"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := cmd.NewDockerCRICommand(ctx.Done()).Execute(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
