package up

import (
	"bytes"
	"net"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/engine"
	"github.com/hone-dev/hone/pkg/model"
)

// TestExposedSessionWarns opens ports that other machines reach, and ports that they do not.
func TestExposedSessionWarns(t *testing.T) {
	for _, tc := range []struct {
		host  string
		loud  bool
		where string
	}{
		{"127.0.0.1", false, ""},
		{"localhost", false, ""},
		{"0.0.0.0", true, "http://0.0.0.0:"},
		{"", true, "http://:"},
	} {
		logs, err := logstore.New(logstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer logs.Close()
		var stderr bytes.Buffer
		o := options{host: tc.host, global: &command.Global{Stderr: &stderr}}
		l, err := listen(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		d := listeners{tcp: l, url: "http://" + net.JoinHostPort(tc.host, port) + "/"}
		warnExposed(o, sessionParts{Parts: engine.Parts{Logs: logs}, listeners: d})
		lines := logs.Tail(logstore.Filter{Resources: []model.ManifestName{model.TiltfileName}, MinLevel: logstore.LevelWarn}, 10)
		if !tc.loud {
			if stderr.Len() > 0 || len(lines) > 0 {
				t.Errorf("%q: %s %v", tc.host, &stderr, lines)
			}
			continue
		}
		if got := stderr.String(); !strings.HasPrefix(got, "WARNING: Other machines can reach this session's API at "+tc.where+port+"/") ||
			!strings.Contains(got, "Leave out --host") {
			t.Errorf("%q: %s", tc.host, got)
		}
		if len(lines) != 1 || !strings.Contains(lines[0].Text, "Other machines can reach") {
			t.Errorf("%q: in the log is %v", tc.host, lines)
		}
	}
	warnExposed(options{}, sessionParts{}) // without a port nothing is exposed
}
