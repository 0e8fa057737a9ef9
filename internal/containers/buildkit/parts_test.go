package buildkit

import (
	"slices"
	"testing"
)

// TestParts splits the platforms of an image by the builders that build them.
func TestParts(t *testing.T) {
	both := []string{"amd64", "arm64"}
	for _, tt := range []struct {
		archs     []string
		platforms string
		want      []string
		by        []int
	}{
		{[]string{""}, "", []string{""}, []int{0}},
		{[]string{""}, "linux/amd64,linux/arm64", []string{"linux/amd64,linux/arm64"}, []int{0}},
		{both, "", []string{""}, []int{0}},
		{both, "linux/amd64", []string{"linux/amd64"}, []int{0}},
		{both, "linux/arm64", []string{"linux/arm64"}, []int{1}},
		{both, "arm64", []string{"arm64"}, []int{1}},
		{both, "linux/arm64/v8", []string{"linux/arm64/v8"}, []int{1}},
		{both, "linux/aarch64", []string{"linux/aarch64"}, []int{1}},
		{both, "linux/x86_64", []string{"linux/x86_64"}, []int{0}},
		{both, "linux/riscv64", []string{"linux/riscv64"}, []int{0}},
		{both, "linux/arm/v7", []string{"linux/arm/v7"}, []int{0}},
		{both, "linux/amd64,linux/arm64", []string{"linux/amd64", "linux/arm64"}, []int{0, 1}},
		{both, "linux/arm64, linux/amd64", []string{"linux/arm64", "linux/amd64"}, []int{1, 0}},
		{both, "linux/arm64,linux/riscv64,linux/amd64", []string{"linux/arm64", "linux/riscv64,linux/amd64"}, []int{1, 0}},
		{[]string{"arm64", "arm"}, "linux/arm/v6,linux/arm/v7,linux/arm64", []string{"linux/arm/v6,linux/arm/v7", "linux/arm64"}, []int{1, 0}},
	} {
		got := parts(tt.archs, tt.platforms)
		var by []int
		for _, part := range got {
			by = append(by, groupFor(tt.archs, part))
		}
		if !slices.Equal(got, tt.want) || !slices.Equal(by, tt.by) {
			t.Errorf("%v, %q: %q by %v", tt.archs, tt.platforms, got, by)
		}
	}
}
