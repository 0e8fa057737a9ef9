package podlogs

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"time"
)

const (
	// quietSize is the buffer size of a reader that is quiet, as most are: there may be thousands. readSize is the size once so many
	// bytes have come at a time.
	quietSize, readSize = 512, 8 << 10
	// maxLine is the length in bytes from which a line is delivered in pieces.
	maxLine = 4 << 20
)

// lineReader cuts a stream into lines.
type lineReader struct {
	of   io.Reader
	r    *bufio.Reader
	long []byte // the part read so far of a line that is longer than the reader's buffer
	cont bool   // the next line continues the last one
}

func newLineReader(of io.Reader) *lineReader {
	return &lineReader{of: of, r: bufio.NewReaderSize(of, quietSize)}
}

// next returns the next line without its line break. The bytes are valid until the next call. With an error it returns
// the incomplete last line. cont reports whether the line continues the one before.
func (l *lineReader) next() (line []byte, cont bool, err error) {
	l.long, cont = l.long[:0], l.cont
	for {
		part, err := l.slice()
		if err == nil && len(l.long) == 0 {
			l.cont = false
			return part[:len(part)-1], cont, nil
		}
		l.long = append(l.long, part...)
		switch {
		case err == nil:
			l.cont = false
			return l.long[:len(l.long)-1], cont, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return l.long, cont, err
		case len(l.long) >= maxLine:
			l.cont = true
			return l.long, cont, nil
		}
	}
}

// slice returns the next bytes as bufio.Reader.ReadSlice does. The buffer grows once it was full.
func (l *lineReader) slice() ([]byte, error) {
	part, err := l.r.ReadSlice('\n')
	if rest := l.r.Buffered(); l.r.Size() == quietSize && len(part)+rest == quietSize {
		unread, _ := l.r.Peek(rest) // never an error: so many are there
		l.r = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(unread), l.of), readSize)
	}
	return part, err
}

// parseLine splits a line into its time, in nanoseconds since 1970, and its text.
func parseLine(line []byte) (ns int64, text []byte, ok bool) {
	stamp, text, found := bytes.Cut(line, []byte{' '})
	if !found {
		stamp = line // the runtime omits the space before an empty text, or a proxy trims it
	}
	if len(stamp) < len("2006-01-02T15:04:05Z") || len(stamp) > len("2006-01-02T15:04:05.999999999+00:00") {
		return 0, line, false
	}
	t, err := time.Parse(time.RFC3339Nano, string(stamp))
	if err != nil || t.Year() < 1970 || t.Year() > 2200 {
		return 0, line, false
	}
	return t.UnixNano(), text, true
}
