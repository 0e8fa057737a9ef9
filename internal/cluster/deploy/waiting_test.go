package deploy

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/pkg/model"
)

// objectFrom reads one object from YAML.
func objectFrom(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return u
}

func named(kind, name string) target {
	return target{id: model.ObjectID{Kind: kind, Namespace: "dev", Name: name}}
}

// TestTellsCalmly checks that objects that go within two seconds are not logged, that changes are logged only after a
// pause, and that a long wait is repeated periodically.
func TestTellsCalmly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		log := &timedLog{began: began}
		var w waits
		end := w.telling(t.Context(), log)
		w.set(named("ConfigMap", "quick"), nil)
		time.Sleep(logstore.SayAfter - time.Millisecond)
		w.done(named("ConfigMap", "quick"))
		for _, n := range []string{"a", "b", "c", "d", "e"} {
			w.set(named("Pod", n), nil)
		}
		shop := objectFrom(t, "{apiVersion: v1, kind: Namespace, status: {conditions: [{type: NamespaceContentRemaining, status: 'True', message: pods. has 2}]}}")
		w.set(named("Namespace", "shop"), shop)
		time.Sleep(logstore.SayAfter + 100*time.Millisecond)
		for _, n := range []string{"a", "b", "c"} {
			w.done(named("Pod", n))
		}
		time.Sleep(3 * logstore.SayAgain)
		w.done(named("Pod", "d"))
		w.done(named("Pod", "e"))
		w.done(named("Namespace", "shop"))
		time.Sleep(time.Hour)
		end()
		want := `4s Waiting until gone: namespace/shop (pods. has 2), pod/a, pod/b, pod/c and 2 more
9s Waiting until gone: namespace/shop (pods. has 2), pod/d, pod/e
39s Waiting until gone: namespace/shop (pods. has 2), pod/d, pod/e (for 37s now)
1m9s Waiting until gone: namespace/shop (pods. has 2), pod/d, pod/e (for 1m7s now)
`
		if diff := cmp.Diff(want, log.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestTellsSteps checks that steps are named that take long, beside the objects that are awaited.
func TestTellsSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &timedLog{began: time.Now()}
		var w waits
		end := w.telling(t.Context(), log)
		w.step("the quick one")()
		over := w.step("the down command of db")
		time.Sleep(logstore.SayAfter + sayPause)
		w.set(named("Pod", "a"), nil)
		time.Sleep(sayPause)
		over()
		time.Sleep(sayPause)
		w.done(named("Pod", "a"))
		time.Sleep(time.Hour)
		end()
		want := `2s Waiting for the down command of db
9s Waiting for the down command of db; Waiting until gone: pod/a
14s Waiting until gone: pod/a
`
		if diff := cmp.Diff(want, log.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestTellsWhatToDoAboutFinalizers once per object, after a long wait.
func TestTellsWhatToDoAboutFinalizers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &timedLog{began: time.Now()}
		var w waits
		end := w.telling(t.Context(), log)
		w.set(named("ConfigMap", "conf"), objectFrom(t, "{apiVersion: v1, kind: ConfigMap, metadata: {finalizers: [a/b]}}"))
		time.Sleep(mendAfter + sayPause)
		end()
		want := `2s Waiting until gone: configmap/conf (finalizers [a/b])
warn: 15s configmap/conf is still there after 15s: finalizers [a/b]
warn:   see what its controller waits for: kubectl describe -n dev configmap conf
warn:   if that controller is gone for good: kubectl patch -n dev configmap conf --type=merge -p '{"metadata":{"finalizers":null}}'
warn:   more: hone docs troubleshooting
`
		if diff := cmp.Diff(want, log.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestHolding(t *testing.T) {
	now, err := time.Parse(time.RFC3339, "2024-05-01T10:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"{kind: ConfigMap}": "",
		"{kind: ConfigMap, metadata: {finalizers: [a/b, c/d]}}":                                                                    "finalizers [a/b c/d]",
		"{kind: Deployment, metadata: {finalizers: [foregroundDeletion]}}":                                                         "what it owns goes first",
		"{kind: Deployment, metadata: {finalizers: [foregroundDeletion, a/b]}}":                                                    "finalizers [a/b]",
		"{kind: Pod, metadata: {deletionGracePeriodSeconds: 0}}":                                                                   "",
		"{kind: Namespace, spec: {finalizers: [kubernetes]}}":                                                                      "",
		"{kind: ConfigMap, metadata: {deletionTimestamp: '2024-05-01T09:00:00Z'}}":                                                 "",
		"{kind: Pod, metadata: {deletionGracePeriodSeconds: 30, deletionTimestamp: '2024-05-01T10:00:20Z'}}":                       "it has 30 s to end",
		"{kind: Pod, metadata: {deletionGracePeriodSeconds: 30, deletionTimestamp: '2024-05-01T09:59:30Z'}, spec: {nodeName: n1}}": "its 30 s to end are over, and node n1 has not reported its end",
		"{kind: Namespace, status: {conditions: [{type: NamespaceContentRemaining, status: 'True', message: 'pods. has 1'}, {type: NamespaceDeletionContentFailure, status: 'False', message: fine}]}}": "pods. has 1",
	} {
		if got := holding(objectFrom(t, "{apiVersion: v1, "+text[1:]), now); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// timedLog records log lines with their times.
type timedLog struct {
	recorder
	began time.Time
}

func (l *timedLog) Write(level logstore.Level, text string) {
	l.recorder.Write(level, time.Since(l.began).Round(time.Second).String()+" "+strings.TrimSuffix(text, "\n")+"\n")
}
