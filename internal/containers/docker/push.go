package docker

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/distribution/reference"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/registry"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/base/words"
)

// Push implements Client.
func (e *Engine) Push(ctx context.Context, ref string, progress logstore.Logger, sent func(percent int)) error {
	if progress == nil {
		progress = logstore.Discard
	}
	auth, err := e.config.registryAuth(ref)
	if err != nil {
		return fmt.Errorf("encode credentials for %s: %w", ref, err)
	}
	err = e.push(ctx, ref, auth, progress, sent)
	for _, pause := range pushPauses {
		if err == nil || ctx.Err() != nil || !failedInside.MatchString(err.Error()) {
			break
		}
		logstore.Infof(progress, "The registry failed, trying again: %v", err)
		if retry.Sleep(ctx, pause) {
			err = e.push(ctx, ref, auth, progress, sent)
		}
	}
	if err == nil || ctx.Err() != nil {
		return ctxOr(ctx, err)
	}
	if away := e.orAway(ctx, err); IsUnreachable(away) {
		return away
	}
	var refused *streamError
	if errors.As(err, &refused) || !IsUnreachable(e.wrap("", err)) {
		return pushProblem(ref, err)
	}
	return e.wrap("push "+ref, err)
}

// PushHere implements Client.
func (e *Engine) PushHere(ctx context.Context, ref, password string) error {
	auth, err := registry.EncodeAuthConfig(registry.AuthConfig{Username: "hone", Password: password})
	if err == nil {
		err = e.push(ctx, ref, auth, logstore.Discard, nil)
	}
	return e.wrap("push "+ref, ctxOr(ctx, err))
}

// failedInside matches engines' messages about a registry that failed with a status 5xx. A registry occasionally fails
// one of two concurrent pushes of the same layer: "invalid checksum digest format" (distribution 2.8).
var failedInside = regexp.MustCompile(`unexpected (HTTP )?status\b.*: 5\d\d\b`)

// pushPauses are the pauses before such a push is tried again.
var pushPauses = []time.Duration{200 * time.Millisecond, time.Second}

func (e *Engine) push(ctx context.Context, ref, auth string, progress logstore.Logger, sent func(percent int)) error {
	body, err := e.api.ImagePush(ctx, ref, image.PushOptions{RegistryAuth: auth})
	if err != nil {
		return err
	}
	defer body.Close()
	bytes := pushBytes{}
	return readStream(body, func(m message) error {
		pushProgress(progress, ref, m)
		if percent, grown := bytes.take(m); grown && sent != nil {
			sent(percent)
		}
		return nil
	})
}

// pushBytes adds up the bytes of the layers that a push sends.
type pushBytes struct {
	layers  map[string]layerBytes
	percent int
}

type layerBytes struct{ sent, all int64 }

// take adds a message of the engine, and returns the percentage of the bytes that have been sent and whether it has grown.
// It never shrinks, although the engine reports the size of a layer only when its transfer begins.
func (p *pushBytes) take(m message) (percent int, grown bool) {
	layer, known := p.layers[m.ID]
	switch {
	case m.Status == "Pushing" && m.Progress != nil && m.Progress.Total > 0:
		// The engine counts the sent bytes, and takes the total from elsewhere: it can send more than that.
		layer = layerBytes{min(m.Progress.Current, m.Progress.Total), m.Progress.Total}
	case m.Status == "Pushed" && known:
		layer.sent = layer.all
	default:
		return p.percent, false
	}
	if p.layers == nil {
		p.layers = map[string]layerBytes{}
	}
	p.layers[m.ID] = layer
	var sum layerBytes
	for _, l := range p.layers {
		sum.sent, sum.all = sum.sent+l.sent, sum.all+l.all
	}
	now := int(100 * sum.sent / sum.all)
	grown = now > p.percent
	p.percent = max(p.percent, now)
	return p.percent, grown
}

// ctxOr returns ctx's error if it has one, so that a cancelled call reports the cancellation, else err.
func ctxOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func pushProgress(log logstore.Logger, ref string, m message) {
	if m.ID == "" || m.Status == "" {
		return
	}
	text, done := fmt.Sprintf("layer %s: %s", m.ID, strings.ToLower(m.Status)), false
	switch m.Status {
	case "Pushing":
		if m.Progress != nil && m.Progress.Total > 0 {
			text = fmt.Sprintf("layer %s: pushing %s / %s", m.ID, words.Size(m.Progress.Current), words.Size(m.Progress.Total))
		}
	case "Pushed", "Layer already exists":
		done = true
	default:
		if strings.HasPrefix(m.Status, "Mounted from") {
			done = true
			break
		}
		return // "Preparing", "Waiting"
	}
	log.Progress("push "+ref+" "+m.ID, text, done)
}

// pushProblem explains a push that the registry rejected or that did not reach it.
func pushProblem(ref string, err error) error {
	host := "docker.io"
	if named, perr := reference.ParseNormalizedNamed(ref); perr == nil {
		host = reference.Domain(named)
	}
	text := err.Error()
	mend := "check that the registry " + host + " is up and that the engine can reach it"
	switch {
	case containsAny(text, "does not exist locally", "No such image", "tag does not exist"):
		return fmt.Errorf("push %s: %w", ref, err)
	case containsAny(text, "denied", "unauthorized", "no basic auth", "authentication required", "401", "403"):
		mend = "log in with an account that may push there: docker login " + host +
			"\nor push somewhere else with default_registry(\"…\") in the Tiltfile"
	case containsAny(text, "server gave HTTP response to HTTPS client"):
		mend = fmt.Sprintf("allow plain HTTP for it: \"insecure-registries\": [%q] in the engine's daemon.json", host)
	}
	return problem.Wrap(&Passing{err}, "cannot push "+ref, mend).See("clusters")
}

func containsAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}
