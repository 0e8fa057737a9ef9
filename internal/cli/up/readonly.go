package up

import (
	"context"
	"path/filepath"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/opened"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/k8s/readonly"
	"github.com/hone-dev/hone/pkg/api"
)

// makeKubeconfig makes a kubeconfig that reads some namespaces, and those of the project by default.
type makeKubeconfig func(ctx context.Context, namespaces []string, lasting time.Duration) (api.Kubeconfig, error)

// provideReadOnly returns nil for a session without a cluster. The created objects are deleted at the session's end.
func provideReadOnly(ctx context.Context, kube *k8s.Client, p *opened.Project) (makeKubeconfig, func()) {
	if kube == nil {
		return nil, func() {}
	}
	access := readonly.New(kube, readOnlyDir())
	end := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit/6)
		defer cancel()
		if err := access.Remove(ctx); err != nil {
			p.Debug.Warn("the read-only account is left to the next session", "error", err)
		}
	}
	return func(ctx context.Context, namespaces []string, lasting time.Duration) (api.Kubeconfig, error) {
		if len(namespaces) == 0 {
			namespaces = []string{p.Namespace}
		}
		return access.Kubeconfig(ctx, namespaces, lasting)
	}, end
}

// sweepReadOnly deletes the read-only accounts of sessions that were killed. It asks the cluster only if there are any.
func sweepReadOnly(ctx context.Context, p *opened.Project, log logstore.Logger) {
	kube, err := p.Kube()
	if err != nil || kube == nil {
		return
	}
	if err := readonly.Sweep(ctx, kube, readOnlyDir()); err != nil && ctx.Err() == nil {
		logstore.Warnf(log, "WARNING: the read-only account of a session that was killed could not be deleted: %v", err)
	}
}

// readOnlyDir returns the folder for the notes about read-only accounts.
func readOnlyDir() string { return filepath.Join(command.StateDir(), "read-only") }
