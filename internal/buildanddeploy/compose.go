package buildanddeploy

import (
	"context"
	"fmt"

	"github.com/hone-dev/hone/internal/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// Compose answers for the services of Docker Compose projects.
type Compose struct{}

var _ BuildAndDeployer = Compose{}

// Name implements BuildAndDeployer.
func (Compose) Name() string { return "compose" }

// BuildAndDeploy implements BuildAndDeployer. It starts nothing: the error is a problem that says so, and how to start the
// service without hone.
func (Compose) BuildAndDeploy(_ context.Context, req Request) (Result, error) {
	t := req.Manifest.Compose
	if t == nil {
		return Result{}, &Declined{}
	}
	argv := []string{"docker", "compose", "-p", t.Project.Name}
	for _, f := range t.Project.Files {
		if f.Path != "" {
			argv = append(argv, "-f", f.Path)
		}
	}
	mend := fmt.Sprintf("start it beside hone: %s\nor leave docker_compose out of the Tiltfile", model.Cmd{Argv: append(argv, "up", "-d", t.Service)})
	return Result{}, problem.New(fmt.Sprintf("hone does not run Compose services yet, so service %q is not started", t.Service), mend)
}
