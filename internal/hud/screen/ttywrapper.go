package screen

import (
	"bytes"
	"strings"
	"sync"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/hone-dev/hone/internal/base/terminal"
	"github.com/hone-dev/hone/internal/hud/attention"
	"github.com/hone-dev/hone/internal/hud/settings"
	"github.com/hone-dev/hone/internal/hud/text"
)

// answerTime bounds the wait of a screen that ends for an answer of the terminal, from the question on. Without this wait, the
// answer to a screen that ends at once would be typed into the shell.
const answerTime = 300 * time.Millisecond

// The questions and requests about colours. Terminals that do not know them skip them.
const (
	askBackground = "\x1b]11;?\x1b\\"
	followColours = "\x1b[?2031h"
	leaveColours  = "\x1b[?2031l"
)

// Terminals with a stack of titles keep the original title on it. Other terminals get an empty title at the end, and show their
// default.
const (
	keepTitle    = "\x1b[22;2t"
	restoreTitle = "\x1b[23;2t"
)

func titleOf(title string) string { return "\x1b]2;" + title + "\x1b\\" }

// say sends the terminal its title, progress and messages, if they have changed. project is the title of messages.
func (o *ttyWrapper) say(s attention.Said, project string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s.Title != o.title {
		o.title = s.Title
		o.sendTitle()
	}
	if s.Progress != o.progress && !o.noProgress {
		o.progress = s.Progress
		if o.open {
			o.sendProgress(s.Progress)
		}
	}
	if s.Message != "" && o.open {
		o.send(o.noticeOf(project, s.Message))
	}
}

func (o *ttyWrapper) sendTitle() {
	if o.open && !o.noTitle && o.title != "" {
		o.send(titleOf(o.title))
	}
}

func (o *ttyWrapper) sendProgress(p attention.Progress) {
	o.send(map[attention.Progress]string{attention.NoProgress: "\x1b]9;4;0\x1b\\", attention.Working: "\x1b]9;4;3\x1b\\",
		attention.Failing: "\x1b]9;4;2;100\x1b\\"}[p])
}

// noticeOf returns the sequence that shows a message on the desktop. Inside of tmux it goes through to the terminal around it, if tmux's
// allow-passthrough is on; else tmux drops it.
func (o *ttyWrapper) noticeOf(project, message string) string {
	plain := strings.NewReplacer(";", ",").Replace
	title := "hone"
	if project != "" {
		title += " " + plain(text.Clean(project))
	}
	var s string
	switch o.notice {
	case terminal.OSC9:
		s = "\x1b]9;" + title + ": " + plain(message) + "\x1b\\"
	case terminal.OSC777:
		s = "\x1b]777;notify;" + title + ";" + plain(message) + "\x1b\\"
	case terminal.Bell:
		return "\a"
	default:
		return ""
	}
	if o.can.Inside == terminal.Tmux {
		s = "\x1bPtmux;" + strings.ReplaceAll(s, "\x1b", "\x1b\x1b") + "\x1b\\"
	}
	return s
}

// ttyWrapper is a terminal below tcell. It sends sequences that tcell has no call for, reads answers that tcell drops, and takes everything back
// when tcell gives the terminal away.
//
// tcell calls Start, Stop, Drain and Write on the goroutine that draws, and Read on one of its own.
type ttyWrapper struct {
	tcell.Tty
	can terminal.Abilities
	// notice is the way in which messages are shown on the desktop; empty if they are not. noTitle and noProgress leave title and
	// progress alone.
	notice              terminal.Notice
	noTitle, noProgress bool
	// backgrounds has the newest background that the terminal has reported; one slot.
	backgrounds chan background
	listener    listener // of Read

	mu   sync.Mutex // guards the fields below, and keeps each sequence in one piece
	open bool       // between Start and Stop
	// leaving is set from Drain to the next Start: an answer would not be read any longer.
	leaving bool
	asked   time.Time
	// answered is closed by the answer to the last question; nil if none was asked.
	answered chan struct{}
	pace     pace
	// title and progress are shown by the terminal, or will be when it is open.
	title    string
	progress attention.Progress
}

func newOutlet(tty tcell.Tty, can terminal.Abilities) *ttyWrapper {
	return &ttyWrapper{Tty: tty, can: can, notice: can.Notice, noTitle: !can.Title, noProgress: !can.Progress, backgrounds: make(chan background, 1)}
}

