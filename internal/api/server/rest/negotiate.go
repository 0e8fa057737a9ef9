package rest

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// format is the form of the answer that a client requests.
type format struct {
	media string
	// as is the kind that objects are converted to: Table, PartialObjectMetadata(List), APIGroupDiscoveryList; empty means no
	// conversion. group and version are the kind's group and version.
	as, group, version string
}

// The media types that the API supports.
const (
	mediaJSON = "application/json"
	mediaYAML = "application/yaml"
	// The binary forms of OpenAPI documents, which older and newer clients name differently.
	mediaV2 = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
	mediaV3 = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
)

// convertible lists the forms that objects can be converted to, with their groups and versions.
var convertible = map[string][]string{
	"Table":                     {"meta.k8s.io/v1", "meta.k8s.io/v1beta1"},
	"PartialObjectMetadata":     {"meta.k8s.io/v1"},
	"PartialObjectMetadataList": {"meta.k8s.io/v1"},
	"APIGroupDiscoveryList":     {"apidiscovery.k8s.io/v2"},
}

// negotiate selects the form of the response: the first supported form among those that the client prefers.
func negotiate(accept []string, path string) (format, error) {
	all := strings.Join(accept, ",")
	if strings.TrimSpace(all) == "" {
		return format{media: mediaJSON}, nil
	}
	type clause struct {
		format
		quality float64
	}
	var known []clause
	for _, part := range strings.Split(all, ",") {
		// The names of OpenAPI's binary forms contain a character that is not allowed in media types.
		media, params, err := mime.ParseMediaType(strings.Replace(strings.TrimSpace(part), "@", ".", 1))
		if err != nil {
			continue
		}
		f := format{media: spoken(media, path), as: params["as"], group: params["g"], version: params["v"]}
		if f.media == "" || f.as != "" && !slices.Contains(convertible[f.as], f.group+"/"+f.version) {
			continue
		}
		q := 1.0
		if text, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil || q <= 0 {
				continue
			}
		}
		known = append(known, clause{f, q})
	}
	if len(known) == 0 {
		return format{}, statusOf(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
			"only the following media types are accepted: "+mediaJSON+", "+mediaYAML)
	}
	slices.SortStableFunc(known, func(a, b clause) int {
		switch {
		case a.quality > b.quality:
			return -1
		case a.quality < b.quality:
			return 1
		}
		return 0
	})
	return known[0].format, nil
}

// spoken returns the supported media type for a media range; empty if there is none.
func spoken(media, path string) string {
	openAPI := strings.HasPrefix(path, "/openapi/")
	switch media {
	case mediaJSON, "*/*", "application/*":
		return mediaJSON
	case mediaYAML:
		return mediaYAML
	case strings.Replace(mediaV2, "@", ".", 1):
		if openAPI {
			return mediaV2
		}
	case strings.Replace(mediaV3, "@", ".", 1):
		if openAPI {
			return mediaV3
		}
	}
	return ""
}
