package k8s

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

func TestTrouble(t *testing.T) {
	kind := schema.GroupResource{Group: "apps", Resource: "deployments"}
	forbidden := apierrors.NewForbidden(kind, "", errors.New(`User "dev" cannot list resource "deployments"`))
	down := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	broken := errors.New("internal error")
	list, watch := attempt{"list", "ns"}, attempt{"watch", "ns"}
	type step struct {
		after time.Duration
		what  attempt
		err   error
	}
	no, said := `cannot watch deployments.apps in namespace "ns"`, "nil"
	for _, tt := range []struct {
		name  string
		steps []step
		want  []string
	}{
		{"nothing", []step{{0, list, nil}, {0, watch, nil}}, nil},
		{"forbidden, allowed", []step{{0, list, forbidden}, {0, list, forbidden}, {0, list, nil}, {0, watch, nil}}, []string{no, said}},
		{"only to watch is forbidden", []step{{0, list, nil}, {0, watch, forbidden}, {0, list, nil}, {0, watch, forbidden}, {0, watch, nil}}, []string{no, said}},
		{"a blip", []step{{0, list, broken}, {5 * time.Second, list, broken}, {0, list, nil}}, nil},
		{"no blip", []step{{0, list, broken}, {troubleAfter, list, broken}, {0, list, fmt.Errorf("other words")}, {0, list, nil}}, []string{no, said}},
		{"no cluster", []step{{0, list, down}, {time.Minute, list, down}}, nil},
		{"no cluster while forbidden", []step{{0, list, forbidden}, {0, list, down}, {0, list, nil}}, []string{no, said}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			c := known(model.Cluster{})
			tr := c.newTrouble(WatchRequest{OnTrouble: func(err error) {
				p, ok := problem.Of(err)
				switch {
				case err == nil:
					got = append(got, "nil")
				case ok && p.Mend != "":
					got = append(got, p.Summary)
				default:
					t.Errorf("told %v, which is no problem with a mend", err)
				}
			}}, kind.Group, kind.Resource)
			now := time.Unix(1, 0)
			tr.now = func() time.Time { return now }
			for _, s := range tt.steps {
				now = now.Add(s.after)
				tr.note(s.what, s.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
	want := `Ask an administrator of the cluster to allow it; hone then continues automatically:
kubectl create role watch-deployments-apps -n ns --verb=get,list,watch --resource=deployments.apps
kubectl create rolebinding watch-deployments-apps -n ns --role=watch-deployments-apps --user=dev`
	if diff := cmp.Diff(want, CannotWatch(forbidden, kind, "ns").Mend); diff != "" {
		t.Errorf("mend (-want +got):\n%s", diff)
	}
}
