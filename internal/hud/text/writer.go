package text

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Writer passes text on to a terminal or a file, whoever wrote it, without anything that a terminal would obey: of escape sequences,
// only colours pass, and only where they are wanted; they end with the line. A control character outside of a sequence is shown
// by its number, as in JSON, so that JSON that goes through a Writer keeps its meaning. Invalid UTF-8 becomes replacement
// characters.
//
// Text may be cut between two writes at any byte. Its methods may be called from any goroutine.
type Writer struct {
	out     io.Writer
	colored bool

	mu    sync.Mutex // guards all below
	state writerState
	// held is the beginning of a character or of a colour.
	held []byte
	// style is the style that the text asks for, and shown the style that the terminal has.
	style, shown Style
	clean        bytes.Buffer
}

// writerState is the state that the text before has left: plain text, or the part of a sequence that is open.
type writerState uint8

const (
	inText    writerState = iota
	afterCR               // a carriage return, which counts only before the end of the line
	afterESC              // an escape character
	inCommand             // CSI: parameters, up to a final letter
	inString              // OSC and others: anything, up to a terminator or the end of the line
	inCharset             // an escape character and intermediates, up to a final letter
)

const (
	// longestColor bounds the parameters of a sequence that can be a colour, in bytes.
	longestColor = 64
	bell         = 0x07
	cancel       = 0x18
	substitute   = 0x1a
)

// NewWriter returns a writer to out, with colours or without.
func NewWriter(out io.Writer, colored bool) *Writer { return &Writer{out: out, colored: colored} }

// Beneath returns the writer below a Writer, for programs that take the terminal and for text that is clean already; any other
// writer is returned as it is.
func Beneath(w io.Writer) io.Writer {
	if t, ok := w.(*Writer); ok {
		return t.out
	}
	return w
}

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.neutral() && plainText(p) {
		return w.out.Write(p)
	}
	for i := 0; i < len(p); {
		i += w.take(p[i:])
	}
	if w.shown != (Style{}) { // output of others to the terminal must not have this style
		w.clean.WriteString(noStyle)
		w.shown = Style{}
	}
	_, err := w.out.Write(w.clean.Bytes())
	w.clean.Reset()
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// neutral reports whether the text before leaves no style, and nothing that the next text may complete.
func (w *Writer) neutral() bool {
	return w.state == inText && len(w.held) == 0 && w.style == (Style{})
}

// plainText reports whether p is ASCII that changes nothing but the text.
func plainText(p []byte) bool {
	for _, c := range p {
		switch {
		case c == '\n', c == '\t':
		case c < ' ', c >= 0x7f:
			return false
		}
	}
	return true
}

// take consumes the beginning of p and returns its length.
func (w *Writer) take(p []byte) int {
	c := p[0]
	switch w.state {
	case afterCR:
		w.state = inText
		if c == '\n' {
			w.clean.WriteByte('\r')
		}
		return 0
	case afterESC:
		return w.begin(c)
	case inCommand:
		return w.command(c)
	case inCharset:
		return w.ends(c, c >= 0x30)
	case inString:
		if c == escape { // the first half of the terminator, or of another sequence
			w.state = afterESC
			return 1
		}
		return w.ends(c, c == bell)
	case inText:
	}
	return w.text(p)
}

// begin consumes the character after an escape character.
func (w *Writer) begin(c byte) int {
	switch {
	case c == '[':
		w.state, w.held = inCommand, w.held[:0]
	case bytes.IndexByte([]byte("]PX^_"), c) >= 0:
		w.state = inString
	case c >= 0x20 && c < 0x30:
		w.state = inCharset
	default:
		return w.ends(c, c >= 0x30)
	}
	return 1
}

// command consumes a character of a control sequence.
func (w *Writer) command(c byte) int {
	final := c >= 0x40 && c < 0x7f
	switch {
	case final && c == 'm' && len(w.held) < longestColor:
		w.color(string(w.held))
	case !final && len(w.held) < longestColor:
		w.held = append(w.held, c)
	}
	n := w.ends(c, final)
	if w.state != inCommand {
		w.held = w.held[:0]
	}
	return n
}

// ends consumes a character of a sequence, which is the last one if final is set. A line feed or a cancelling character ends
// every sequence; the line feed itself is text, and so is a character beyond ASCII.
func (w *Writer) ends(c byte, final bool) int {
	switch {
	case c == '\n', c >= utf8.RuneSelf && w.state != inString:
		w.state = inText
		return 0
	case c == escape:
		w.state = afterESC
	case final, c == cancel, c == substitute:
		w.state = inText
	}
	return 1
}

// color takes in the parameters of a colour.
func (w *Writer) color(params string) {
	p := newColors()
	_, _, _, _ = ansi.DecodeSequence("\x1b["+params+"m", ansi.NormalState, p)
	if w.colored && p.Command() == setsStyle {
		w.style = w.style.apply(parameters(p.Params()))
	}
}

// text consumes text.
func (w *Writer) text(p []byte) int {
	switch c := p[0]; {
	case len(w.held) > 0 || c >= utf8.RuneSelf:
		return w.rune(p)
	case c == escape:
		w.state = afterESC
	case c == '\r':
		w.state = afterCR
	case c == '\n':
		w.style = Style{}
		w.put("\n")
	case c == '\t':
		w.put("\t")
	case c < ' ' || c == 0x7f:
		w.number(rune(c))
	default:
		n := 1
		for n < len(p) && p[n] >= ' ' && p[n] < 0x7f {
			n++
		}
		w.put(string(p[:n]))
		return n
	}
	return 1
}

// rune consumes a byte of a character beyond ASCII, and writes the character once it is whole.
func (w *Writer) rune(p []byte) int {
	if len(w.held) == 0 || !utf8.RuneStart(p[0]) {
		w.held = append(w.held, p[0])
		if !utf8.FullRune(w.held) {
			return 1
		}
		r, n := utf8.DecodeRune(w.held)
		broken := r == utf8.RuneError && n == 1
		w.held = w.held[:0]
		switch {
		case broken:
			w.put("\uFFFD")
		case unicode.Is(commands, r):
			w.number(r)
		default:
			w.put(string(r))
		}
		return 1
	}
	w.held = w.held[:0] // the character before was cut short
	w.put("\uFFFD")
	return 0
}

// c1 are the control characters beyond ASCII, and commands all characters beyond ASCII that a terminal obeys: these, and those that
// change the direction of the text.
var (
	c1       = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x80, Hi: 0x9f, Stride: 1}}}
	commands = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x80, Hi: 0x9f, Stride: 1}, {Lo: 0x202a, Hi: 0x202e, Stride: 1}, {Lo: 0x2066, Hi: 0x2069, Stride: 1}}}
)

// number writes a character by its number.
func (w *Writer) number(r rune) { w.put(fmt.Sprintf(`\u%04x`, r)) }

// put writes text in the style that it asks for.
func (w *Writer) put(s string) {
	if w.style != w.shown {
		w.clean.WriteString(w.style.sequence())
		w.shown = w.style
	}
	w.clean.WriteString(s)
}
