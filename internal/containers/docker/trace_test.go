package docker

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	control "github.com/moby/buildkit/api/services/control"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hone-dev/hone/internal/base/logstore"
)

// progressLog keeps lines and the last state of progress lines.
type progressLog struct{ lines []string }

func (p *progressLog) Write(_ logstore.Level, text string) {
	p.lines = append(p.lines, strings.TrimSuffix(text, "\n"))
}

func (p *progressLog) Progress(id, text string, done bool) {
	p.lines = append(p.lines, fmt.Sprintf("<%s %v> %s", id, done, text))
}

func traceMessage(t *testing.T, s *control.StatusResponse) message {
	t.Helper()
	data, err := s.MarshalVT()
	if err != nil {
		t.Fatal(err)
	}
	aux, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return message{ID: "moby.buildkit.trace", Aux: aux}
}

// message prints a message of the engine as a build does.
func (p *tracePrinter) message(m message) {
	if s, err := traceOf(m); err == nil && s != nil {
		p.status(s)
	}
}

func TestTraceOfNonsense(t *testing.T) {
	for id, want := range map[string]bool{"moby.buildkit.trace": true, "moby.image.id": false} {
		if s, err := traceOf(message{ID: id, Aux: []byte(`"!"`)}); (err != nil) != want || !want && s != nil {
			t.Errorf("%s: %v, %v", id, s, err)
		}
	}
}

func TestTracePrinter(t *testing.T) {
	at := func(ms int) *timestamppb.Timestamp {
		return timestamppb.New(time.Unix(1700000000, 0).Add(time.Duration(ms) * time.Millisecond))
	}
	log := &progressLog{}
	p := newTracePrinter(log)
	internal := &control.Vertex{Digest: "i", Name: "[internal] load build context", Started: at(0)}
	copied := &control.Vertex{Digest: "c", Name: "[1/3] COPY . /src", Started: at(0), Completed: at(0), Cached: true}
	make1 := &control.Vertex{Digest: "m", Name: "[2/3] RUN make  \n all", Started: at(1)}
	test1 := &control.Vertex{Digest: "t", Name: "[3/3] RUN test", Started: at(2)}
	p.message(traceMessage(t, &control.StatusResponse{
		Vertexes: []*control.Vertex{internal, copied, make1, {Digest: "later", Name: "[4/3] RUN never"}},
		Statuses: []*control.VertexStatus{{ID: "transferring context:", Vertex: "i", Current: 3_400_000},
			{ID: "tiny", Vertex: "i", Current: 10}, {ID: "sha256:ab", Vertex: "unknown", Current: 5_000_000}},
		Logs: []*control.VertexLog{{Vertex: "m", Msg: []byte("one\ntw")}},
	}))
	p.message(traceMessage(t, &control.StatusResponse{
		Vertexes: []*control.Vertex{test1},
		Logs: []*control.VertexLog{{Vertex: "m", Msg: []byte("o\r\n")}, {Vertex: "t", Msg: []byte("testing\n")},
			{Vertex: "t", Msg: []byte("rest")}, {Vertex: "nobody", Msg: []byte("?\n")}},
	}))
	internal.Completed = at(250)
	p.message(traceMessage(t, &control.StatusResponse{Vertexes: []*control.Vertex{internal}}))
	make1.Completed, test1.Completed, test1.Error = at(1501), at(3), "exit code: 1"
	p.message(traceMessage(t, &control.StatusResponse{Vertexes: []*control.Vertex{test1, make1},
		Warnings: []*control.VertexWarning{{Short: []byte("careful")}}}))
	p.message(traceMessage(t, &control.StatusResponse{Vertexes: []*control.Vertex{test1}}))
	p.finish()
	want := []string{
		"<m false> [2/3] RUN make all",
		"<i transferring context: false>   transferring context: 3.4 MB",
		"  one",
		"<c true> [1/3] COPY . /src [cached]",
		"<t false> [3/3] RUN test",
		"[2/3] RUN make all",
		"  two",
		"[3/3] RUN test",
		"  testing",
		"note: careful",
		"  rest",
		"<t true> [3/3] RUN test [failed]",
		"<m true> [2/3] RUN make all [done: 1.5s]",
	}
	if diff := cmp.Diff(want, log.lines); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if want := 250 * time.Millisecond; p.context != want {
		t.Errorf("the context took %s, want %s", p.context, want)
	}
	if v := p.failed(); v == nil || v.Name != "[3/3] RUN test" || !cmp.Equal(v.Tail, []string{"testing", "rest"}) {
		t.Errorf("failed: %+v", v)
	}
}

