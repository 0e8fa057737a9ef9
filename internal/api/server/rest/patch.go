package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hone-dev/hone/internal/base/yamltext"
)

// maxOperations limits a JSON patch, as Kubernetes' own servers do.
const maxOperations = 10000

func init() {
	// A patch that copies its own copies would grow without limit.
	jsonpatch.AccumulatedCopySizeLimit = 2 * maxBody
}

// errOperations is the error for a JSON patch with too many operations.
var errOperations = fmt.Errorf("a JSON patch has at most %d operations", maxOperations)

// readPatch reads the body of a patch. The body of an apply is converted from YAML to JSON, to be used as a merge patch.
func (a *answer) readPatch() (patch []byte, kind types.PatchType, err error) {
	body, media, err := a.body()
	if err != nil {
		return nil, "", err
	}
	switch kind = types.PatchType(media); kind {
	case types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType:
		return body, kind, nil
	case types.ApplyYAMLPatchType:
		doc, err := yamltext.ToJSON(body)
		if err != nil {
			return nil, "", apierrors.NewBadRequest(err.Error())
		}
		return doc, kind, nil
	}
	return nil, "", statusOf(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		fmt.Sprintf("the body of the request was in an unknown format (%q): send one of %s, %s, %s, %s", media,
			types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType, types.ApplyYAMLPatchType))
}

// applyPatch returns the patched document. Strategic merge patches are treated as merge patches: no kind defines another way
// to merge its lists.
func applyPatch(doc, patch []byte, kind types.PatchType) ([]byte, error) {
	if kind != types.JSONPatchType {
		var object map[string]any
		if err := json.Unmarshal(patch, &object); err != nil || object == nil {
			return nil, apierrors.NewBadRequest("the patch is not an object")
		}
		if d := directive(object); d != "" && kind == types.StrategicMergePatchType {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("%s: no kind has lists that are merged by directives; send a merge patch", d))
		}
		out, err := jsonpatch.MergePatch(doc, patch)
		if err != nil {
			return nil, apierrors.NewBadRequest("apply the patch: " + err.Error())
		}
		return out, nil
	}
	// The operations are counted first: a decoded operation takes many times the memory of its text.
	var count []json.RawMessage
	if json.Unmarshal(patch, &count) == nil && len(count) > maxOperations {
		return nil, apierrors.NewRequestEntityTooLargeError(errOperations.Error())
	}
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, apierrors.NewBadRequest("read the patch: " + err.Error())
	}
	out, err := safely(func() ([]byte, error) { return operations.Apply(doc) })
	if err != nil {
		return nil, statusOf(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "apply the patch: "+err.Error())
	}
	return out, nil
}

// directive returns a key of a strategic merge patch that directs the merge ("$patch"), or "" if there is none. Such a patch
// is refused, because the directive would have no effect.
func directive(v any) string {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if strings.HasPrefix(k, "$") {
				return k
			}
			if d := directive(v[k]); d != "" {
				return d
			}
		}
	case []any:
		for _, e := range v {
			if d := directive(e); d != "" {
				return d
			}
		}
	}
	return ""
}

// safely turns a panic of a library on a client's data into an error.
func safely(f func() ([]byte, error)) (out []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("the patch is invalid")
		}
	}()
	return f()
}
