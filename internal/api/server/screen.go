package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/hone-dev/hone/internal/api/server/access"
	"github.com/hone-dev/hone/internal/api/snapshot"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/base/words"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api"
	"github.com/hone-dev/hone/pkg/model"
)

// followed handles GET /api/snapshot/follow: the session at one moment, and then its changes. The next change is made after the client
// has read the one before it, from the newest state, so that a slow client costs no memory and never holds the loop. A client that
// names itself as a screen is one of the session's screens until the answer ends.
func (s *Subscriber) followed(src *source, w http.ResponseWriter, r *http.Request) {
	if id := words.Clip(r.URL.Query().Get("screen"), access.MostEchoed); id != "" {
		src.Dispatch(state.ScreenOpened{ID: id})
		defer src.Dispatch(state.ScreenClosed{ID: id})
	}
	var changes *snapshot.Changes
	s.dump(src, func(ctx context.Context, of snapshot.Session, out io.Writer) error {
		of.Until = s.options.Logs.Newest() + 1
		changes = of.Changes()
		return of.Write(ctx, out)
	})(w, r)
	if changes != nil {
		s.follow(r.Context(), src, changes, w)
	}
}

// follow sends changes until ctx is done, and then that the session is over.
func (s *Subscriber) follow(ctx context.Context, src *source, changes *snapshot.Changes, w http.ResponseWriter) {
	lines, cancel := s.options.Logs.Subscribe()
	defer cancel()
	var piece bytes.Buffer
	for ctx.Err() == nil {
		changed := src.Changed() // before looking, so that nothing is missed
		more := false
		var err error
		s.work(ctx, func() {
			v := src.View()
			more, err = changes.Next(ctx, v, src.Redactor(v), src.Loop().Last, &piece)
		})
		if err != nil || ctx.Err() == nil && !push(w, &piece) {
			return
		}
		if more {
			continue
		}
		access.Endless(w)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-lines:
		}
		retry.Sleep(ctx, pagePause)
	}
	piece.Reset()
	_ = json.NewEncoder(&piece).Encode(api.SnapshotChange{Over: true})
	push(w, &piece) // fails if the client has left
}

// screen decides POST /api/screen.
func screen(_ store.View, req api.ScreenRequest) (store.Action, error) {
	return state.ScreenMoved{ID: req.ID, At: model.ManifestName(req.Selected)}, nil
}

// object handles GET /api/object: an object that the session has applied, as the cluster has it.
func (s *Subscriber) object(src *source, w http.ResponseWriter, r *http.Request) {
	v, uid := src.View(), r.URL.Query().Get("uid")
	o, ok := applied(v, uid)
	switch {
	case s.options.Object == nil:
		fail(w, http.StatusConflict, "this session has no cluster")
		return
	case !ok:
		fail(w, http.StatusNotFound, fmt.Sprintf("the session has applied no object with the UID %q", words.Clip(uid, access.MostEchoed)))
		return
	}
	text, err := s.options.Object(r.Context(), o)
	if err != nil {
		failBy(w, http.StatusBadGateway, err)
		return
	}
	respond(w, api.Object{YAML: src.Redactor(src.View()).Text(text)})
}

// applied returns the object with a UID that a resource has applied, or a pod of a resource.
func applied(v store.View, uid string) (model.AppliedObject, bool) {
	if p := state.Pods.In(v).Ref(uid); p != nil {
		return model.AppliedObject{Cluster: p.Value.Cluster, ObjectID: model.ObjectID{Kind: "Pod", Namespace: p.Value.Namespace, Name: p.Value.Name}, APIVersion: "v1", UID: uid}, true
	}
	for e := range state.Updates.In(v).Refs() {
		for _, o := range e.Value.Applied {
			if o.UID == uid {
				return o, uid != ""
			}
		}
	}
	return model.AppliedObject{}, false
}

// previous handles GET /api/previous: the newest lines of the run of a container before its present one.
func (s *Subscriber) previous(src *source, w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	of := model.ContainerRef{Resource: model.ManifestName(q.Get("resource")), Namespace: q.Get("namespace"), Pod: q.Get("pod"), Name: q.Get("container")}
	pod, found := podNamed(src.View(), of)
	switch {
	case s.options.Previous == nil:
		fail(w, http.StatusConflict, "this session has no cluster")
		return
	case !found:
		fail(w, http.StatusNotFound, fmt.Sprintf("the session has no pod %q", words.Clip(of.Pod, access.MostEchoed)))
		return
	}
	of.Cluster = pod.Cluster
	lines, err := s.options.Previous(r.Context(), of)
	if err != nil {
		failBy(w, http.StatusBadGateway, err)
		return
	}
	out := api.PreviousRun{Lines: make([]string, len(lines))}
	redactor := src.Redactor(src.View())
	for i, l := range lines {
		out.Lines[i] = redactor.Text(l)
	}
	respond(w, out)
}

// podNamed returns the pod of a container; a container without a resource may be of any.
func podNamed(v store.View, of model.ContainerRef) (state.Pod, bool) {
	for e := range state.Pods.In(v).Refs() {
		p := e.Value
		if p.Namespace == of.Namespace && p.Name == of.Pod && slices.Contains([]model.ManifestName{"", p.Resource}, of.Resource) {
			return p, true
		}
	}
	return state.Pod{}, false
}
