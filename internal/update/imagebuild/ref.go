package imagebuild

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/distribution/reference"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// tagPrefix begins every tag that is derived from the image's content.
const tagPrefix = "hone-"

// tagHex is the number of hexadecimal digits of the image's id in a content tag.
const tagHex = 16

// maxTag is the length in bytes that registries allow for a tag.
const maxTag = 128

// ContentTag returns the tag for an image with the content id ("sha256:…"): the same content has the same tag, so that an
// unchanged image changes no object.
func ContentTag(imageID string) (string, error) {
	digits := imageID[strings.LastIndexByte(imageID, ':')+1:]
	if len(digits) < tagHex {
		return "", fmt.Errorf("image id %q is too short", imageID)
	}
	if _, err := hex.DecodeString(digits[:tagHex]); err != nil {
		return "", fmt.Errorf("image id %q: %w", imageID, err)
	}
	return tagPrefix + digits[:tagHex], nil
}

// hasContentTag reports whether the reference's tag was made from the image id.
func hasContentTag(ref, imageID string) bool {
	tag, err := ContentTag(imageID)
	return err == nil && strings.HasSuffix(ref, tag)
}

// repository returns the familiar name of the reference without tag and digest: "api", "gcr.io/shop/api".
func repository(ref string) (string, error) {
	named, err := reference.ParseNormalizedNamed(ref)
	if err != nil {
		return "", problem.Wrap(err, fmt.Sprintf("%q is not an image name", ref),
			"image names are in lower case: name, host/name or host:port/path/name, each with an optional :tag")
	}
	return reference.FamiliarName(named), nil
}

var escaper = strings.NewReplacer("/", "_", ":", "_", "@", "_")

// inRegistry returns the repository of the image within the registry, without host. A reference that contains the
// registry's host keeps the repository that it names.
func inRegistry(name string, reg model.Registry) string {
	for _, host := range []string{reg.Host, reg.HostFromCluster} {
		if rest, ok := strings.CutPrefix(name, host+"/"); ok && host != "" {
			return rest
		}
	}
	if reg.SingleName != "" {
		return reg.SingleName
	}
	return escaper.Replace(name)
}

// LocalName returns the name, without a tag, under which this machine stores and pushes the image ref of the Tiltfile:
// the same name without a registry, otherwise the escaped name within the registry.
func LocalName(ref string, reg model.Registry) (string, error) { return nameAt(reg.Host, ref, reg) }

// ClusterName returns the name, without a tag, under which the cluster pulls the image ref of the Tiltfile.
func ClusterName(ref string, reg model.Registry) (string, error) {
	if reg.HostFromCluster != "" {
		return nameAt(reg.HostFromCluster, ref, reg)
	}
	return nameAt(reg.Host, ref, reg)
}

func nameAt(host, ref string, reg model.Registry) (string, error) {
	name, err := repository(ref)
	if err != nil || reg.Empty() {
		return name, err
	}
	full := host + "/" + inRegistry(name, reg)
	if _, err := reference.ParseNormalizedNamed(full); err != nil {
		return "", problem.Wrap(err, fmt.Sprintf("the registry %q does not give a valid image name for %s", host, ref),
			"write default_registry(\"host:port\") or default_registry(\"host/path\"), in lower case and without https://")
	}
	return full, nil
}

// LocalRef returns LocalName with the tag; ClusterRef does the same with ClusterName. If one repository holds all
// images, the name of the image becomes part of the tag.
func LocalRef(ref string, reg model.Registry, tag string) (string, error) {
	return tagged(LocalName, ref, reg, tag)
}

// ClusterRef returns the reference under which the cluster pulls the image.
func ClusterRef(ref string, reg model.Registry, tag string) (string, error) {
	return tagged(ClusterName, ref, reg, tag)
}

func tagged(name func(string, model.Registry) (string, error), ref string, reg model.Registry, tag string) (string, error) {
	place, err := name(ref, reg)
	if err != nil {
		return "", err
	}
	if reg.SingleName != "" && !reg.Empty() {
		repo, err := repository(ref)
		if err != nil {
			return "", err
		}
		tag = singleTag(escaper.Replace(repo), tag)
	}
	full := place + ":" + tag
	if _, err := reference.ParseNormalizedNamed(full); err != nil {
		return "", fmt.Errorf("image reference %q: %w", full, err)
	}
	return full, nil
}

// singleTag joins image name and tag, with the end of a long name replaced by a hash.
func singleTag(name, tag string) string {
	if room := maxTag - len(tag) - 1; len(name) > room && room > tagHex {
		sum := sha256.Sum256([]byte(name))
		name = name[:room-tagHex-1] + "-" + hex.EncodeToString(sum[:])[:tagHex]
	}
	return name + "-" + tag
}

// toCluster replaces this machine's name of the registry in a reference by the cluster's.
func toCluster(ref string, reg model.Registry) string {
	if rest, ok := strings.CutPrefix(ref, reg.Host+"/"); ok && reg.Host != "" && reg.HostFromCluster != "" {
		return reg.HostFromCluster + "/" + rest
	}
	return ref
}

// fullRef returns the full form of the reference that container runtimes use: "docker.io/library/api:tag".
func fullRef(ref string) (string, error) {
	named, err := reference.ParseNormalizedNamed(ref)
	if err != nil {
		return "", fmt.Errorf("image reference %q: %w", ref, err)
	}
	return reference.TagNameOnly(named).String(), nil
}
