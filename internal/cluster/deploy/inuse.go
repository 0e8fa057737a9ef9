package deploy

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// commonKinds are the kinds that are checked for objects of others in a namespace.
var commonKinds = []schema.GroupKind{
	{Group: "apps", Kind: "Deployment"}, {Group: "apps", Kind: "StatefulSet"}, {Group: "apps", Kind: "DaemonSet"},
	{Group: "batch", Kind: "Job"}, {Group: "batch", Kind: "CronJob"}, {Kind: "Pod"}, {Kind: "Service"},
	{Kind: "ConfigMap"}, {Kind: "Secret"}, {Kind: "PersistentVolumeClaim"}, {Kind: "ServiceAccount"},
	{Group: "networking.k8s.io", Kind: "Ingress"},
}

// inUse names some of the objects that hone did not make and that would vanish with live, a namespace or a definition.
// It returns an empty string if there are none.
func (r *deleteRun) inUse(ctx context.Context, live *unstructured.Unstructured) (string, error) {
	var foreign []string
	look := func(gk schema.GroupKind, namespace string) error {
		names, err := r.foreign(ctx, gk, namespace)
		foreign = append(foreign, names...)
		return err
	}
	if gk, ok := definedKind(live); ok {
		err := look(gk, "")
		return summary(foreign), err
	}
	var errs []error
	for _, gk := range commonKinds {
		errs = append(errs, look(gk, live.GetName()))
	}
	return summary(foreign), errors.Join(errs...)
}

func summary(names []string) string {
	if len(names) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), len(names)-3)
	}
	return strings.Join(names, ", ")
}

// foreign returns the objects of a kind that neither this project nor Kubernetes itself made.
func (r *deleteRun) foreign(ctx context.Context, gk schema.GroupKind, namespace string) ([]string, error) {
	m, err := r.a.mapper.RESTMapping(gk)
	if meta.IsNoMatchError(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var list *unstructured.UnstructuredList
	err = bounded(ctx, r.req.Timeout, func(ctx context.Context) (err error) {
		list, err = r.a.dyn.Resource(m.Resource).Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: r.others()})
		return err
	})
	if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var names []string
	for i := range list.Items {
		if u := &list.Items[i]; !r.byproduct(gk, u) {
			names = append(names, title(IDOf(u)))
		}
	}
	return names, nil
}

// others returns a label selector for objects that are not the project's. All objects of the project carry its label;
// pods carry only hone's.
func (r *deleteRun) others() string {
	if r.req.Project == "" {
		return LabelManagedBy + "!=" + ManagedByHone
	}
	ids := append([]string{r.req.Project}, r.a.former...)
	return LabelProject + " notin (" + strings.Join(ids, ",") + ")"
}

// byproduct reports whether an object without hone's label was made automatically: it is owned by another object, made
// by Kubernetes for every namespace, or the claim of a StatefulSet that is deleted as well.
func (r *deleteRun) byproduct(gk schema.GroupKind, u *unstructured.Unstructured) bool {
	name := u.GetName()
	switch {
	case len(u.GetOwnerReferences()) > 0, u.GetDeletionTimestamp() != nil:
		return true
	case gk.Kind == "ConfigMap":
		return name == "kube-root-ca.crt"
	case gk.Kind == "ServiceAccount":
		return name == "default"
	case gk.Kind == "Secret":
		return text(u.Object, "type") == "kubernetes.io/service-account-token"
	case gk.Kind == "PersistentVolumeClaim":
		return r.claimedByStatefulSet(u)
	}
	return false
}

func (r *deleteRun) claimedByStatefulSet(claim *unstructured.Unstructured) bool {
	for _, set := range r.live {
		if set.GetKind() != "StatefulSet" || set.GetNamespace() != claim.GetNamespace() {
			continue
		}
		for _, t := range itemsOf(field(set.Object, "spec"), "volumeClaimTemplates") {
			if strings.HasPrefix(claim.GetName(), text(field(t, "metadata"), "name")+"-"+set.GetName()+"-") {
				return true
			}
		}
	}
	return false
}
