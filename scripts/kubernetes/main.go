// Command kube is every part of a small Kubernetes cluster in one binary: the first argument names the part to be.
//
// Kubernetes publishes its programs as downloads only, but their code is in ordinary Go modules, so a machine that can
// build Go can build a cluster. One binary rather than five because nearly all of their code is shared.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// parts are constructors, not commands: building a command registers flags and feature gates in globals that the
// other parts would register again.
var parts = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllermanager.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kube-proxy":              proxy.NewProxyCommand,
	"kubelet":                 func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
	"dns":                     newDNSCommand,
	"pods":                    newPodsCommand,
}

func main() {
	if len(os.Args) < 2 || parts[os.Args[1]] == nil {
		fmt.Fprintf(os.Stderr, "usage: kube PART [FLAGS]\nparts: %s\n", strings.Join(names(), " "))
		os.Exit(2)
	}
	part := os.Args[1]
	// The parts read os.Args themselves, in places where no cobra setting reaches.
	os.Args = append([]string{part}, os.Args[2:]...)
	os.Exit(cli.Run(parts[part]()))
}

func names() []string {
	var all []string
	for name := range parts {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
