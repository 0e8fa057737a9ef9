package projection

import (
	"fmt"
	"testing"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/model"
)

// thousand is a session of 1,000 resources that are deployed and run, with a secret to redact.
func thousand() store.View {
	var ms []model.Manifest
	for i := range 1000 {
		name := fmt.Sprintf("r%04d", i)
		m := statetest.K8s(name, statetest.Image(name))
		m.K8s.PortForwards = []model.PortForward{{LocalPort: 10000 + i}}
		ms = append(ms, m)
	}
	l := statetest.Loaded(ms...)
	l.At = statetest.Epoch
	l.Result.Secrets = []model.Secret{{Name: "s", Key: "k", Value: password}}
	s := statetest.New(sessionStarted()).Then(statetest.Connected()...).Then(state.TiltfileStarted{At: statetest.Epoch}, l)
	for i := range 1000 {
		name := fmt.Sprintf("r%04d", i)
		s.Deployed(name).Then(statetest.Healthy(name), statetest.Pod(name, name+"-1", "c"+name, name+":1"),
			state.ForwardChanged{ID: name + "/1", Forward: state.Forward{Resource: model.ManifestName(name), URL: "http://localhost/", State: state.ForwardReady}})
	}
	return s.View()
}

// BenchmarkItems lists the objects of a kind.
func BenchmarkItems(b *testing.B) {
	v := thousand()
	for _, k := range All() {
		b.Run(k.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for range k.Items(v) { // only the listing itself is measured
				}
			}
		})
	}
}

// BenchmarkMake makes one object.
func BenchmarkMake(b *testing.B) {
	v := thousand()
	for _, k := range All() {
		var items []Item
		for i := range k.Items(v) {
			items = append(items, i)
		}
		if len(items) < 1000 {
			continue
		}
		b.Run(k.Name, func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				items[n%len(items)].Make()
				n++
			}
		})
	}
}
