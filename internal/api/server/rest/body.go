package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/hone-dev/hone/internal/api/projection"
	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/base/yamltext"
)

// maxBody limits the body of a request, as Kubernetes' own servers do.
const maxBody = 3 << 20

// body reads the body of a request; media is its type without parameters.
func (a *answer) body() (body []byte, media string, err error) {
	media, _, err = mime.ParseMediaType(a.r.Header.Get("Content-Type"))
	if err != nil {
		return nil, "", unsupported("")
	}
	if body, err = access.Body(a.w, a.r, maxBody); errors.Is(err, access.ErrTooLarge) {
		return nil, "", apierrors.NewRequestEntityTooLargeError(err.Error())
	} else if err != nil {
		return nil, "", apierrors.NewBadRequest(err.Error())
	}
	return body, media, nil
}

// document reads a body that is an object, as JSON.
func (a *answer) document() ([]byte, error) {
	body, media, err := a.body()
	if err != nil {
		return nil, err
	}
	switch media {
	case mediaJSON:
		return body, nil
	case mediaYAML:
		doc, err := yamltext.ToJSON(body)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return doc, nil
	}
	return nil, unsupported(media)
}

func unsupported(media string) error {
	return statusOf(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		fmt.Sprintf("the body of the request was in an unknown format (%q): send %s or %s", media, mediaJSON, mediaYAML))
}

// decode decodes a document to an object. It warns about fields that the kind does not have, or refuses them, as the request
// demands.
func (a *answer) decode(k *kind, doc []byte) (projection.Object, error) {
	obj := k.New()
	strict, err := kjson.UnmarshalStrict(doc, obj)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", k.Name, k.Version, k.Name, err))
	}
	switch validation := a.r.URL.Query().Get("fieldValidation"); {
	case len(strict) == 0 || validation == metav1.FieldValidationIgnore:
	case validation == metav1.FieldValidationStrict:
		texts := make([]string, len(strict))
		for i, e := range strict {
			texts[i] = e.Error()
		}
		return nil, apierrors.NewBadRequest("strict decoding error: " + strings.Join(texts, ", "))
	default:
		for _, e := range strict[:min(len(strict), 20)] {
			a.w.Header().Add("Warning", fmt.Sprintf("299 - %q", e.Error()))
		}
	}
	if gvk := obj.GetObjectKind().GroupVersionKind(); !gvk.Empty() && gvk != k.gvk() {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the object is a %s, not a %s", gvk, k.gvk()))
	}
	obj.SetManagedFields(nil)
	obj.GetObjectKind().SetGroupVersionKind(k.gvk())
	return obj, nil
}

// tree returns an object as maps and lists.
func tree(obj projection.Object) (map[string]any, error) {
	doc, err := json.Marshal(obj)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	var t map[string]any
	if err := json.Unmarshal(doc, &t); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return t, nil
}
