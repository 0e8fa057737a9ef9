package self

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/adrg/xdg"

	"github.com/hone-dev/hone/internal/base/problem"
)

func TestVerifyInstall(t *testing.T) {
	t.Cleanup(xdg.Reload) // after the environment is as it was
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	xdg.Reload()
	var out bytes.Buffer
	if err := verifyInstall(&out, installChecks()); err != nil || strings.Count(out.String(), "✓ ") < 9 || strings.Contains(out.String(), "✖") {
		t.Errorf("%v\n%s", err, &out)
	}
	out.Reset()
	err := verifyInstall(&out, []installCheck{
		{"well", func() (string, error) { return "here", nil }},
		{"gone", func() (string, error) { return "", errors.New("nowhere") }},
	})
	if err == nil || !strings.Contains(problem.Text(err), "hone is not installed completely: gone\n") || out.String() != "✓ well  here\n✖ gone  nowhere\n" {
		t.Errorf("%v\n%s", err, &out)
	}
	if _, err := checkSynclet("s390x"); err == nil {
		t.Error("there is no program for s390x")
	}
}
