package up

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/cli/command"
	"github.com/hone-dev/hone/internal/cli/flags"
	"github.com/hone-dev/hone/internal/cluster/portforward"
	"github.com/hone-dev/hone/internal/engine"
	"github.com/hone-dev/hone/internal/loop/state"
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

// TestTakenPort: a session that ends by itself takes a free port where the usual one is taken; for the others, the error names the
// process that has it.
func TestTakenPort(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	number := other.Addr().(*net.TCPAddr).Port
	for _, tc := range []struct {
		command state.Command
		asked   bool
		free    bool
	}{
		{state.CommandUp, false, false}, {state.CommandUp, true, false}, {state.CommandCI, true, false}, {state.CommandCI, false, true},
	} {
		l, err := listen(t.Context(), options{command: tc.command, host: "127.0.0.1", port: flags.Port{Number: number, Asked: tc.asked}})
		if err == nil {
			_ = l.Close()
		}
		if (err == nil) != tc.free {
			t.Errorf("%s, asked %v: %v", tc.command, tc.asked, err)
		}
		name, known := portforward.Holder(number)
		if err != nil && known && !strings.HasSuffix(err.Error(), fmt.Sprintf("another process on port %d: %s", number, name)) {
			t.Errorf("%s, asked %v: %v, which does not end with %s", tc.command, tc.asked, err, name)
		}
	}
}
