package containerd

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	content "github.com/containerd/containerd/api/services/content/v1"
	images "github.com/containerd/containerd/api/services/images/v1"
	leases "github.com/containerd/containerd/api/services/leases/v1"
	namespaces "github.com/containerd/containerd/api/services/namespaces/v1"
	"github.com/google/go-cmp/cmp"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is a containerd that keeps content, images and leases in memory.
type server struct {
	mu        sync.Mutex
	blobs     map[string][]byte
	labels    map[string]map[string]string
	names     map[string]*images.Image
	leases    int // held now
	wrote     int // bytes received
	pods      bool
	protected []string // the blobs that were put under a lease
}

// Each service of the server has its own type, because their methods have the same names.
type (
	contentServer struct {
		content.UnimplementedContentServer
		*server
	}
	imagesServer struct {
		images.UnimplementedImagesServer
		*server
	}
	leasesServer struct {
		leases.UnimplementedLeasesServer
		*server
	}
	namespacesServer struct {
		namespaces.UnimplementedNamespacesServer
		*server
	}
)

func (s contentServer) Write(stream content.Content_WriteServer) error {
	if md, _ := metadata.FromIncomingContext(stream.Context()); len(md.Get(leaseHeader)) == 0 || md.Get(namespaceHeader)[0] != podNamespace {
		return status.Error(codes.FailedPrecondition, "no lease or namespace")
	}
	var data []byte
	for {
		req, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		s.mu.Lock()
		_, there := s.blobs[req.Expected]
		s.wrote += len(req.Data)
		s.mu.Unlock()
		if there && req.Expected != "" {
			return status.Error(codes.AlreadyExists, "there already")
		}
		if int64(len(data)) != req.Offset && req.Action != content.WriteAction_STAT {
			return status.Errorf(codes.OutOfRange, "offset %d after %d bytes", req.Offset, len(data))
		}
		data = append(data, req.Data...)
		if req.Action == content.WriteAction_COMMIT {
			sum := sha256.Sum256(data)
			digest := "sha256:" + hex.EncodeToString(sum[:])
			if digest != req.Expected || int64(len(data)) != req.Total {
				return status.Error(codes.FailedPrecondition, "not what was announced")
			}
			s.mu.Lock()
			s.blobs[digest], s.labels[digest] = data, req.Labels
			s.mu.Unlock()
		}
		if err := stream.Send(&content.WriteContentResponse{Action: req.Action, Offset: int64(len(data))}); err != nil {
			return err
		}
	}
}

func (s imagesServer) Get(_ context.Context, req *images.GetImageRequest) (*images.GetImageResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if im, ok := s.names[req.Name]; ok {
		return &images.GetImageResponse{Image: im}, nil
	}
	return nil, status.Error(codes.NotFound, "no such image")
}

func (s imagesServer) Create(_ context.Context, req *images.CreateImageRequest) (*images.CreateImageResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.names[req.Image.Name]; ok {
		return nil, status.Error(codes.AlreadyExists, "there already")
	}
	s.names[req.Image.Name] = req.Image
	return &images.CreateImageResponse{}, nil
}

func (s imagesServer) Update(_ context.Context, req *images.UpdateImageRequest) (*images.UpdateImageResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names[req.Image.Name] = req.Image
	return &images.UpdateImageResponse{}, nil
}

func (s leasesServer) Create(context.Context, *leases.CreateRequest) (*leases.CreateResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leases++
	return &leases.CreateResponse{Lease: &leases.Lease{ID: "lease"}}, nil
}

func (s leasesServer) Delete(context.Context, *leases.DeleteRequest) (*emptypb.Empty, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leases--
	return &emptypb.Empty{}, nil
}

func (s namespacesServer) List(context.Context, *namespaces.ListNamespacesRequest) (*namespaces.ListNamespacesResponse, error) {
	out := &namespaces.ListNamespacesResponse{Namespaces: []*namespaces.Namespace{{Name: "moby"}}}
	if s.pods {
		out.Namespaces = append(out.Namespaces, &namespaces.Namespace{Name: podNamespace})
	}
	return out, nil
}

