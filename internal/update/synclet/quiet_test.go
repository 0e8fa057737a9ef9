//go:build linux

package synclet

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// TestQuiet saves a file while the container stands still: the user is told within seconds, not after the twenty that it takes to give up.
func TestQuiet(t *testing.T) {
	for _, tt := range []struct {
		name string
		way  way
		size int
		stop bool
		want []string
	}{
		{"it answers at once", way{}, 1000, false, nil},
		{"it answers late", way{pause: 5 * time.Second}, 1000, false,
			[]string{"3s Container web has not answered for 3s", "5s Container web answers again, after 5s"}},
		{"it takes long and says so", way{pause: 2 * time.Second}, wholeFile, false, nil},
		{"it does not answer", way{}, 1000, true, []string{"3s Container web has not answered for 3s"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tt.way.stop = make(chan struct{})
				s, err := Open(t.Context(), tt.way.join(t), protocol.Hello{Places: []protocol.Place{{Dir: filepath.Dir(t.TempDir())}}})
				check(t, err)
				defer s.Close()
				time.Sleep(time.Minute)
				if tt.stop {
					close(tt.way.stop)
				}
				var got []string
				began := time.Now()
				over := s.attend("web", logstore.Func(func(_ logstore.Level, text string) {
					first, _, _ := strings.Cut(strings.TrimSpace(text), ":")
					got = append(got, time.Since(began).Round(time.Second).String()+" "+first)
				}))
				_, err = s.Apply(t.Context(), aFile(t, tt.size))
				over(err == nil)
				if d := cmp.Diff(tt.want, got); d != "" || (err != nil) != tt.stop {
					t.Errorf("%v (-want +got):\n%s", err, d)
				}
			})
		})
	}
}
