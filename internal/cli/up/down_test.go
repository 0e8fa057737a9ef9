package up

import (
	"errors"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/internal/tiltfile/fault"
	"github.com/hone-dev/hone/pkg/model"
)

func TestUnheard(t *testing.T) {
	records := map[model.ManifestName][]ledger.Record{"web": {{}}, "gone": {}}
	usage := &fault.ArgsError{Err: errors.New(`no resource is called "wbe"`)}
	broken := errors.New("Tiltfile:1: boom")
	for _, tc := range []struct {
		name  string
		names []string
		fault error
		want  string
	}{
		{"no names", nil, broken, ""},
		{"the Tiltfile has taken it", []string{"--profile=dev"}, nil, ""},
		{"recorded, and no longer declared", []string{"web"}, usage, ""},
		{"recorded, and the Tiltfile is broken", []string{"web"}, broken, ""},
		{"a local resource with a down command", []string{"db"}, broken, ""},
		{"neither recorded nor declared", []string{"wbe"}, usage, `no resource is called "wbe"`},
		{"one of two", []string{"web", "wbe"}, usage, `no resource is called "wbe"`},
		{"nothing is left of it", []string{"gone"}, usage, `no resource is called "wbe"`},
		{"not recorded, and the Tiltfile is broken", []string{"web", "wbe"}, broken, "there is no record of wbe, and the Tiltfile cannot be evaluated"},
	} {
		got := ""
		if err := unheard(tc.names, records, []model.ManifestName{"db"}, tc.fault); err != nil {
			got = problem.Text(err)
		}
		if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