func (s contentServer) Info(_ context.Context, req *content.InfoRequest) (*content.InfoResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	blob, ok := s.blobs[req.Digest]
	if !ok {
		return nil, status.Error(codes.NotFound, "no such blob")
	}
	return &content.InfoResponse{Info: &content.Info{Digest: req.Digest, Size: int64(len(blob))}}, nil
}

func (s contentServer) Read(req *content.ReadContentRequest, stream content.Content_ReadServer) error {
	s.mu.Lock()
	blob, ok := s.blobs[req.Digest]
	s.mu.Unlock()
	if !ok {
		return status.Error(codes.NotFound, "no such blob")
	}
	return stream.Send(&content.ReadContentResponse{Data: blob})
}

func (s leasesServer) AddResource(_ context.Context, req *leases.AddResourceRequest) (*emptypb.Empty, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.protected = append(s.protected, req.Resource.ID)
	return &emptypb.Empty{}, nil
}

// start runs the server on a socket and returns it with a client.
func start(t *testing.T) (*server, *Client) {
	t.Helper()
	s, socket := listen(t)
	c, err := Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return s, c
}

// listen runs the server on a socket.
func listen(t *testing.T) (s *server, socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "c.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	s = &server{blobs: map[string][]byte{}, labels: map[string]map[string]string{}, names: map[string]*images.Image{}}
	g := grpc.NewServer()
	content.RegisterContentServer(g, contentServer{server: s})
	images.RegisterImagesServer(g, imagesServer{server: s})
	leases.RegisterLeasesServer(g, leasesServer{server: s})
	namespaces.RegisterNamespacesServer(g, namespacesServer{server: s})
	done := make(chan struct{})
	go func() { defer close(done); _ = g.Serve(listener) }()
	t.Cleanup(func() { g.Stop(); <-done })
	return s, socket
}

type file struct{ name, text, link string }

func archive(t *testing.T, files ...file) io.Reader {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, f := range files {
		header := &tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.text))}
		if f.link != "" {
			header.Typeflag, header.Linkname = tar.TypeSymlink, f.link
		}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &buf
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// manifestOf returns the manifest that the name stands for.
func (s *server) manifestOf(t *testing.T, name string) (ocispec.Manifest, map[string]string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	im, ok := s.names[name]
	if !ok {
		t.Fatalf("no image %s", name)
	}
	var m ocispec.Manifest
	if err := json.Unmarshal(s.blobs[im.Target.Digest], &m); err != nil {
		t.Fatal(err)
	}
	return m, s.labels[im.Target.Digest]
}

