package stream

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// nameWidth is the width of the column of names.
	nameWidth = 13
	// firstPause is the pause of a progress after its first line; each further pause is twice as long.
	firstPause = 5 * time.Second
)

// Printer writes lines from another source in the stream's format. It is not safe for concurrent use.
type Printer struct {
	out     io.Writer
	printer printer
}

// NewPrinter returns a printer without filters.
func NewPrinter(out io.Writer, color ColorMode) *Printer {
	return &Printer{text.Beneath(out), printer{color: Options{Out: out, Color: color}.colored(), progress: map[progressKey]progress{}}}
}

// Print writes lines. If skipped is not 0, it first notes that this number of lines before them is missing. Of a progress, it
// writes the first and the last line, and the lines between them less and less often.
func (p *Printer) Print(skipped uint64, lines ...logstore.Line) error {
	var b bytes.Buffer
	if skipped > 0 {
		p.printer.skipped(&b, skipped)
	}
	for _, l := range lines {
		p.printer.line(&b, l)
	}
	if _, err := b.WriteTo(p.out); err != nil {
		return fmt.Errorf("print log lines: %w", err)
	}
	return nil
}

// printer turns lines into text.
type printer struct {
	source   logstore.Source
	minLevel logstore.Level
	color    bool
	progress map[progressKey]progress
}

// line adds a line, unless it is filtered out or is progress output that should be silent.
func (p *printer) line(out *bytes.Buffer, l logstore.Line) {
	if !p.wanted(l) || !p.due(l) {
		return
	}
	p.head(out, l.Resource)
	if l.Prefix != "" {
		p.foreign(out, l.Prefix, logstore.LevelInfo)
	}
	p.foreign(out, l.Text, l.Level)
	out.WriteByte('\n')
}

// skipped reports that lines are missing.
func (p *printer) skipped(out *bytes.Buffer, n uint64) {
	s := fmt.Sprintf("… %d lines were dropped before they could be printed", n)
	if n == 1 {
		s = "… 1 line was dropped before it could be printed"
	}
	if p.color {
		s = text.Paint(s, text.Style{Dim: true})
	}
	out.WriteString(s + "\n")
}

// wanted reports whether a line passes the filters.
func (p *printer) wanted(l logstore.Line) bool {
	if banner(l) {
		return true
	}
	return l.Level >= p.minLevel && (p.source == logstore.SourceGlobal || l.Source == p.source)
}

// banner reports whether a line is the first line of an update.
func banner(l logstore.Line) bool {
	if l.Source != logstore.SourceBuild {
		return false
	}
	switch l.Text {
	case "Initial Build", "Rebuild From Scratch", "Triggered", "Config Changed", "Container Started":
		return true
	}
	return changedFiles.MatchString(l.Text)
}

// changedFiles matches the text of state.FilesChangedText.
var changedFiles = regexp.MustCompile(`^\d+ Files? Changed: \[`)

// due reports whether a line may be printed now. The first and the last line of a progress are always due.
func (p *printer) due(l logstore.Line) bool {
	if l.ProgressID == "" {
		return true
	}
	key := progressKey{l.Span, l.ProgressID}
	if l.ProgressDone {
		delete(p.progress, key)
		return true
	}
	was, known := p.progress[key]
	if known && l.Time.Sub(was.at) < was.pause {
		return false
	}
	p.progress[key] = progress{at: l.Time, pause: max(firstPause, 2*was.pause)}
	return true
}

// head adds the name before a line. Lines that belong to the session as a whole have none.
func (p *printer) head(out *bytes.Buffer, name model.ManifestName) {
	if name == "" || name == model.TiltfileName {
		return
	}
	shown := text.PadLeft(text.Cut(text.Clean(string(name)), nameWidth), nameWidth)
	if p.color {
		shown = text.Paint(shown, nameStyle(name))
	}
	out.WriteString(shown + " │ ")
}

// hues are the palette colours that distinguish names; red is reserved for errors.
var hues = [...]uint8{2, 3, 4, 5, 6, 10, 12, 13, 14}

func nameStyle(name model.ManifestName) text.Style {
	return text.Style{Fg: text.Color{Kind: text.ColorPalette, Index: hues[text.Hash(string(name), len(hues))]}}
}

// foreign adds text of a program: with its own colours if colours are used, otherwise without escape sequences.
func (p *printer) foreign(out *bytes.Buffer, s string, level logstore.Level) {
	if !p.color {
		out.WriteString(text.CleanTabs(s))
		return
	}
	cells := text.ParseTabs(s)
	var style text.Style
	switch level {
	case logstore.LevelError:
		style.Fg = text.Color{Kind: text.ColorPalette, Index: 1}
	case logstore.LevelWarn:
		style.Fg = text.Color{Kind: text.ColorPalette, Index: 3}
	case logstore.LevelDebug:
		style.Dim = true
	case logstore.LevelInfo:
	}
	for i := range cells {
		if cells[i].Style == (text.Style{}) {
			cells[i].Style = style
		}
	}
	out.WriteString(text.ANSI(cells))
}
