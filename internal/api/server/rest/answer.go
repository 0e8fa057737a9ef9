package rest

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/yamltext"
)

// answer is one request and the writer of its response.
type answer struct {
	w http.ResponseWriter
	r *http.Request
	format
}

// send writes a document.
func (a *answer) send(code int, doc []byte) {
	media := mediaJSON
	if a.media == mediaYAML {
		if y, err := yamltext.FromJSON(doc); err == nil {
			doc, media = y, mediaYAML
		}
	}
	a.w.Header().Set("Content-Type", media)
	a.w.Header().Set("Content-Length", strconv.Itoa(len(doc)))
	a.w.WriteHeader(code)
	_, _ = a.w.Write(doc)
}

// sendValue writes a value as JSON.
func (a *answer) sendValue(code int, v any) {
	doc, err := json.Marshal(v)
	if err != nil {
		a.fail(apierrors.NewInternalError(err))
		return
	}
	a.send(code, append(doc, '\n'))
}

// fail answers with an error as a Status.
func (a *answer) fail(err error) {
	a.as = ""
	s := status(err)
	if s.Details != nil && s.Details.RetryAfterSeconds > 0 {
		a.w.Header().Set("Retry-After", strconv.Itoa(int(s.Details.RetryAfterSeconds)))
	}
	a.sendValue(int(s.Code), s)
}

// Fail answers a request with an error as Kubernetes does.
func Fail(w http.ResponseWriter, r *http.Request, err error) {
	(&answer{w: w, r: r}).fail(err)
}

// Refuse answers a request with a code and a text.
func Refuse(w http.ResponseWriter, r *http.Request, code int, text string) {
	reasons := map[int]metav1.StatusReason{http.StatusUnauthorized: metav1.StatusReasonUnauthorized, http.StatusForbidden: metav1.StatusReasonForbidden,
		http.StatusBadRequest: metav1.StatusReasonBadRequest, http.StatusNotFound: metav1.StatusReasonNotFound,
		http.StatusMethodNotAllowed: metav1.StatusReasonMethodNotAllowed}
	Fail(w, r, statusOf(code, reasons[code], text))
}

// statusOf returns an error that is answered with a code.
func statusOf(code int, reason metav1.StatusReason, text string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: text}}
}

// status returns the Status object that reports an error to a client.
func status(err error) metav1.Status {
	s := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError, Message: err.Error()}
	var known apierrors.APIStatus
	if errors.As(err, &known) {
		s = known.Status()
	} else if p, ok := problem.Of(err); ok {
		// A problem, which the user can act on, means that the request is invalid.
		s.Code, s.Reason, s.Message = http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, problem.Text(p)
	}
	if s.Code == 0 {
		s.Code = http.StatusInternalServerError
	}
	s.APIVersion, s.Kind = "v1", "Status"
	return s
}

// sendTyped writes a value as JSON under a media type of its own.
func (a *answer) sendTyped(code int, media string, v any) {
	doc, err := json.Marshal(v)
	if err != nil {
		a.fail(apierrors.NewInternalError(err))
		return
	}
	a.sendRaw(code, media, doc)
}

func (a *answer) sendRaw(code int, media string, doc []byte) {
	a.w.Header().Set("Content-Type", media)
	a.w.Header().Set("Content-Length", strconv.Itoa(len(doc)))
	a.w.WriteHeader(code)
	_, _ = a.w.Write(doc)
}
