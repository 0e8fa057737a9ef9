package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// maxOperations bounds a JSON patch, as Kubernetes' own servers do.
const maxOperations = 10000

func init() {
	// A patch that copies what it has copied before grows without bounds.
	jsonpatch.AccumulatedCopySizeLimit = 2 * maxBody
}

// errOperations says that a JSON patch is too long.
var errOperations = fmt.Errorf("a JSON patch has at most %d operations", maxOperations)

// readPatch reads the body of a patch; an apply's is turned into a merge patch.
func (a *answer) readPatch() (patch []byte, kind types.PatchType, err error) {
	body, media, err := a.body()
	if err != nil {
		return nil, "", err
	}
	switch kind = types.PatchType(media); kind {
	case types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType:
		return body, kind, nil
	case types.ApplyYAMLPatchType:
		doc, err := yaml.YAMLToJSON(body)
		if err != nil {
			return nil, "", apierrors.NewBadRequest(err.Error())
		}
		return doc, kind, nil
	}
	return nil, "", statusOf(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		fmt.Sprintf("the body of the request was in an unknown format (%q): send one of %s, %s, %s, %s", media,
			types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType, types.ApplyYAMLPatchType))
}

// applyPatch returns a document as a patch makes it. Strategic merge patches are taken for merge patches: no kind says how
// its lists would be merged otherwise.
func applyPatch(doc, patch []byte, kind types.PatchType) ([]byte, error) {
	if kind != types.JSONPatchType {
		var object map[string]any
		if err := json.Unmarshal(patch, &object); err != nil || object == nil {
			return nil, apierrors.NewBadRequest("the patch is not an object")
		}
		out, err := jsonpatch.MergePatch(doc, patch)
		if err != nil {
			return nil, apierrors.NewBadRequest("apply the patch: " + err.Error())
		}
		return out, nil
	}
	operations, err := jsonpatch.DecodePatch(patch)
	switch {
	case err != nil:
		return nil, apierrors.NewBadRequest("read the patch: " + err.Error())
	case len(operations) > maxOperations:
		return nil, apierrors.NewRequestEntityTooLargeError(errOperations.Error())
	}
	out, err := safely(func() ([]byte, error) { return operations.Apply(doc) })
	if err != nil {
		return nil, statusOf(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "apply the patch: "+err.Error())
	}
	return out, nil
}

// safely turns a panic of a library on what a client sent into an error.
func safely(f func() ([]byte, error)) (out []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("the patch makes no sense")
		}
	}()
	return f()
}
