package k8s_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/cluster/k8s"
)

func TestMain(m *testing.M) {
	if code, attended := k8s.PluginMain(os.Args[1:]); attended {
		os.Exit(code)
	}
	k8s.RouteKlog(nil)
	goleak.VerifyTestMain(m)
}
