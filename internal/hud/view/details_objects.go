package view

import (
	"strings"

	"github.com/hone-dev/hone/internal/hud/text"
	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/pkg/model"
)

// objectsTab lists the objects that the last deploy has applied, and declared objects that have not been applied.
func (b *builder) objectsTab(m model.Manifest, u state.Update) Tab {
	t := Tab{Kind: TabObjects, Title: "objects", Empty: "nothing has been applied yet"}
	switch {
	case m.IsLocal():
		t.Empty = "a local resource applies no objects"
		return t
	case m.IsCompose():
		t.Empty = "Compose runs its containers; there are no objects of Kubernetes"
		return t
	}
	kind, name := 4, 4
	all := b.declared(m, u)
	for _, o := range all {
		kind, name = max(kind, text.Width(o.Kind)), max(name, text.Width(placeOf(o.ObjectID)))
	}
	p := page{now: b.now}
	health := state.Objects.In(b.v)
	for _, o := range all {
		status, tone, message := "applied", Good, ""
		if s := health.Ref(o.UID); s != nil {
			status, tone, message = healthWords(s.Value.Health)
			if s.Value.Message != "" {
				message = s.Value.Message
			}
			if why, refused := u.Refusal(s.Value); refused {
				status, tone, _ = healthWords(model.HealthFailed)
				message = why
			}
		}
		drift, drifts := b.driftOf(m.Name, o.ObjectID)
		switch since, lost := u.Lost[o.UID]; {
		case o.UID == "":
			status, tone = "not applied yet", Dim
		case lost:
			status, tone, message = "gone from the cluster", Bad, "for "+Elapsed(b.now.Sub(since))+"; it is applied again"
		case drifts:
			status, message = b.driftWords(drift)
			tone = Warn
			if drift.What == state.DriftDeleted && !drift.Keep {
				tone = Bad
			}
		}
		line := p.add(kind+name+4, Span{text.PadRight(o.Kind, kind) + "  ", Plain}, Span{text.PadRight(placeOf(o.ObjectID), name) + "  ", Plain}, Span{status, tone},
			Span{spaced(firstLine(message)), Dim})
		if o.Foreign {
			line.Cell = append(line.Cell, Span{"  applied by the resource's own command", Dim})
		}
		if o.UID != "" {
			line.Target.Object = o
		}
		if strings.Contains(message, "\n") {
			line.Folded = foreign(message, 0, Plain)
		}
		b.driftLines(&p, drift)
	}
	t.Lines = p.lines
	return t
}

// declared returns the applied objects, then the declared ones that have not been applied, which have no UID.
func (b *builder) declared(m model.Manifest, u state.Update) []model.AppliedObject {
	all := u.Applied[:len(u.Applied):len(u.Applied)]
	if m.K8s == nil {
		return all
	}
	for _, o := range m.K8s.Objects {
		id := o.ID()
		applied := false
		for _, a := range u.Applied {
			same := a.ObjectID
			if id.Namespace == "" {
				same.Namespace = ""
			}
			applied = applied || same == id
		}
		if !applied {
			all = append(all, model.AppliedObject{ObjectID: id, APIVersion: o.APIVersion})
		}
	}
	return all
}

// placeOf returns the place of an object: "namespace/name", or the name alone.
func placeOf(id model.ObjectID) string {
	if id.Namespace == "" {
		return id.Name
	}
	return id.Namespace + "/" + id.Name
}

// healthWords translates the health of an object.
func healthWords(health string) (word string, tone Tone, message string) {
	switch health {
	case model.HealthCurrent:
		return "ready", Good, ""
	case model.HealthInProgress:
		return "in progress", Warn, ""
	case model.HealthFailed:
		return "failed", Bad, ""
	case model.HealthTerminating:
		return "being deleted", Dim, ""
	case model.HealthGone:
		return "gone", Dim, ""
	case model.HealthDeleted:
		return "gone", Bad, ""
	}
	return "not known", Warn, ""
}
