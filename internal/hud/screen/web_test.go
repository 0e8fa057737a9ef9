package screen

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestWeb opens the web page with the selected resource. The address with its ticket is not shown.
func TestWeb(t *testing.T) {
	for name, tc := range map[string]struct {
		web    func(resource string) (string, error)
		opened []string
		says   string
	}{
		"a page":         {func(r string) (string, error) { return "http://127.0.0.1:1/?ticket=S3CRET&to=" + r, nil }, []string{"http://127.0.0.1:1/?ticket=S3CRET&to=api"}, "opening the web page"},
		"a refusal":      {func(string) (string, error) { return "", errors.New("the port is closed") }, nil, "the port is closed"},
		"without a page": {nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := shop(t)
			synctest.Test(t, func(t *testing.T) {
				d := start(t, v, newTerminal("UTF-8", 120, 34), func(_ *driver, o *Options) { o.Web = tc.web })
				defer func() { _ = d.stop() }()
				d.press("/api<Enter>")
				d.press("O")
				d.after(time.Second)
				if diff := cmp.Diff(tc.opened, d.opened); diff != "" {
					t.Errorf("opened (-want +got):\n%s", diff)
				}
				if shown := d.text(); !strings.Contains(shown, tc.says) || strings.Contains(shown, "S3CRET") {
					t.Errorf("the screen:\n%s", shown)
				}
			})
		})
	}
}
