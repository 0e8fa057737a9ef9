package text

import (
	"slices"
	"testing"
)

func TestRank(t *testing.T) {
	for _, tt := range []struct {
		typed string
		texts []string
		want  []int
	}{
		{"web", []string{"worker-bee", "shop-web", "Web", "web-shop", "mail"}, []int{2, 3, 1, 0}},
		{"wrk", []string{"mailer", "worker"}, []int{1}},
		{"x", []string{"a"}, nil},
	} {
		var got []int
		for _, m := range Rank(tt.typed, tt.texts) {
			got = append(got, m.Index)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q: %v, want %v", tt.typed, got, tt.want)
		}
	}
}
