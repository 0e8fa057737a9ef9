package shell

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/api"
)

// inPod runs in a container of the session's cluster.
func (w *work) inPod(ctx context.Context, c api.ShellContainer, cluster api.ShellCluster) error {
	kube, err := w.connect(cluster)
	if err != nil {
		return err
	}
	defer func() { _ = kube.Close() }()
	s, err := w.open(ctx)
	if err != nil {
		return err
	}
	where := title(c)
	w.greet(s, where)
	err = kube.Exec(ctx, k8s.ExecRequest{Namespace: c.Namespace, Pod: c.Pod, Container: c.Container, Argv: w.or("sh", "-c", shellScript),
		Stdin: s.in, Stdout: s.out, Stderr: s.err, TTY: s.tty, Sizes: s.sizes})
	var exit *k8s.ExitError
	ended := errors.As(err, &exit)
	s.close(err == nil || ended)
	switch {
	case err == nil:
		return nil
	case ended && exit.Message != "":
		return w.missing(where, fmt.Sprintf("run one beside it: kubectl debug -n %s %s -it --image=busybox --target=%s", c.Namespace, c.Pod, c.Container), exit.Code)
	case ended:
		return w.exited(exit.Code, where)
	case k8s.IsNotFound(err):
		return problem.Wrap(err, "pod "+c.Pod+" is gone", fmt.Sprintf("hone shell %s connects to its replacement", w.at.Resource))
	}
	return w.lost(err, where)
}

// connect connects to the session's cluster, with the session's own kubeconfig if that is on this machine.
func (w *work) connect(cluster api.ShellCluster) (*k8s.Client, error) {
	config := k8s.Config{Context: cluster.Context}
	if w.here {
		config.Kubeconfig = cluster.Kubeconfig
	}
	k8s.RouteKlog(slog.New(slog.DiscardHandler)) // its messages would end up in the user's terminal
	kc, err := k8s.Load(config)
	if err != nil {
		return nil, err
	}
	if known := kc.Cluster(); known.Server != cluster.Server {
		return nil, problem.New(fmt.Sprintf("context %q is the cluster at %s here, and the one at %s in the session", cluster.Context, known.Server, cluster.Server),
			"set KUBECONFIG to the file that the session uses")
	}
	return kc.Connect()
}