// TestStepsOfTrace checks how many steps have begun, and how many there are, as BuildKit reports them.
func TestStepsOfTrace(t *testing.T) {
	began, ended := timestamppb.New(time.Unix(1, 0)), timestamppb.New(time.Unix(2, 0))
	known := func(name string) *control.Vertex { return &control.Vertex{Digest: name, Name: name} }
	begun := func(name string) *control.Vertex { return &control.Vertex{Digest: name, Name: name, Started: began} }
	done := func(name string) *control.Vertex {
		return &control.Vertex{Digest: name, Name: name, Started: began, Completed: ended}
	}
	cached := func(name string) *control.Vertex { return &control.Vertex{Digest: name, Name: name, Cached: true} }
	for name, tc := range map[string]struct {
		reports [][]*control.Vertex
		want    []string
	}{
		"one stage": {[][]*control.Vertex{
			{begun("[internal] load build definition from Dockerfile"), done("[auth] library/busybox:pull")},
			{known("[1/3] FROM docker.io/library/busybox"), known("[2/3] COPY . ."), known("[3/3] RUN make"), begun("[internal] load build context")},
			{begun("[1/3] FROM docker.io/library/busybox")},
			{done("[1/3] FROM docker.io/library/busybox")},
			{begun("[2/3] COPY . .")}, {done("[2/3] COPY . ."), begun("[3/3] RUN make")},
			{done("[3/3] RUN make"), begun("exporting to image")},
		}, []string{"1/3", "2/3", "3/3"}},
		"stages side by side": {[][]*control.Vertex{
			{known("[build 1/3] FROM golang"), known("[build 2/3] COPY . ."), known("[build 3/3] RUN go build"), known("[stage-1 1/2] FROM alpine"), known("[stage-1 2/2] COPY --from=build /a /a")},
			{begun("[build 1/3] FROM golang"), begun("[stage-1 1/2] FROM alpine")},
			{begun("[build 2/3] COPY . .")}, {begun("[build 3/3] RUN go build")}, {begun("[stage-1 2/2] COPY --from=build /a /a")},
		}, []string{"2/5", "3/5", "4/5", "5/5"}},
		"cached": {[][]*control.Vertex{
			{known("[1/3] FROM busybox"), known("[2/3] COPY . ."), known("[3/3] RUN make")},
			{cached("[1/3] FROM busybox"), cached("[2/3] COPY . .")}, {begun("[3/3] RUN make")},
		}, []string{"2/3", "3/3"}},
		"stages that begin with the same image": {[][]*control.Vertex{
			{known("[build 1/2] FROM golang"), known("[build 2/2] RUN go build"), known("[test 2/2] RUN go test")},
			{cached("[build 1/2] FROM golang"), begun("[build 2/2] RUN go build"), begun("[test 2/2] RUN go test")},
		}, []string{"3/3"}},
		"a step on two platforms": {[][]*control.Vertex{
			{begun("[linux/amd64 build 1/2] FROM a"), begun("[linux/arm64 build 1/2] FROM a"), known("[linux/amd64 build 2/2] RUN b"), known("[linux/arm64 build 2/2] RUN b")},
			{begun("[linux/arm64 build 2/2] RUN b")},
		}, []string{"2/4", "3/4"}},
		"a step that is reported twice": {[][]*control.Vertex{
			{begun("[1/2] FROM a"), {Digest: "other", Name: "[1/2] FROM a", Started: began}, known("[2/2] RUN b")}, {begun("[1/2] FROM a")}, {known("[2/2] RUN b")},
		}, []string{"1/2"}},
		"no numbers": {[][]*control.Vertex{
			{begun("exporting layers"), begun("[context a] load"), begun("[x] RUN echo [1/2] a"), begun("[0/2] a"), begun("[3/2] a"), begun("[99999999999999999999/2] a"), begun("")},
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			p := newTracePrinter(logstore.Discard)
			p.step = func(begun, all int) { got = append(got, fmt.Sprintf("%d/%d", begun, all)) }
			for _, vertices := range tc.reports {
				p.message(traceMessage(t, &control.StatusResponse{Vertexes: vertices}))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestTailIsBounded(t *testing.T) {
	p := newTracePrinter(logstore.Discard)
	v := &vertex{Step: Step{Name: "[1/1] RUN noise"}}
	for i := range 1000 {
		p.output(v, fmt.Appendf(nil, "line %d\n", i))
	}
	if len(v.Tail) != tailLines || v.Tail[tailLines-1] != "line 999" || v.Tail[0] != "line 970" {
		t.Errorf("%d lines, from %q to %q", len(v.Tail), v.Tail[0], v.Tail[len(v.Tail)-1])
	}
}

func TestClassicPrinter(t *testing.T) {
	log := &progressLog{}
	var steps []string
	p := &classicPrinter{log: log, step: func(begun, all int) { steps = append(steps, fmt.Sprintf("%d/%d", begun, all)) }}
	for _, text := range []string{"Step 1/2 : FROM busybox\n", " ---> 8e2ce688ef6c\n", "Step 2/2 : RUN ma", "ke\n ---> Running in 1\nsaid\n",
		"Removing intermediate container 1\n"} {
		p.message(message{Stream: text})
	}
	want := []string{"[1/2] FROM busybox", "[2/2] RUN make", "  said"}
	if diff := cmp.Diff(want, log.lines); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"1/2", "2/2"}, steps); diff != "" {
		t.Errorf("steps (-want +got)\n%s", diff)
	}
	if v := p.failed(); v.Name != "[2/2] RUN make" || !cmp.Equal(v.Tail, []string{"said"}) {
		t.Errorf("failed: %+v", v)
	}
}
