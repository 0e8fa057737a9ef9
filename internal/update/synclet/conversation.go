package synclet

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/hone-dev/hone/internal/update/agent/protocol"
)

// ErrClosed means that a conversation has ended, so that its requests may or may not have been carried out.
var ErrClosed = errors.New("the conversation with the synclet has ended")

// errUnsent means that a request failed because the conversation had ended, and that the synclet cannot have received
// it.
var errUnsent = errors.New("the request was not sent")

// errForeign means that the answer does not come from a usable synclet: the program has another version of the protocol,
// or is something else.
var errForeign = errors.New("the program there is not this hone's synclet")

const (
	// maxNoise bounds the number of bytes before the preamble.
	maxNoise = 64 << 10
	// longestAnswer bounds how long a request may take that the synclet carries out by itself, once it was sent: more than the five
	// minutes for which it reports that it is busy (maxBeats of package agent).
	longestAnswer = 6 * time.Minute
	// reportRate bounds the reports about the container's process that are read in a second, after a first reportBurst. A process that is
	// started over and over makes fewer.
	reportRate, reportBurst = 20, 100
)

// Who does what in a conversation. Open greets the synclet and starts two goroutines: read, which passes each message that arrives
// to the function that expect has registered for its id, and watch (alive.go), which ends the conversation when its stream is
// silent. Requests run on the goroutines of their callers:
//
//	expect registers a function and returns an id ──> send writes the request ──> await waits for the answer, the end, or ctx
//
// The functions run on the goroutine of read, which reads nothing meanwhile. At the end of the conversation it calls each of them
// with nil.
//
// turn is held while an update is read and sent (update.go), wmu while frames are written, for an update from Begin to Commit. mu
// guards the fields below it. The conversation ends when its stream does, when a message is wrong, when this side cuts it, or with
// Close; in each case read closes the stream, sets err, and closes done.

// Conversation is a conversation with the synclet in one container. Make it with Open and end it with Close.
type Conversation struct {
	stream *livingStream
	hello  protocol.Hello
	// besides means that the synclet is not in the container itself, so that commands must be run there by exec.
	besides bool
	all     sync.WaitGroup // of its goroutines
	// sending is held by the update that is being read and sent.
	sending chan struct{}
	done    chan struct{}

	wmu sync.Mutex
	w   *protocol.Writer
	// line measures the connection to the synclet.
	line *line
	// copies are contents of containers, nil if none are kept.
	copies *copies

	reports *rate.Limiter

	mu       sync.Mutex
	next     uint64
	answers  map[uint64]func(protocol.Message) (last bool)
	known    knowledge
	inFlight []*inFlight
	process  protocol.Process
	changed  func(protocol.Process)
	why      error // why this side ended it
	err      error
}

// Open begins the conversation over a stream whose other end is a starting synclet. The conversation may write only to the
// places in hello. The stream is closed when Open fails or the conversation ends; its Close must end a Read and a Write that
// are running.
func Open(ctx context.Context, stream io.ReadWriteCloser, hello protocol.Hello) (*Conversation, error) {
	stop := context.AfterFunc(ctx, func() { _ = stream.Close() })
	s, err := open(stream, hello)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = stream.Close()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("begin the conversation with the synclet: %w", err)
	}
	s.all.Go(func() { s.read(protocol.NewReader(bufio.NewReaderSize(s.stream, 64<<10))) })
	s.all.Go(s.watch)
	return s, nil
}

func open(stream io.ReadWriteCloser, hello protocol.Hello) (*Conversation, error) {
	if err := skipNoise(stream); err != nil {
		return nil, err
	}
	living := newLivingStream(stream)
	s := &Conversation{stream: living, w: protocol.NewWriter(living), line: &line{}, sending: make(chan struct{}, 1), done: make(chan struct{}),
		reports: rate.NewLimiter(reportRate, reportBurst), answers: map[uint64]func(protocol.Message) bool{}, known: newKnowledge()}
	began := time.Now()
	if err := s.send(&hello); err != nil {
		return nil, err
	}
	m, err := protocol.NewReader(stream).Next()
	s.line.answered(time.Since(began))
	if errors.Is(err, protocol.ErrVersion) {
		return nil, fmt.Errorf("%w: %w", errForeign, err)
	}
	if err != nil {
		return nil, err
	}
	switch m := m.(type) {
	case *protocol.Hello:
		s.hello = *m
		s.w.Pack = s.line.pack
		return s, nil
	case *protocol.Failed:
		return nil, fmt.Errorf("%w: %s", errForeign, m.Text)
	}
	return nil, fmt.Errorf("%w: it begins with %T", errForeign, m)
}

// skipNoise reads up to the preamble, byte by byte so that nothing after it is consumed.
func skipNoise(r io.Reader) error {
	var seen []byte
	one := make([]byte, 1)
	for len(seen) < maxNoise {
		if _, err := io.ReadFull(r, one); err != nil {
			if said := bytes.TrimSpace(seen); len(said) > 0 {
				return fmt.Errorf("%w; it printed %q", err, said[:min(len(said), 300)])
			}
			return err
		}
		seen = append(seen, one[0])
		if bytes.HasSuffix(seen, []byte(protocol.Preamble)) {
			return nil
		}
	}
	return fmt.Errorf("%w: another program answers", errForeign)
}

