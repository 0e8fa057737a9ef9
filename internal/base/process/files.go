package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"sync"
	"syscall"
	"time"
)

// drain is the time for which output is still read when the group is gone but a process outside of it holds the
// pipe open.
const drain = time.Second

// files are the pipes between a command and its readers and writers.
type files struct {
	theirs []*os.File    // the command's ends, closed once it has them
	input  *os.File      // our end of its standard input
	stdin  io.Reader     // the source of the standard input
	pumps  []*pump       // our ends of its output
	fed    chan struct{} // closed when the copy to the standard input has ended
}

// pump copies output from a pipe to a writer.
type pump struct {
	from *os.File
	to   io.Writer
	done chan struct{} // closed at the end of the output
	err  error         // of the writer; valid when done is closed
}

// connect connects the command to its input and output. An *os.File is passed to the command directly.
func connect(cmd *exec.Cmd, c Command) (*files, error) {
	f := &files{}
	if err := f.connectInput(cmd, c.Stdin); err != nil {
		f.abandon()
		return nil, err
	}
	out, err := f.output(c.Stdout)
	if err != nil {
		f.abandon()
		return nil, err
	}
	errOut := out
	if !same(c.Stdout, c.Stderr) {
		if errOut, err = f.output(c.Stderr); err != nil {
			f.abandon()
			return nil, err
		}
	}
	if out != nil {
		cmd.Stdout = out
	}
	if errOut != nil {
		cmd.Stderr = errOut
	}
	return f, nil
}

func (f *files) connectInput(cmd *exec.Cmd, in io.Reader) error {
	if in == nil {
		return nil
	}
	if file, ok := in.(*os.File); ok {
		cmd.Stdin = file
		return nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	f.theirs = append(f.theirs, r)
	f.input, f.stdin = w, in
	cmd.Stdin = r
	return nil
}

// output returns the file to which the command writes the output for w.
func (f *files) output(w io.Writer) (*os.File, error) {
	if w == nil {
		return nil, nil
	}
	if file, ok := w.(*os.File); ok {
		return file, nil
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	f.theirs = append(f.theirs, theirs)
	f.pumps = append(f.pumps, &pump{from: ours, to: w, done: make(chan struct{})})
	return theirs, nil
}

// same reports whether both are the same writer.
func same(a, b io.Writer) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.ValueOf(a).Comparable() && a == b
}

// abandon closes everything, for a command that did not start or does not end.
func (f *files) abandon() {
	f.closeTheirs()
	if f.input != nil {
		f.input.Close()
	}
	for _, p := range f.pumps {
		p.from.Close()
	}
}

func (f *files) closeTheirs() {
	for _, t := range f.theirs {
		t.Close()
	}
	f.theirs = nil
}

// pump starts to copy input and output, once the command runs.
func (f *files) pump() {
	f.closeTheirs()
	for _, p := range f.pumps {
		go p.run()
	}
	if f.input == nil {
		return
	}
	f.fed = make(chan struct{})
	go func() {
		defer close(f.fed)
		defer f.input.Close()
		_, _ = io.Copy(f.input, f.stdin) // a command need not read its input
	}()
}

// finish waits until all output has arrived, for a limited time: a daemon may have inherited the pipe.
func (f *files) finish() error {
	limit := time.AfterFunc(drain, func() {
		for _, p := range f.pumps {
			if p.from.SetReadDeadline(time.Now()) != nil {
				p.from.Close()
			}
		}
	})
	defer limit.Stop()
	var errs []error
	for _, p := range f.pumps {
		<-p.done
		errs = append(errs, p.err)
	}
	f.endInput()
	return errors.Join(errs...)
}

func (f *files) endInput() {
	if f.fed == nil {
		return
	}
	f.input.Close() // ends a blocked Write
	limit := time.NewTimer(drain)
	defer limit.Stop()
	select {
	case <-f.fed:
	case <-limit.C: // a blocked Read; see Command.Stdin
	}
}

var copyBuffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// run copies output to its end. After a failed Write it discards the rest, so that the command can keep writing.
func (p *pump) run() {
	defer close(p.done)
	defer p.from.Close()
	buf := copyBuffers.Get().(*[32 << 10]byte)
	defer copyBuffers.Put(buf)
	for {
		n, err := p.from.Read(buf[:])
		if n > 0 && p.err == nil {
			if _, werr := p.to.Write(buf[:n]); werr != nil {
				p.err = fmt.Errorf("write output: %w", werr)
			}
		}
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}