func TestImport(t *testing.T) {
	const name = "docker.io/library/api:hone-1"
	big := strings.Repeat("layer", chunk/2) // several messages
	zipped := "\x1f\x8bzipped"
	old := []file{
		{"aa/VERSION", "1.0", ""}, {"aa/json", "{}", ""}, {"aa/layer.tar", big, ""}, {"bb/layer.tar", "", "../aa/layer.tar"},
		{"cc/layer.tar", "other", ""}, {"config.json", `{"os":"linux"}`, ""},
		{"manifest.json", `[{"Config":"config.json","Layers":["aa/layer.tar","bb/layer.tar","cc/layer.tar"]}]`, ""}, {"repositories", "{}", ""},
	}
	oci := []file{
		{"blobs/sha256/" + digestOf(zipped), zipped, ""}, {"blobs/sha256/" + digestOf("conf"), "conf", ""}, {"index.json", "{}", ""},
		{"manifest.json", `[{"Config":"blobs/sha256/` + digestOf("conf") + `","Layers":["blobs/sha256/` + digestOf(zipped) + `"]}]`, ""}, {"oci-layout", "{}", ""},
	}
	for _, tt := range []struct {
		name   string
		files  []file
		config string
		layers []string
		media  string
	}{
		{"classic archive", old, `{"os":"linux"}`, []string{big, big, "other"}, ocispec.MediaTypeImageLayer},
		{"OCI layout", oci, "conf", []string{zipped}, ocispec.MediaTypeImageLayerGzip},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, c := start(t)
			for range 2 { // the second time everything is there
				if err := c.Import(t.Context(), archive(t, tt.files...), name); err != nil {
					t.Fatal(err)
				}
			}
			m, labels := s.manifestOf(t, name)
			want := []string{digestOf(tt.config)}
			got := []string{m.Config.Digest.Encoded()}
			for i, layer := range tt.layers {
				want, got = append(want, digestOf(layer)), append(got, m.Layers[i].Digest.Encoded())
				if m.Layers[i].MediaType != tt.media || m.Layers[i].Size != int64(len(layer)) {
					t.Errorf("layer %d: %+v", i, m.Layers[i])
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if len(labels) != len(tt.layers)+1 {
				t.Errorf("parts that would be collected: %v", labels)
			}
			if s.leases != 0 {
				t.Errorf("%d leases left", s.leases)
			}
			if there, err := c.Has(t.Context(), name); !there || err != nil {
				t.Errorf("has: %v, %v", there, err)
			}
		})
	}
}

func TestKnownBlobsAreNotSent(t *testing.T) {
	s, c := start(t)
	blob := strings.Repeat("x", 10000)
	files := []file{{"blobs/sha256/" + digestOf(blob), blob, ""},
		{"manifest.json", `[{"Config":"blobs/sha256/` + digestOf(blob) + `","Layers":[]}]`, ""}}
	if err := c.Import(t.Context(), archive(t, files...), "docker.io/library/a:1"); err != nil {
		t.Fatal(err)
	}
	before := s.wrote
	if err := c.Import(t.Context(), archive(t, files...), "docker.io/library/b:1"); err != nil {
		t.Fatal(err)
	}
	if sent := s.wrote - before; sent >= len(blob) {
		t.Errorf("sent %d bytes again", sent)
	}
}

func TestImportErrors(t *testing.T) {
	_, c := start(t)
	for name, files := range map[string][]file{
		"no manifest":    {{"config.json", "{}", ""}},
		"two images":     {{"manifest.json", `[{"Config":"a"},{"Config":"b"}]`, ""}},
		"missing config": {{"manifest.json", `[{"Config":"a"}]`, ""}},
		"missing layer":  {{"a", "{}", ""}, {"manifest.json", `[{"Config":"a","Layers":["b"]}]`, ""}},
		"looping link":   {{"a", "{}", ""}, {"b", "", "c"}, {"c", "", "b"}, {"manifest.json", `[{"Config":"a","Layers":["b"]}]`, ""}},
		"bad manifest":   {{"manifest.json", `{`, ""}},
	} {
		if err := c.Import(t.Context(), archive(t, files...), "docker.io/library/a:1"); err == nil {
			t.Errorf("%s: imported", name)
		}
	}
	if err := c.Import(t.Context(), strings.NewReader("no tar"), "docker.io/library/a:1"); err == nil {
		t.Error("imported nonsense")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Import(ctx, archive(t), "docker.io/library/a:1"); err == nil {
		t.Error("imported though cancelled")
	}
}

func TestRunsPods(t *testing.T) {
	s, c := start(t)
	for _, pods := range []bool{false, true} {
		s.pods = pods
		if got, err := c.RunsPods(t.Context()); err != nil || got != pods {
			t.Errorf("got %v, %v", got, err)
		}
	}
	if there, err := c.Has(t.Context(), "docker.io/library/none:1"); there || err != nil {
		t.Errorf("has: %v, %v", there, err)
	}
	gone, err := Dial(filepath.Join(t.TempDir(), "none.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer gone.Close()
	if _, err := gone.RunsPods(t.Context()); err == nil {
		t.Error("no answer, and yet there are pods")
	}
}
