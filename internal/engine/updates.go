package engine

import (
	"github.com/hone-dev/hone/internal/loop/buildcontrol"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/internal/subscribers/buildcontroller"
	"github.com/hone-dev/hone/internal/update/buildanddeploy"
)

// Updates returns the requests for all updates that a session wants, including the updates that wait. A plan of the session is made
// from the same requests as the updates themselves.
func Updates(v store.View, o buildanddeploy.Request) (out []buildanddeploy.Request) {
	options := buildcontroller.Options{Namespace: o.Namespace, Adopt: o.Adopt, Reuse: o.Reuse, Recall: o.Recall, Env: o.Env}
	for _, c := range buildcontrol.Wanted(v) {
		out = append(out, buildcontroller.Asked(v, c, options))
	}
	return out
}
