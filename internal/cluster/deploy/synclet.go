package deploy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// SyncletInjection says which containers get the synclet, the program through which they are updated in place.
type SyncletInjection struct {
	// Image is the reference by which the cluster calls the image that has the program in it.
	Image string
	// Uses says for which images it is needed, by ImageTarget.Ref.
	Uses map[string]SyncletUse
}

// SyncletUse says what containers of one image need.
type SyncletUse struct {
	// Run puts the container's command under the synclet's supervisor. A touch of the file that the image's
	// LiveUpdate.RestartProcess names then restarts it, too.
	Run bool
	// Command is what the image itself says that its containers run; nil when that is not known.
	Command *ImageCommand
}

// ImageCommand is what containers of an image run unless their specification says otherwise.
type ImageCommand struct {
	Entrypoint []string
	Cmd        []string
}

// The paths of what is injected.
const (
	// SyncletFolder is where containers have the volume.
	SyncletFolder = "/.hone"
	// SyncletPath is where they have the program.
	SyncletPath = SyncletFolder + "/" + model.SyncletFile
	// SyncletInImage is where hone's image has it.
	SyncletInImage = "/" + model.SyncletFile
)

// syncletVolumeSize bounds the volume, as policies of some clusters demand.
const syncletVolumeSize = "16Mi"

// synclet adds the program to a pod specification with containers that need it: a volume, an init container before all
// others that fills it, and a mount in each container that needs it.
func (in *injector) synclet(spec map[string]any) error {
	if in.req.Synclet == nil {
		return nil
	}
	var served map[string]any
	for _, c := range lasting(spec) {
		b := in.images.byResult(text(c, "image"))
		if b == nil {
			continue
		}
		use, needed := in.req.Synclet.Uses[b.target.Ref]
		if !needed {
			continue
		}
		if err := serve(c, b.target, use); err != nil {
			return err
		}
		if served == nil {
			served = c
		}
	}
	if served == nil {
		return nil
	}
	volume := map[string]any{"name": model.SyncletName, "emptyDir": map[string]any{"sizeLimit": syncletVolumeSize}}
	volumes, err := without(spec, "volumes", "name", model.SyncletName)
	if err != nil {
		return err
	}
	spec["volumes"] = append(volumes, volume)
	inits, err := without(spec, "initContainers", "name", model.SyncletName)
	if err != nil {
		return err
	}
	spec["initContainers"] = append([]any{installer(in.req.Synclet.Image, served)}, inits...)
	return nil
}

// lasting returns the containers that run for as long as the pod does: the ordinary ones, then the sidecars.
func lasting(spec map[string]any) []map[string]any {
	sidecars := slices.DeleteFunc(itemsOf(spec, "initContainers"), func(c map[string]any) bool { return text(c, "restartPolicy") != "Always" })
	return slices.Concat(itemsOf(spec, "containers"), sidecars)
}

// serve gives one container the program, and its command to the supervisor where that is asked for.
func serve(c map[string]any, target model.ImageTarget, use SyncletUse) error {
	mounts, err := without(c, "volumeMounts", "mountPath", SyncletFolder)
	if err != nil {
		return err
	}
	c["volumeMounts"] = append(mounts, map[string]any{"name": model.SyncletName, "mountPath": SyncletFolder, "readOnly": true})
	if !use.Run {
		return nil
	}
	command, err := commandOf(c, target.Ref, use.Command)
	if err != nil {
		return err
	}
	run := []any{SyncletPath, "run"}
	if r := target.LiveUpdate.RestartProcess; r != nil && r.File != "" {
		run = append(run, "--watch", escaped(r.File))
	}
	c["command"] = append(append(run, "--"), command...)
	delete(c, "args")
	return nil
}

// commandOf returns what a container runs: its command and args where it has them. Args alone go to the image's
// entrypoint; a command alone is everything, whatever the image says.
func commandOf(c map[string]any, ref string, image *ImageCommand) ([]any, error) {
	command, _ := c["command"].([]any)
	args, _ := c["args"].([]any)
	if len(command) > 0 {
		return slices.Concat(unwrapped(command), args), nil
	}
	if image == nil {
		return nil, problem.New(fmt.Sprintf("the command of image %s is not known, so its process cannot be restarted in place", ref),
			fmt.Sprintf("say what containers of %s run: give entrypoint=[…] where the Tiltfile declares the image,\n"+
				"or the container a command in its YAML", ref))
	}
	if len(args) == 0 {
		args = literal(image.Cmd)
	}
	if command = slices.Concat(literal(image.Entrypoint), args); len(command) == 0 {
		return nil, problem.New(fmt.Sprintf("image %s has no command", ref),
			"give it an ENTRYPOINT or CMD, entrypoint=[…] in the Tiltfile, or the container a command in its YAML")
	}
	return command, nil
}

// unwrapped takes off what serve has put before a command.
func unwrapped(command []any) []any {
	if len(command) > 1 && command[0] == SyncletPath && command[1] == "run" {
		if i := slices.Index(command, any("--")); i > 0 {
			return command[i+1:]
		}
	}
	return command
}

// literal turns words of an image, in which Kubernetes expands nothing, into words of a container, in which it does.
func literal(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = escaped(w)
	}
	return out
}

func escaped(word string) string { return strings.ReplaceAll(word, "$", "$$") }

// installer returns the init container that fills the volume. It may do, and needs, no more than the container that it
// serves, so that what the cluster demands of that one holds for both, and the pod's quality of service stays.
func installer(image string, served map[string]any) map[string]any {
	security := map[string]any{"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
		"capabilities": map[string]any{"drop": []any{"ALL"}}}
	copyFields(security, field(served, "securityContext"), "runAsNonRoot", "runAsUser", "runAsGroup", "seccompProfile", "seLinuxOptions")
	c := map[string]any{"name": model.SyncletName, "image": image, "imagePullPolicy": "IfNotPresent",
		"command":         []any{SyncletInImage, "install", SyncletPath},
		"volumeMounts":    []any{map[string]any{"name": model.SyncletName, "mountPath": SyncletFolder}},
		"securityContext": security}
	resources := map[string]any{}
	for _, list := range []string{"requests", "limits"} {
		amounts := map[string]any{}
		copyFields(amounts, field(served, "resources", list), "cpu", "memory", "ephemeral-storage")
		if len(amounts) > 0 {
			resources[list] = amounts
		}
	}
	if len(resources) > 0 {
		c["resources"] = resources
	}
	return c
}

// copyFields copies the named fields that there are, and what is in them.
func copyFields(to, from map[string]any, names ...string) {
	for _, n := range names {
		switch v := from[n].(type) {
		case nil:
		case map[string]any:
			to[n] = maps.Clone(v)
		default:
			to[n] = v
		}
	}
}

// without returns the items of a list but for the one with the given value in a field.
func without(holder map[string]any, list, key, value string) ([]any, error) {
	items, ok := holder[list].([]any)
	if !ok && holder[list] != nil {
		return nil, fmt.Errorf("%s is %T, not a list", list, holder[list])
	}
	return slices.DeleteFunc(slices.Clone(items), func(item any) bool {
		m, _ := item.(map[string]any)
		return text(m, key) == value
	}), nil
}
