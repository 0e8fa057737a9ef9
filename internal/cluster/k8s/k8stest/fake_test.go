package k8stest_test

import (
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/cluster/k8s"
	"github.com/hone-dev/hone/internal/cluster/k8s/k8stest"
	"github.com/hone-dev/hone/pkg/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFakeConformance(t *testing.T) { k8stest.Conformance(t, fakeFixture) }

func fakeFixture(t *testing.T) k8stest.Fixture {
	const ns = "test"
	f := k8stest.New()
	t.Cleanup(func() { _ = f.Close() })
	f.OnExec(k8stest.Emulate)
	f.OnDial(func(pod string, port int) func(net.Conn) {
		if port != k8stest.EchoPort {
			return nil
		}
		return k8stest.Echo(pod, port)
	})
	return k8stest.Fixture{
		Client:    f,
		Namespace: ns,
		StartPod: func(_ *testing.T, name string) {
			e := k8stest.RunningPod(ns, name)
			e.Labels = map[string]string{"app": name}
			f.SetPod(e)
		},
		DeletePod: func(_ *testing.T, name string) { f.DeletePod(ns, name) },
		Say:       func(_ *testing.T, pod, line string) { f.AppendLog(ns, pod, "main", time.Now(), line) },
		AddService: func(_ *testing.T, name string) {
			f.SetService(k8s.ServiceEvent{Service: model.Service{Namespace: ns, Name: name, UID: "u", URL: "http://localhost:1/"}})
		},
		AddConfigMap: func(_ *testing.T, name string) {
			f.SetObject("v1", "ConfigMap", k8s.ObjectEvent{Status: model.ObjectStatus{
				ObjectID: model.ObjectID{Kind: "ConfigMap", Namespace: ns, Name: name}, UID: "u", Health: model.HealthCurrent,
			}})
		},
		DeleteConfigMap: func(_ *testing.T, name string) { f.DeleteObject("v1", "ConfigMap", ns, name) },
		AddEvent: func(_ *testing.T, pod, reason, message string) {
			f.AddEvent(k8s.KubeEvent{
				UID: "e", Object: k8s.KubeEventObject{Kind: "Pod", Namespace: ns, Name: pod}, Type: "Warning",
				Reason: reason, Message: message, Count: 1, LastSeen: time.Now(),
			})
		},
		Unreachable: func(*testing.T) k8s.Interface {
			down := k8stest.New()
			down.SetDown(true)
			return down
		},
	}
}
