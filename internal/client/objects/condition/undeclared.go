package condition

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client/objects"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

// declaredKinds are the kinds of objects that exist once the Tiltfile is evaluated, or not at all. The value reports whether hone create
// makes such objects, too.
var declaredKinds = map[string]bool{
	"uiresources." + v1alpha1.Group: false, "togglebuttons." + v1alpha1.Group: false, "portforwards." + v1alpha1.Group: false,
	"imagemaps." + v1alpha1.Group: false, "dockerimages." + v1alpha1.Group: false, "cmdimages." + v1alpha1.Group: false,
	"dockercomposeservices." + v1alpha1.Group: false, "liveupdates." + v1alpha1.Group: false,
	"kubernetesapplies." + v1alpha1.Group: false, "kubernetesdiscoveries." + v1alpha1.Group: false,
	"updates." + tableGroup: false, "resources." + tableGroup: false,
	"cmds." + v1alpha1.Group: true, "filewatches." + v1alpha1.Group: true, "uibuttons." + v1alpha1.Group: true,
	"configmaps." + v1alpha1.Group: true, "extensions." + v1alpha1.Group: true, "extensionrepos." + v1alpha1.Group: true,
}

// tableGroup is the group of the kinds that show the tables of the session.
const tableGroup = "hone.dev"

// declared reports whether the evaluation of the Tiltfile decides whether the object exists.
func (s *sight) declared() bool {
	_, is := declaredKinds[s.kind.String()]
	return is && !s.wait.For.Gone()
}

// mayBeCreated reports whether the wait is for an object that a user may still create.
func (s *sight) mayBeCreated() bool { return s.wait.For.there && declaredKinds[s.kind.String()] }

// finished returns whether the Tiltfile is evaluated, and no evaluation is about to begin; failed is the error of the evaluation.
func finished(tiltfile *unstructured.Unstructured) (done bool, failed string) {
	if is, _ := failure.conditionMet(tiltfile); is {
		m, _ := conditionOf(tiltfile, failure.name)
		return true, text(m, "message")
	}
	done, _ = Condition{name: v1alpha1.UIResourceUpToDate, status: "true"}.conditionMet(tiltfile)
	return done, ""
}

// undeclared returns the problem that the object does not exist and cannot come by itself: the Tiltfile has failed, or does not declare
// it. It returns nil while the Tiltfile is being evaluated, and for a wait for an object that is to be declared or created. Then
// version is the one after which the Tiltfile may decide.
func (s *sight) undeclared(ctx context.Context) (version string, err error) {
	resources, err := s.resources()
	if err != nil {
		return "", err
	}
	found, err := s.wait.Client.Fetch(ctx, resources, objects.Whole)
	if err != nil {
		return "", err
	}
	tiltfile := named(found.Objects, string(model.TiltfileName))
	if tiltfile == nil || named(found.Objects, s.name) != nil {
		return found.Version, nil // a part of a resource comes when the resource is enabled
	}
	done, failed := finished(tiltfile)
	decided := done && !s.wait.For.there
	if failed != "" {
		decided = !s.mayBeCreated()
	}
	if !decided {
		return found.Version, nil
	}
	_, err = s.wait.Client.Get(ctx, s.kind, s.name)
	p, ok := problem.Of(err)
	switch {
	case !ok:
		return "", err // it has come in between
	case failed == "":
		return "", problem.New(p.Summary, p.Mend+"\n--for=create waits until it exists")
	}
	summary, detail, _ := strings.Cut(strings.TrimSpace(failed), "\n")
	return "", &problem.Problem{Summary: fmt.Sprintf("there is no %s, because the Tiltfile has failed: %s", s.kind.Ref(s.name), summary), Detail: strings.Trim(detail, "\n"),
		Mend: fmt.Sprintf("fix the Tiltfile, which the session then evaluates again; hone logs '%s' shows its log", model.TiltfileName)}
}

// resources selects all resources: the Tiltfile is one of them.
func (s *sight) resources() (t objects.Target, err error) {
	t.Kind, err = s.wait.Client.Kind("uiresources." + v1alpha1.Group)
	return t, err
}

// untilTiltfile returns a context that ends when the state of the Tiltfile changes after a version, or when over is called.
func (s *sight) untilTiltfile(ctx context.Context, version string) (until context.Context, over func()) {
	until, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer cancel()
		resources, err := s.resources()
		if err != nil {
			return
		}
		resources.Fields = fields.OneTermEqualSelector("metadata.name", string(model.TiltfileName)).String()
		for range s.wait.Client.Watch(until, resources, version, objects.Whole) { //nolint:errcheck // the next list reports the error
			return
		}
	}()
	return until, func() {
		cancel()
		<-ended
	}
}
