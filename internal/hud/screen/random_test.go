package screen

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// TestAnyKeysAtAnySize presses random keys, pastes, clicks, resizes and writes foreign text: the screen never fails, and never
// draws past the terminal.
func TestAnyKeysAtAnySize(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { anyKeys(t, seed, 400) })
	}
}

func FuzzKeys(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { anyKeys(t, seed, 100) })
}

// awkward are pieces of lines and queries that are hard to draw or to parse.
var awkward = []string{"plain", "\x1b[31mred", "\x1b[2J", "\x1b]0;t\x07", "\t", "\r", "日本語", "👩‍👩‍👧‍👦", "é", "\xff\xfe", "{\"a\":{\"b\":[1,2]},\"msg\":\"x\"}",
	"level=warn msg=\"x y\" status=503", "panic: boom", "\tat com.x.Foo(Foo.java:12)", "main.go:41:2: bad", "/(/", "!", "level:", "since:5m",
	"status>=500", "\"", "                    ", "\u200b", "\x00"}

var namedKeys = []tcell.Key{tcell.KeyUp, tcell.KeyDown, tcell.KeyLeft, tcell.KeyRight, tcell.KeyPgUp, tcell.KeyPgDn, tcell.KeyHome, tcell.KeyEnd,
	tcell.KeyEnter, tcell.KeyEscape, tcell.KeyTab, tcell.KeyBackspace2, tcell.KeyCtrlL, tcell.KeyCtrlW, tcell.KeyCtrlA, tcell.KeyCtrlU, tcell.KeyCtrlP, tcell.KeyBacktab, tcell.KeyF1}

func anyKeys(t *testing.T, seed uint64, steps int) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir) // saved files stay there
	random := rand.New(rand.NewPCG(seed, 7))
	any := func() string { return awkward[random.IntN(len(awkward))] }
	playAt(t, newTerminal("UTF-8", 120, 34), shop(t), func(t *testing.T, d *driver) {
		width, height := 120, 34
		for range steps {
			switch n := random.IntN(20); {
			case n < 6:
				d.logs.Append(logstore.Entry{Resource: resourceName([]string{"api", "web", "mailer"}[random.IntN(3)]),
					Span: []string{"", "build:api:9", "pod:a/b/c:1"}[random.IntN(3)], Source: []logstore.Source{logstore.SourceBuild, logstore.SourceRuntime}[random.IntN(2)],
					Level: logstore.Level(random.IntN(4)), Text: any() + any() + any(), Continues: random.IntN(5) == 0})
			case n < 12:
				d.term.InjectKey(tcell.KeyRune, rune(' '+random.IntN('~'-' ')), tcell.ModNone)
			case n < 16:
				d.term.InjectKey(namedKeys[random.IntN(len(namedKeys))], 0, tcell.ModNone)
			case n < 17:
				d.paste(any())
			case n < 19:
				d.mouse(random.IntN(width), random.IntN(height), []tcell.ButtonMask{tcell.Button1, tcell.ButtonNone, tcell.WheelUp, tcell.WheelDown}[random.IntN(4)])
			default:
				width, height = 1+random.IntN(220), 1+random.IntN(60)
				d.term.SetSize(width, height)
				if err := d.term.PostEvent(tcell.NewEventResize(width, height)); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
			if random.IntN(4) == 0 {
				d.after(time.Duration(random.IntN(300)) * time.Millisecond)
			}
			select {
			case <-d.done:
				t.Fatalf("the screen has ended: %v", d.err)
			default:
			}
		}
	})
}
