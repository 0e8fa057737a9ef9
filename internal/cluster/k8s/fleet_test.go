package k8s_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/k8s"
)

// TestFleet: a client is opened once, and again after an error; a watch has the trouble of a client that cannot be opened.
func TestFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened, failure := []string{}, errors.New("no credentials")
		client := &k8s.Client{}
		f := k8s.NewFleet(nil, func(context string) (*k8s.Client, error) {
			opened = append(opened, context)
			return client, failure
		})
		if _, err := f.On(""); err == nil {
			t.Error("there is no cluster")
		} else if _, ok := problem.Of(err); !ok {
			t.Errorf("%v is no problem", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var troubles []error
		go func() {
			_ = f.WatchPods(ctx, k8s.WatchRequest{Cluster: "eu", OnTrouble: func(err error) { troubles = append(troubles, err) }}, func(k8s.PodEvent) {})
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if !slices.Equal(troubles, []error{failure}) {
			t.Errorf("the watch has %v", troubles)
		}
		failure = nil
		for range 2 {
			if c, err := f.On("eu"); c != client || err != nil {
				t.Errorf("%v, %v", c, err)
			}
		}
		if !slices.Equal(opened, []string{"eu", "eu"}) {
			t.Errorf("it has opened %v", opened)
		}
	})
}
