package screen

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// listener finds the terminal's messages in its input: about its colours, and about the output that it has shown. It only
// listens: it never holds back the user's typing, and tcell drops the answers.
type listener struct {
	// part is a sequence that has begun, from its escape character on; empty outside of one.
	part []byte
}

// longestAnswer is longer than any answer.
const longestAnswer = 64

// The beginnings of answers: the colour of the background, and whether the terminal prefers dark or light.
const (
	backgroundAnswer = "\x1b]11;"
	schemeAnswer     = "\x1b[?997;"
)

// heard is a message of a terminal.
type heard struct {
	background background
	// changed is set if it was not an answer: the colours have just changed.
	changed bool
	// shown is set if it is no message about colours: the terminal has shown all that was written before a question.
	shown bool
}

// hear returns the messages in a piece of input. A sequence may extend over several pieces.
func (l *listener) hear(input []byte) (out []heard) {
	for len(input) > 0 {
		if len(l.part) == 0 {
			i := bytes.IndexByte(input, 0x1b)
			if i < 0 {
				return out
			}
			input = input[i+1:]
			l.part = append(l.part, 0x1b)
			continue
		}
		c := input[0]
		input = input[1:]
		l.part = append(l.part, c)
		s := string(l.part)
		switch {
		case c == 0x1b && !strings.HasPrefix(s, backgroundAnswer):
			l.part = append(l.part[:0], 0x1b) // another one begins
		case len(s) > longestAnswer, !slices.ContainsFunc(answers, func(a string) bool { return begins(s, a) }):
			l.part = l.part[:0]
		case s == statusAnswer:
			out = append(out, heard{shown: true})
			l.part = l.part[:0]
		case strings.HasPrefix(s, schemeAnswer) && c >= '@':
			if b := schemeOf(s[len(schemeAnswer):]); b != unknownBackground {
				out = append(out, heard{background: b, changed: true})
			}
			l.part = l.part[:0]
		case strings.HasPrefix(s, backgroundAnswer) && (c == 0x07 || strings.HasSuffix(s, "\x1b\\")):
			if b := backgroundOf(strings.TrimRight(s[len(backgroundAnswer):], "\x1b\\\a")); b != unknownBackground {
				out = append(out, heard{background: b})
			}
			l.part = l.part[:0]
		}
	}
	return out
}

// answers are the beginnings of the answers that the listener takes out of the input.
var answers = []string{backgroundAnswer, schemeAnswer, statusAnswer}

// begins reports whether one of two texts begins with the other.
func begins(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }

// schemeOf reads "1n" for dark, and "2n" for light.
func schemeOf(s string) background {
	switch s {
	case "1n":
		return darkBackground
	case "2n":
		return lightBackground
	}
	return unknownBackground
}

// backgroundOf reads a colour such as "rgb:1e1e/1e1e/2e2e": each part has one to four hexadecimal digits.
func backgroundOf(s string) background {
	s, alpha := strings.CutPrefix(s, "rgba:")
	if !alpha {
		var ok bool
		if s, ok = strings.CutPrefix(s, "rgb:"); !ok {
			return unknownBackground
		}
	}
	parts := strings.Split(s, "/")
	if len(parts) < 3 {
		return unknownBackground
	}
	var rgb [3]float64
	for i := range rgb {
		n, err := strconv.ParseUint(parts[i], 16, 16)
		if err != nil || len(parts[i]) > 4 {
			return unknownBackground
		}
		rgb[i] = float64(n) / float64(uint64(1)<<(4*len(parts[i]))-1)
	}
	return backgroundFor(luminance(rgb))
}

// backgroundFor returns whether a background is dark: white text is more readable on it than black text.
func backgroundFor(luminance float64) background {
	const even = 0.179 // the luminance at which both have the same contrast
	if luminance > even {
		return lightBackground
	}
	return darkBackground
}

// backgroundIn reads COLORFGBG: the foreground and the background as numbers of the palette, with maybe something between them.
func backgroundIn(colorfgbg string) background {
	parts := strings.Split(colorfgbg, ";")
	n, err := strconv.ParseUint(parts[len(parts)-1], 10, 4)
	switch {
	case len(parts) < 2 || err != nil:
		return unknownBackground
	case n == 7 || n >= 9:
		return lightBackground
	}
	return darkBackground
}
