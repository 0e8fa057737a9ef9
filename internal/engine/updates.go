package engine

import (
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/subscribers/buildcontroller"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
)

// Updates returns the updates that a session wants, whether they may begin now or wait for something, as they would begin: a plan of the
// session shows what the session would do.
func Updates(v store.View, o buildanddeploy.Request) (out []buildanddeploy.Request) {
	options := buildcontroller.Options{Namespace: o.Namespace, Adopt: o.Adopt, Reuse: o.Reuse, Env: o.Env}
	for _, c := range buildcontrol.Wanted(v) {
		out = append(out, buildcontroller.Asked(v, c, options))
	}
	return out
}
