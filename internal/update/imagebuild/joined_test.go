package imagebuild

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/hone-dev/hone/internal/containers/docker"
)

// TestWaitsOfParts: an image for several platforms waits while no part of it is built, and not all are over.
func TestWaitsOfParts(t *testing.T) {
	const arm, riscv = "waiting for arm64", "waiting for riscv64"
	for name, tt := range map[string]struct {
		parts   int
		reports []waitOf
		want    []string // reported
	}{
		"the other part is built":   {2, []waitOf{{part: 1, why: arm}, {part: 1}, {part: 0, over: true}, {part: 1, over: true}}, nil},
		"the other part is over":    {2, []waitOf{{part: 1, why: arm}, {part: 0, over: true}, {part: 1}, {part: 1, over: true}}, []string{arm, ""}},
		"the other part was sooner": {2, []waitOf{{part: 0, over: true}, {part: 1, why: arm}, {part: 1}, {part: 1, over: true}}, []string{arm, ""}},
		"both wait":                 {2, []waitOf{{part: 0, why: arm}, {part: 1, why: riscv}, {part: 0}, {part: 0, over: true}, {part: 1, over: true}}, []string{arm + "; " + riscv, "", riscv, ""}},
		"another reason":            {1, []waitOf{{why: arm}, {why: riscv}, {why: riscv}, {}}, []string{arm, riscv, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWaits(tt.parts)
			var got []string
			for _, now := range tt.reports {
				if why, news := w.sum(now); news {
					got = append(got, why)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestWaitsSideBySide: the wait of a part reaches the build once the other part is over.
func TestWaitsSideBySide(t *testing.T) {
	const why = "waiting for arm64"
	var got []string
	waits := make(chan struct{})
	build := docker.BuildRequest{OnWait: func(why string) {
		if got = append(got, why); len(got) == 1 {
			close(waits)
		}
	}}
	_, err := sideBySide(t.Context(), build, []string{"linux/amd64", "linux/arm64"}, func(_ context.Context, i int, mine docker.BuildRequest) ([]mutate.IndexAddendum, error) {
		if i == 1 {
			mine.OnWait(why)
			<-waits
			mine.OnWait("")
		}
		return nil, nil
	})
	if want := []string{why, ""}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
