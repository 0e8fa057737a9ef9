package hud

import (
	"fmt"
	"testing"
)

// TestAudience lets three screens come, move and go. It checks after each step which others each screen sees, and which screens
// were notified.
func TestAudience(t *testing.T) {
	var a audience
	one, _ := a.enter()
	two, leaveTwo := a.enter()
	three, leaveThree := a.enter()
	seen := func() string {
		told := ""
		for _, slot := range []<-chan struct{}{one.Changed, two.Changed, three.Changed} {
			select {
			case <-slot:
				told += "!"
			default:
				told += "."
			}
		}
		return fmt.Sprintf("%q %q %q %s", one.Others(), two.Others(), three.Others(), told)
	}
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, `["" ""] ["" ""] ["" ""] !!.`},
		{func() { two.Moved("web") }, `["" "web"] ["" ""] ["" "web"] !.!`},
		{func() { two.Moved("web") }, `["" "web"] ["" ""] ["" "web"] ...`},
		{func() { one.Moved("api") }, `["" "web"] ["" "api"] ["api" "web"] .!!`},
		{leaveThree, `["web"] ["api"] ["api" "web"] !!.`},
		{func() { three.Moved("late") }, `["web"] ["api"] ["api" "web"] ...`},
		{leaveTwo, `[] ["api"] ["api"] !..`},
	} {
		step.do()
		if got := seen(); got != step.want {
			t.Errorf("got  %s\nwant %s", got, step.want)
		}
	}
}
