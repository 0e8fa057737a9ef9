package imagebuild

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/zeebo/xxh3"
)

// entry is a file, a folder or a link of an image, without its times.
type entry struct {
	Type     byte
	Mode     int64
	UID, GID int
	Link     string
	Size     int64
	Content  uint64
	// shape is the sum of the content with all digits alike, and layer the number of the layer, from 0.
	shape uint64
	layer int
}

// unlike reports whether two entries differ.
func (e entry) unlike(other entry) bool {
	e.shape, e.layer, other.shape, other.layer = 0, 0, 0, 0
	return e != other
}

// contents are the files of an image, by their paths, its configuration without times, and the instruction that made each layer.
type imageContents struct {
	files  map[string]entry
	config string
	madeBy []string
}

// mostConfig bounds the size of the documents in an archive of images.
const mostConfig = 4 << 20

// readContents reads an image.
func readContents(image v1.Image) (out imageContents, err error) {
	layers, err := image.Layers()
	if err != nil {
		return out, fmt.Errorf("read an image: %w", err)
	}
	all := make([][]layerEntry, len(layers))
	for i, layer := range layers {
		if all[i], err = readLayer(layer); err != nil {
			return out, fmt.Errorf("read a layer of an image: %w", err)
		}
	}
	config, err := image.RawConfigFile()
	if err != nil {
		return out, fmt.Errorf("read the configuration of an image: %w", err)
	}
	out.files = merge(all)
	out.config, out.madeBy, err = readConfig(config)
	return out, err
}

// layerEntry is an entry of a layer.
type layerEntry struct {
	path string
	entry
}

func readLayer(layer v1.Layer) (out []layerEntry, err error) {
	r, err := layer.Uncompressed()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		e := layerEntry{path.Clean("/" + h.Name), entry{Type: h.Typeflag, Mode: h.Mode & int64(fs.ModePerm|0o7000), UID: h.Uid, GID: h.Gid, Link: h.Linkname, Size: h.Size}}
		content, shape := xxh3.New(), &digitless{to: xxh3.New()}
		if _, err := io.Copy(io.MultiWriter(content, shape), t); err != nil {
			return nil, err
		}
		e.Content, e.shape = content.Sum64(), shape.to.Sum64()
		out = append(out, e)
	}
}

// digitless sums up a content with all digits alike.
type digitless struct {
	to  *xxh3.Hasher
	buf []byte
}

// Write implements io.Writer.
func (d *digitless) Write(p []byte) (int, error) {
	d.buf = append(d.buf[:0], p...)
	for i, c := range d.buf {
		if c >= '0' && c <= '9' {
			d.buf[i] = '0'
		}
	}
	return d.to.Write(d.buf)
}

// whiteout begins the name of an entry that deletes another one of the layers below, and opaque is the name of one that deletes all
// entries of its folder.
const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
)

// merge puts layers on each other.
func merge(layers [][]layerEntry) map[string]entry {
	files := map[string]entry{}
	remove := func(below string, layer int, itself bool) {
		for p, e := range files {
			gone := strings.HasPrefix(p, below+"/") || itself && p == below
			if gone && e.layer < layer {
				delete(files, p)
			}
		}
	}
	for i, layer := range layers {
		for _, e := range layer {
			dir, name := path.Split(e.path)
			gone, deletes := strings.CutPrefix(name, whiteout)
			switch {
			case name == opaque:
				remove(path.Clean(dir), i, false)
			case deletes:
				remove(path.Join(dir, gone), i, true)
			default:
				e.layer = i
				files[e.path] = e.entry
			}
		}
	}
	return files
}

// readConfig returns the part of an image's configuration that containers get, and the instructions that made its layers.
func readConfig(document []byte) (config string, madeBy []string, err error) {
	var c struct {
		Config  json.RawMessage `json:"config"`
		History []struct {
			CreatedBy  string `json:"created_by"`
			EmptyLayer bool   `json:"empty_layer"`
		} `json:"history"`
	}
	if err := json.Unmarshal(document, &c); err != nil {
		return "", nil, fmt.Errorf("read the configuration of an image: %w", err)
	}
	for _, h := range c.History {
		if !h.EmptyLayer {
			madeBy = append(madeBy, instruction(h.CreatedBy))
		}
	}
	return string(c.Config), madeBy, nil
}

// unlike returns the paths of the entries that differ between two images, sorted.
func (c imageContents) unlike(other imageContents) (paths []string) {
	for p, e := range c.files {
		if is, ok := other.files[p]; !ok || e.unlike(is) {
			paths = append(paths, p)
		}
	}
	for p := range other.files {
		if _, ok := c.files[p]; !ok {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return paths
}

// instruction returns an instruction of a Dockerfile from the history of an image, which has the values of build arguments before the
// command. They may be secret.
func instruction(createdBy string) string {
	createdBy = strings.TrimSuffix(createdBy, " # buildkit")
	run, runs := strings.CutPrefix(createdBy, "RUN ")
	if !runs && !strings.HasPrefix(createdBy, "|") && !strings.HasPrefix(createdBy, "/bin/sh -c ") {
		return createdBy
	}
	if _, command, ok := strings.Cut(run, " -c "); ok {
		run = command
	} else if strings.HasPrefix(run, "|") {
		return "RUN …"
	}
	return "RUN " + run
}
