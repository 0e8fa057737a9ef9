package buildcontroller

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/update/liveupdate"
)

// TestOneLine saves a file in each of the situations of an update in place: a quick one is one line of the log, whatever the number of
// containers, and the rest explain themselves.
func TestOneLine(t *testing.T) {
	const headline = "1 File Changed: [a/x]"
	took := regexp.MustCompile(`in [0-9.]+ ms$`)
	for _, tt := range []struct {
		name  string
		slow  []string
		fail  error
		takes time.Duration
		want  string
	}{
		{name: "quick", want: headline + " → main in 2 pods: 1 delete each by synclet in"},
		{name: "slow", slow: []string{"c1", "c2"}, takes: 2 * time.Second, want: headline + "\n→ main of pod-c1: 1 delete by synclet in\npod-c2 takes longer; the others need not wait for it\n→ main of pod-c2: 1 delete by synclet in"},
		{name: "one is behind", slow: []string{"c2"}, takes: 2 * time.Second,
			want: headline + " → main of pod-c1: 1 delete by synclet in\npod-c2 takes longer; the others need not wait for it\n→ main of pod-c2: 1 delete by synclet in"},
		{name: "a way fails", fail: &liveupdate.FallBackError{Reason: "it cannot be done"}, want: headline + "\nFalling back to a new image: it cannot be done"},
		{name: "it is lost", fail: &liveupdate.InfraError{Step: "copy", Err: errors.New("it broke")}, want: headline + "\nFalling back to a new image: copy: it broke"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, u := replicas(t, "c1", "c2")
				for _, id := range tt.slow {
					u.slow[id] = make(chan error)
				}
				if tt.fail != nil {
					u.fail["c1"], u.fail["c2"] = tt.fail, tt.fail
				}
				before := len(f.said())
				f.save("x")
				time.Sleep(tt.takes)
				for _, id := range tt.slow {
					f.end(u, id, nil)
				}
				synctest.Wait()
				var got []string
				for _, line := range f.said()[before:] {
					got = append(got, took.ReplaceAllString(line, "in"))
				}
				if text := strings.Join(got, "\n"); text != tt.want {
					t.Errorf("the log says\n%s\nwant\n%s", text, tt.want)
				}
			})
		})
	}
}

// said returns the lines of a resource's log that are shown to those who do not ask for details.
func (f *fixture) said() (lines []string) {
	for _, l := range f.logs.Tail(logstore.Filter{MinLevel: logstore.LevelInfo}, 1000) {
		if l.Resource == "a" {
			lines = append(lines, fmt.Sprint(l.Prefix, l.Text))
		}
	}
	return lines
}