// choose takes in the user's settings. It must be called before Start.
func (o *ttyWrapper) choose(s settings.Settings) {
	o.noTitle, o.noProgress = s.NoTitle || !o.can.Title, s.NoProgress || !o.can.Progress
	switch s.Notify {
	case settings.NotifyOff:
		o.notice = ""
	case settings.NotifyBell:
		o.notice = terminal.Bell
	case settings.NotifyOSC9, settings.NotifyOSC777:
		if o.can.Title { // others may show it as text
			o.notice = terminal.Notice(s.Notify)
		}
	case settings.NotifyAuto:
	}
}

// ttyWrapperOf returns the ttyWrapper of a terminal; nil if it has none.
func ttyWrapperOf(t Terminal) *ttyWrapper {
	tty, ok := t.Tty()
	if !ok {
		return nil
	}
	o, _ := tty.(*ttyWrapper)
	return o
}

// Start implements tcell.Tty.
func (o *ttyWrapper) Start() error {
	if err := o.Tty.Start(); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open, o.leaving, o.pace.open, o.pace.waiting = true, false, nil, 0
	if o.can.Colors {
		o.send(followColours)
		o.ask()
	}
	if !o.noTitle {
		o.send(keepTitle)
		o.sendTitle()
	}
	if o.progress != attention.NoProgress {
		o.sendProgress(o.progress)
	}
	return nil
}

// Stop implements tcell.Tty.
func (o *ttyWrapper) Stop() error {
	o.mu.Lock()
	if o.open {
		o.takeBack()
	}
	o.open = false
	o.mu.Unlock()
	return o.Tty.Stop()
}

// takeBack undoes the requests that the terminal has carried out. The lock must be held.
func (o *ttyWrapper) takeBack() {
	if o.can.Colors {
		o.send(leaveColours)
	}
	if !o.noTitle {
		o.send(titleOf("") + restoreTitle)
	}
	if o.progress != attention.NoProgress {
		o.sendProgress(attention.NoProgress)
	}
}

// ask asks for the background. The lock must be held.
func (o *ttyWrapper) ask() {
	if o.leaving {
		return
	}
	o.asked, o.answered = time.Now(), make(chan struct{})
	o.send(askBackground)
}

// send writes a sequence. The lock must be held. The next drawing reports its errors.
func (o *ttyWrapper) send(s string) { _, _ = o.Tty.Write([]byte(s)) }

// Drain implements tcell.Tty. No question is asked from now on, and open ones get their time.
func (o *ttyWrapper) Drain() error {
	o.mu.Lock()
	o.leaving = true
	patience := answerTime
	if o.pace.answers {
		patience = paceTime // it will answer
	}
	questions := []struct {
		answered chan struct{}
		asked    time.Time
		within   time.Duration
	}{{o.answered, o.asked, answerTime}, {o.pace.open, o.pace.asked, patience}}
	o.mu.Unlock()
	for _, q := range questions {
		left := q.within - time.Since(q.asked)
		if q.answered == nil || left <= 0 {
			continue
		}
		late := time.NewTimer(left)
		select {
		case <-q.answered:
		case <-late.C:
		}
		late.Stop()
	}
	return o.Tty.Drain()
}

// Read implements tcell.Tty.
func (o *ttyWrapper) Read(p []byte) (int, error) {
	for {
		n, err := o.Tty.Read(p)
		n = max(n, 0)
		for _, h := range o.listener.hear(p[:n]) {
			o.tell(h)
		}
		// tcell combines an Esc key with the input that follows within a moment. So it must not see these answers, which come with
		// every frame.
		left := copy(p, bytes.ReplaceAll(p[:n], []byte(statusAnswer), nil))
		if left > 0 || left == n || err != nil {
			return left, err
		}
	}
}

// tell passes on a message of the terminal.
func (o *ttyWrapper) tell(h heard) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if h.shown {
		o.pace.answer()
		return
	}
	select {
	case <-o.backgrounds:
	default:
	}
	o.backgrounds <- h.background
	switch {
	case !h.changed && o.answered != nil:
		close(o.answered)
		o.answered = nil
	case h.changed && o.open: // this reports the preferred scheme, which the background need not follow
		o.ask()
	}
}

// The beginning of a link, and the end of one.
const (
	linkStart = "\x1b]8;"
	linkEnd   = "\x1b]8;;\x1b\\"
)

// Write implements tcell.Tty. If the last cell that tcell draws is part of a link, tcell does not end the link, but begins its
// next drawing as if it had.
func (o *ttyWrapper) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.Tty.Write(p)
	if i := bytes.LastIndex(p, []byte(linkStart)); err == nil && i >= 0 && !bytes.HasPrefix(p[i:], []byte(linkEnd)) {
		o.send(linkEnd)
	}
	return n, err
}
