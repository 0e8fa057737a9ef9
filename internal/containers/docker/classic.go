package docker

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	gofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/docker/docker/api/types/build"
	"github.com/tonistiigi/fsutil"
	"github.com/tonistiigi/fsutil/types"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
)

// classicDockerfile is the name of the Dockerfile in the archive: a name that no context uses.
const classicDockerfile = ".hone.Dockerfile"

// buildClassic builds with the builder of engines that have no BuildKit. The context is sent as an archive.
func (e *Engine) buildClassic(ctx context.Context, req BuildRequest, away *gone) (string, error) {
	if len(req.Secrets) > 0 || len(req.SSH) > 0 {
		return "", &UserError{problem.New("the engine has no BuildKit, which secret= and ssh= need",
			"use an engine with BuildKit (Docker 18.09 or newer), and do not set DOCKER_BUILDKIT=0")}
	}
	files, err := newContextFS(req.Context, req.Ignores, away)
	if err != nil {
		return "", contextProblem(req.Context, err)
	}
	archive, w := io.Pipe()
	began, took := time.Now(), time.Duration(0)
	packed := make(chan struct{})
	go func() {
		defer close(packed)
		w.CloseWithError(writeContext(ctx, w, files, req.Contents))
		took = time.Since(began)
	}()
	defer func() {
		archive.Close() // ends a writer that has lost its reader
		<-packed
		req.sent(took)
	}()

	opts := e.buildOptions(req)
	opts.Version = build.BuilderV1
	opts.Dockerfile = classicDockerfile
	opts.AuthConfigs = e.config.all()
	printer := &classicPrinter{log: req.Log, step: req.step}
	id, err := e.runBuild(ctx, archive, opts, printer.message)
	if err == nil {
		return id, nil
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return "", buildFailure(req, engineKit{e}, err, printer.failed())
}

// writeContext packs the files and the Dockerfile. It omits .dockerignore, because its rules have been applied already:
// the engine would apply them again, also to the Dockerfile.
func writeContext(ctx context.Context, w io.Writer, files fsutil.FS, dockerfile string) error {
	out := tar.NewWriter(w)
	header := &tar.Header{Name: classicDockerfile, Mode: 0o644, Size: int64(len(dockerfile)), ModTime: time.Unix(0, 0)}
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	if _, err := io.WriteString(out, dockerfile); err != nil {
		return err
	}
	err := files.Walk(ctx, "/", func(path string, entry gofs.DirEntry, err error) error {
		if err != nil || path == ".dockerignore" {
			return err
		}
		return writeEntry(out, files, entry)
	})
	if err != nil {
		return fmt.Errorf("pack the build context: %w", err)
	}
	return out.Close()
}

// maxInMemory is the size in bytes up to which a file is read before its header is written, so that a file that changes
// meanwhile does not corrupt the archive.
const maxInMemory = 5 << 20

func writeEntry(out *tar.Writer, files fsutil.FS, entry gofs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*types.Stat)
	if !ok {
		return fmt.Errorf("no details of %s", entry.Name())
	}
	mode := os.FileMode(st.Mode)
	header := &tar.Header{Name: filepath.ToSlash(st.Path), Mode: int64(mode.Perm()), ModTime: info.ModTime()}
	switch {
	case mode.IsDir():
		header.Typeflag, header.Name = tar.TypeDir, header.Name+"/"
	case mode&os.ModeSymlink != 0:
		header.Typeflag, header.Linkname = tar.TypeSymlink, st.Linkname
	case mode.IsRegular():
		return writeFile(out, files, header, st)
	default:
		return nil // devices and pipes have no content to send
	}
	return out.WriteHeader(header)
}

func writeFile(out *tar.Writer, files fsutil.FS, header *tar.Header, st *types.Stat) error {
	f, err := files.Open(st.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	if st.Size > maxInMemory {
		header.Size = st.Size
		if err := out.WriteHeader(header); err != nil {
			return err
		}
		_, err = io.CopyN(out, f, st.Size)
		return err
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	header.Size = int64(len(data))
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	_, err = out.Write(data)
	return err
}

// classicPrinter renders the classic builder's output: "Step 2/3 : RUN make" and the step's output.
type classicPrinter struct {
	log  logstore.Logger
	step func(begun, all int)
	at   *Step
	rest string
}

func (p *classicPrinter) message(m message) {
	text := p.rest + m.Stream
	end := strings.LastIndexByte(text, '\n')
	p.rest = text[end+1:]
	if end < 0 {
		return
	}
	for line := range strings.SplitSeq(text[:end], "\n") {
		p.line(strings.TrimRight(line, "\r"))
	}
}

func (p *classicPrinter) line(line string) {
	if step, ok := strings.CutPrefix(line, "Step "); ok {
		if count, text, ok := strings.Cut(step, " : "); ok {
			p.at = &Step{Name: "[" + count + "] " + text}
			p.log.Write(logstore.LevelInfo, p.at.Name+"\n")
			if _, at, all, ok := numbered(p.at.Name); ok {
				p.step(at, all)
			}
			return
		}
	}
	if line == "" || strings.HasPrefix(line, " ---> ") || strings.HasPrefix(line, "Removing intermediate container") {
		return
	}
	p.log.Write(logstore.LevelInfo, "  "+line+"\n")
	if p.at != nil {
		p.at.Tail = append(p.at.Tail, line)
		if len(p.at.Tail) > tailLines {
			p.at.Tail = p.at.Tail[1:]
		}
	}
}

// failed returns the last step, which is the one that failed.
func (p *classicPrinter) failed() *Step { return p.at }
