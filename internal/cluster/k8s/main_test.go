package k8s_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/hone-dev/hone/internal/cluster/k8s"
)

func TestMain(m *testing.M) {
	k8s.RouteKlog(nil)
	goleak.VerifyTestMain(m)
}
