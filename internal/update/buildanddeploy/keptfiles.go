package buildanddeploy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/patience"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/deploy"
	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/pkg/model"
)

// A deploy of the image that a container runs already leaves the container as it is, with the files of updates in place. The pods of
// workloads that hone has applied are replaced with the apply (again.go). What a command of the user has applied is not hone's to change:
// there, hone deletes the pods that objects of the command control. Any other pod is left to the user, and the deploy fails.

// keeping returns the containers that have other files than an image which has not changed.
func (r Request) keeping(images map[string]model.ImageResult) []model.ContainerRef {
	return slices.DeleteFunc(slices.Clone(r.Overlaid), func(c model.ContainerRef) bool {
		now := images[c.Ref].Cluster
		return now == "" || now != r.Results[c.Ref].Cluster
	})
}

// replaceKept deletes the pods that a command of the user has left with other files than their image's, if the applied objects control
// them.
func (c *Cluster) replaceKept(ctx context.Context, req Request, images map[string]model.ImageResult, applied []model.AppliedObject) error {
	for _, kept := range req.keeping(images) {
		uid, err := c.podOf(ctx, kept)
		if err != nil {
			return err
		}
		if uid == "" {
			continue
		}
		err = c.replacePod(ctx, req, kept, uid, applied)
		if errors.Is(err, k8s.ErrForeignPod) {
			return keeps(kept, "none of the objects that the command printed controls it",
				fmt.Sprintf("hone trigger %s deploys from scratch, with delete_cmd and apply_cmd", req.Manifest.Name))
		}
		if err != nil {
			return err
		}
		logstore.Infof(req.Log, "Deleting pod %s: it has files that its image does not have, and its controller creates another one", kept.Pod)
	}
	return nil
}

// kept returns the problem of a pod that an apply has left with other files than its image's; nil if there is none.
func (c *Cluster) kept(ctx context.Context, req Request, images map[string]model.ImageResult, objects []*unstructured.Unstructured) error {
	for _, kept := range req.keeping(images) {
		why := ""
		if i := slices.IndexFunc(objects, func(u *unstructured.Unstructured) bool { return deploy.Runs(u, kept) }); i >= 0 {
			why = deploy.Stays(objects[i])
		} else if kept.Template == "" { // otherwise its template has changed, which replaces it
			why = "no workload that hone has applied controls it"
		}
		if why == "" {
			continue
		}
		uid, err := c.podOf(ctx, kept)
		if err != nil {
			return err
		}
		if uid != "" {
			return keeps(kept, why, fmt.Sprintf("kubectl -n %s delete pod %s, if its controller creates another one; then hone trigger %s",
				kept.Namespace, kept.Pod, req.Manifest.Name))
		}
	}
	return nil
}

func keeps(c model.ContainerRef, why, mend string) error {
	return problem.New(fmt.Sprintf("pod %s keeps files that its image does not have: %s", c.Pod, why), mend)
}

// replacePod deletes the pod of a container if one of the objects that a command has applied controls it.
func (c *Cluster) replacePod(ctx context.Context, req Request, ct model.ContainerRef, uid string, applied []model.AppliedObject) error {
	var owners []string
	for _, o := range applied {
		if made := o.UID == uid; !made && !req.Manifest.K8s.CustomDeploy.Attached() { // nothing creates a pod again that the command has made
			owners = append(owners, o.UID)
		}
	}
	defer patience.Tell(req.Log, "the cluster to delete pod "+ct.Pod)()
	err := c.removePod(ctx, k8s.RemovePodRequest{Namespace: ct.Namespace, Name: ct.Pod, UID: uid, Owners: owners})
	if k8s.IsNotFound(err) {
		return nil
	}
	return err
}

// podOf returns the UID of the pod of a container that still runs; empty if it has ended.
func (c *Cluster) podOf(ctx context.Context, ct model.ContainerRef) (uid string, err error) {
	u, err := c.dyn.Resource(podResource).Namespace(ct.Namespace).Get(ctx, ct.Pod, metav1.GetOptions{})
	if k8s.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look at pod %s: %w", ct.Pod, err)
	}
	pod, err := podFrom(u)
	if err != nil {
		return "", fmt.Errorf("look at pod %s: %w", ct.Pod, err)
	}
	if _, ended := end(pod, ct); ended {
		return "", nil
	}
	return string(pod.UID), nil
}
