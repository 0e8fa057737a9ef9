package condition

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/client/objects"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

// declaredHere reports whether only the Tiltfile makes objects of a kind, so that its evaluation decides whether one can still come.
func declaredHere(k objects.Kind) bool {
	return k.GVR.Group == v1alpha1.Group && k.GVR.Resource == "uiresources"
}

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
// it. It returns nil while the Tiltfile is being evaluated, and for a wait for an object that a change of the Tiltfile is to declare.
func (s *sight) undeclared(ctx context.Context, tiltfile *unstructured.Unstructured) error {
	if tiltfile == nil {
		return nil
	}
	done, failed := finished(tiltfile)
	switch {
	case !done || failed == "" && s.wait.For.there:
		return nil
	case failed != "":
		summary, detail, _ := strings.Cut(strings.TrimSpace(failed), "\n")
		return &problem.Problem{Summary: fmt.Sprintf("there is no %s, because the Tiltfile has failed: %s", s.kind.Ref(s.name), summary), Detail: strings.TrimSpace(detail),
			Mend: fmt.Sprintf("fix the Tiltfile, which the session then evaluates again; hone logs '%s' shows its log", model.TiltfileName)}
	}
	_, err := s.wait.Client.Get(ctx, s.kind, s.name)
	if p, ok := problem.Of(err); ok {
		return problem.New(p.Summary, p.Mend+"\n--for=create waits until the Tiltfile declares it")
	}
	return err
}