// Hello returns the hello of the synclet.
func (s *Conversation) Hello() protocol.Hello { return s.hello }

// Done is closed when the conversation has ended; Err then returns the reason.
func (s *Conversation) Done() <-chan struct{} { return s.done }

// Err returns why the conversation ended, or nil before that.
func (s *Conversation) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// end returns why the conversation ended. A killed synclet needs no further explanation if the container's process was
// reported as ending before.
func (s *Conversation) end() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process.Ending && errors.Is(s.err, ErrKilled) {
		return errEnding
	}
	return s.err
}

// leaveWithin is the time after which Close ends a conversation that does not end by itself.
const leaveWithin = 500 * time.Millisecond

// Close ends the conversation, and the synclet with it. Running requests fail.
func (s *Conversation) Close() error {
	late := time.AfterFunc(leaveWithin, func() { _ = s.stream.Close() })
	if s.send(&protocol.Leave{}) == nil {
		<-s.done
	}
	late.Stop()
	_ = s.stream.Close()
	s.all.Wait()
	return nil
}

// OnProcess sets a function that receives the state of the container's process, now and at each change. It is called
// from the conversation's goroutine and must not block.
func (s *Conversation) OnProcess(fn func(protocol.Process)) {
	s.mu.Lock()
	s.changed = fn
	now := s.process
	s.mu.Unlock()
	if now.Starts > 0 {
		fn(now)
	}
}

// Process returns the state of the container's process; its Starts are zero if the process is not supervised.
func (s *Conversation) Process() protocol.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process
}

// read delivers the messages that arrive until the stream ends.
func (s *Conversation) read(r *protocol.Reader) {
	var err error
	for err == nil {
		var m protocol.Message
		if m, err = r.Next(); err == nil {
			err = s.deliver(m)
		}
	}
	_ = s.stream.Close()
	s.mu.Lock()
	if s.err = s.why; s.err == nil {
		s.err = err
	}
	answers := s.answers
	s.answers = nil
	s.mu.Unlock()
	close(s.done)
	for _, fn := range answers {
		fn(nil)
	}
}

func (s *Conversation) deliver(m protocol.Message) error {
	var id uint64
	switch m := m.(type) {
	case *protocol.Failed:
		return errors.New(m.Text)
	case *protocol.Process:
		_ = s.reports.Wait(context.Background()) // a twentieth of a second at most
		s.mu.Lock()
		s.process = *m
		fn := s.changed
		s.mu.Unlock()
		if fn != nil {
			fn(*m)
		}
		return nil
	case *protocol.Applied:
		id = m.ID
	case *protocol.Entry:
		id = m.ID
	case *protocol.Listed:
		id = m.ID
	case *protocol.Output:
		id = m.ID
	case *protocol.Exited:
		id = m.ID
	case *protocol.Restarted:
		id = m.ID
	case *protocol.Pong:
		id = m.ID
	default:
		return fmt.Errorf("the synclet sends %T", m)
	}
	s.mu.Lock()
	fn := s.answers[id]
	s.mu.Unlock()
	if fn != nil && fn(m) { // an answer without a waiter is dropped
		s.mu.Lock()
		delete(s.answers, id)
		s.mu.Unlock()
	}
	return nil
}

// expect registers a function for the answers to a new request, and returns the request's id. At the end of the conversation
// the function is called with nil.
func (s *Conversation) expect(fn func(protocol.Message) (last bool)) (id uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil || s.answers == nil {
		return 0, s.ended()
	}
	s.next++
	s.answers[s.next] = fn
	return s.next, nil
}

func (s *Conversation) forget(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.answers, id)
}

// ended returns ErrClosed with its reason. mu must be held.
func (s *Conversation) ended() error {
	if s.err == nil || errors.Is(s.err, io.EOF) {
		return ErrClosed
	}
	return fmt.Errorf("%w: %w", ErrClosed, s.err)
}

func (s *Conversation) closed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended()
}

// reason replaces a writer's ErrClosed by the reason why the conversation ended, which the reader finds at the same time.
func (s *Conversation) reason(err error) error {
	if !errors.Is(err, ErrClosed) {
		return err
	}
	<-s.done
	return s.closed()
}

// send writes messages in one go.
func (s *Conversation) send(messages ...protocol.Message) error {
	s.wmu.Lock()
	defer s.wmu.Unlock()
	for _, m := range messages {
		s.w.Append(m)
	}
	return s.flush()
}

// flush writes the messages that were appended. wmu must be held.
func (s *Conversation) flush() error {
	if err := s.w.Flush(); err != nil {
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return nil
}

// await waits for the last answer of a request.
func (s *Conversation) await(ctx context.Context, answered <-chan struct{}) error {
	select {
	case <-answered:
		return nil
	case <-s.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-answered: // it came just before the end
		return nil
	default:
		return s.closed()
	}
}

// answer is await for a request that the synclet carries out itself. A synclet reports for less than longestAnswer that it is busy;
// a program that goes on for longer may be something else.
func (s *Conversation) answer(ctx context.Context, answered <-chan struct{}) error {
	timer := time.AfterFunc(longestAnswer, func() {
		s.cut(fmt.Errorf("%w: it has been busy for %s", ErrSilent, longestAnswer))
	})
	defer timer.Stop()
	return s.await(ctx, answered)
}
