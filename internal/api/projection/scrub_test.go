package projection

import (
	"testing"

	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

// TestAddresses hides passwords in URLs without any secret, but not in an address that a browser opens.
func TestAddresses(t *testing.T) {
	const link = "http://admin:swordfish@localhost:3000"
	m := statetest.Local("docs")
	m.Local.Update.Argv = []string{"curl", link}
	m.Local.Links = []model.Link{{URL: link}}
	var commands, links int
	v := statetest.New(sessionStarted()).Then(statetest.Loaded(m)).View()
	for _, k := range All() {
		for i := range k.Items(v) {
			switch o := i.Make().(type) {
			case *v1alpha1.Cmd:
				commands++
				if got := o.Spec.Args; got[len(got)-1] != "http://[redacted]@localhost:3000" {
					t.Errorf("the command is %q", got)
				}
			case *v1alpha1.UIResource:
				links += len(o.Status.EndpointLinks)
				for _, l := range o.Status.EndpointLinks {
					if l.URL != link {
						t.Errorf("the link leads to %s", l.URL)
					}
				}
			}
		}
	}
	if commands == 0 || links == 0 {
		t.Errorf("%d commands, %d links", commands, links)
	}
}
