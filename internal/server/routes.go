package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/server/door"
	"github.com/hone-dev/hone/internal/state"
	"github.com/hone-dev/hone/internal/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// route is one of hone's own.
type route struct {
	// pattern is that of http.ServeMux: "GET /api/view".
	pattern string
	serve   http.HandlerFunc
}

// routes returns hone's own routes. Those that change something take JSON, which no form of a web page can send.
func (s *Subscriber) routes(src *source) []route {
	return []route{
		{"GET /api/view", func(w http.ResponseWriter, _ *http.Request) { s.view(src, w) }},
		{"POST /api/trigger", wantsJSON(func(w http.ResponseWriter, r *http.Request) { trigger(src.Runtime, w, r) })},
		{"POST /api/click", wantsJSON(func(w http.ResponseWriter, r *http.Request) { click(src.Runtime, w, r) })},
		{"GET /api/logs", s.logs},
		{"GET /api/events", func(w http.ResponseWriter, r *http.Request) { s.events(src, w, r) }},
		{"POST /api/stop", wantsJSON(s.stop)},
		{"POST /api/attach", s.attach},
	}
}

// missed answers what no route takes: a path that there is not, or one that is asked in another way.
func missed(all []route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var methods []string
		for _, route := range all {
			if method, path, _ := strings.Cut(route.pattern, " "); path == r.URL.Path {
				methods = append(methods, method)
			}
		}
		if methods != nil {
			w.Header().Set("Allow", strings.Join(methods, ", "))
			refuse(w, r, http.StatusMethodNotAllowed, fmt.Sprintf("%s takes %s", clip(r.URL.Path), strings.Join(methods, ", ")))
			return
		}
		refuse(w, r, http.StatusNotFound, fmt.Sprintf("there is nothing at %s", clip(r.URL.Path)))
	}
}

func wantsJSON(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
			fail(w, http.StatusUnsupportedMediaType, "send JSON, with Content-Type: application/json")
			return
		}
		next(w, r)
	}
}

func (s *Subscriber) view(src *source, w http.ResponseWriter) {
	v := src.View()
	doc, err := json.Marshal(View(v, s.options.Version))
	if err != nil {
		fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	var b bytes.Buffer
	if err := json.Indent(&b, src.Redactor(v).JSON(doc), "", "  "); err != nil {
		fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	b.WriteByte('\n')
	_, _ = b.WriteTo(w)
}

// stop answers first and ends the session then.
func (s *Subscriber) stop(w http.ResponseWriter, r *http.Request) {
	var req struct{}
	if !decode(w, r, &req) {
		return
	}
	if s.options.Stop == nil {
		fail(w, http.StatusConflict, "this session cannot be stopped from outside")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Connection", "close")
	w.WriteHeader(http.StatusAccepted)
	_, _ = w.Write([]byte("{}\n"))
	_ = http.NewResponseController(w).Flush()
	s.options.Stop()
}

func fail(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(api.Failure{Error: text})
}

// clip shortens what a client sent for an answer.
func clip(s string) string {
	const most = 100
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

func trigger(rt *store.Runtime, w http.ResponseWriter, r *http.Request) {
	var req api.TriggerRequest
	if !decode(w, r, &req) {
		return
	}
	names, err := known(rt.View(), req.ManifestNames)
	if err != nil {
		fail(w, http.StatusNotFound, err.Error())
		return
	}
	rt.Dispatch(state.ResourcesTriggered{Names: names})
	done(w)
}

// decode reads a request's body into req, or answers what is wrong with it.
func decode(w http.ResponseWriter, r *http.Request, req any) bool {
	body, err := door.Body(w, r, maxBody)
	if errors.Is(err, door.ErrTooLarge) {
		fail(w, http.StatusRequestEntityTooLarge, err.Error())
		return false
	}
	if err == nil {
		err = json.Unmarshal(body, req)
	}
	if err != nil {
		fail(w, http.StatusBadRequest, "read the request: "+err.Error())
		return false
	}
	return true
}

// done answers a request that asks for nothing but that something is done.
func done(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte("{}\n"))
}

// known returns the names that a trigger asks for, if all of them exist.
func known(v store.View, asked []string) ([]model.ManifestName, error) {
	if len(asked) == 0 {
		return nil, errors.New("name at least one resource")
	}
	all := []string{string(model.TiltfileName)}
	for _, e := range state.InOrder(v) {
		all = append(all, e.ID)
	}
	var names []model.ManifestName
	for _, n := range asked {
		if e, ok := state.Resources.In(v).Get(n); ok && !e.Value.Enabled {
			return nil, fmt.Errorf("resource %q is disabled; enable it first: hone enable %s", n, n)
		}
		if !slices.Contains(all, n) {
			return nil, fmt.Errorf("no resource is called %q; there are: %s", n, strings.Join(all, ", "))
		}
		names = append(names, model.ManifestName(n))
	}
	return names, nil
}
