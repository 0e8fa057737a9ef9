package buildanddeploy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// hone does not build the images of containers that a custom deploy selects by name or image. A changed file gets into such a container
// in one of two ways: by a copy, or by the command, which then changes the workload. Nothing says whether the command has brought a file, so
// every new container gets all files in place (Request.copies): where the file is there already, nothing is sent.
//
// That may be the way that has just failed (Request.FellBack). If the command has changed its workloads, hone believes that it has brought the
// files. Otherwise (Request.left), hone deletes the pods that have files of earlier updates: the next pod gets all files at once. In a pod
// without such files the same would happen again, so the deploy fails, until something changes.

// copies reports whether the containers of a custom deploy get changed files in place, whatever the command does.
func (r Request) copies() bool {
	_, _, selects := r.Manifest.LiveUpdateOf("")
	return selects && r.Mode.InPlace()
}

// left reports whether the command has left one of its workloads, as far as the applied objects tell.
func (r Request) left(applied []model.AppliedObject) bool {
	before := map[string]int64{}
	for _, o := range r.Applied {
		before[o.UID] = o.Generation
	}
	telling := telling(applied)
	left := len(telling) == 0
	for _, o := range telling {
		generation, known := before[o.UID]
		left = left || known && generation == o.Generation
	}
	return left
}

// telling returns the objects whose generations tell whether pods are replaced: the built-in workloads, or else all that count their changes.
func telling(applied []model.AppliedObject) (out []model.AppliedObject) {
	for _, o := range applied {
		if o.RunsPods() {
			out = append(out, o)
		}
	}
	if len(out) > 0 {
		return out
	}
	return slices.DeleteFunc(slices.Clone(applied), func(o model.AppliedObject) bool { return o.Generation == 0 })
}

// replaceLeft deletes the pods that a command has left, and that have not taken in place the files that it cannot have brought.
func (c *Cluster) replaceLeft(ctx context.Context, req Request, applied []model.AppliedObject) error {
	if req.FellBack == "" || !req.copies() || !req.left(applied) {
		return nil
	}
	mend := fmt.Sprintf("let the apply command change the workload if the files have changed, or mend the cause; hone trigger %s deploys from scratch",
		req.Manifest.Name)
	for _, l := range req.Lacking {
		if len(l.Files) == 0 {
			continue
		}
		uid, err := c.podOf(ctx, l.ContainerRef)
		if err != nil {
			return err
		}
		if uid == "" {
			continue // it has ended
		}
		lacks := problem.New(fmt.Sprintf("pod %s lacks changed files, and the apply command has left its workload: %s", l.Pod, req.FellBack), mend)
		if l.New {
			return lacks
		}
		err = c.replacePod(ctx, req, l.ContainerRef, uid, applied)
		if errors.Is(err, k8s.ErrForeignPod) {
			return lacks
		}
		if err != nil {
			return err
		}
		logstore.Infof(req.Log, "Deleting pod %s: it did not take the changed files, and its controller creates another one", l.Pod)
	}
	return nil
}
