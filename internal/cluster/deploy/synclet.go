package deploy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/pkg/model"
)

// SyncletInjection selects the containers that get the synclet, the program that updates them in place.
type SyncletInjection struct {
	// Image is the cluster's reference to the image that contains the program.
	Image string
	// Uses holds the images that need the synclet, by ImageTarget.Ref.
	Uses map[string]SyncletUse
}

// SyncletUse describes the needs of the containers of one image.
type SyncletUse struct {
	// Run puts the container's command under the synclet's supervisor. The supervisor also restarts the command when
	// the file that the image's LiveUpdate.RestartProcess names is touched.
	Run bool
	// Command is the image's own command; nil if it is unknown.
	Command *ImageCommand
}

// ImageCommand is the command that containers of an image run by default.
type ImageCommand struct {
	Entrypoint []string
	Cmd        []string
}

// The paths of the injected volume and program.
const (
	// SyncletFolder is the mount path of the volume in containers.
	SyncletFolder = "/.hone"
	// SyncletPath is the path of the program in containers.
	SyncletPath = SyncletFolder + "/" + model.SyncletFile
	// SyncletInImage is the path of the program in hone's image.
	SyncletInImage = "/" + model.SyncletFile
)

// syncletVolumeSize bounds the volume, as the policies of some clusters require.
const syncletVolumeSize = "16Mi"

// synclet adds the program to a pod specification with containers that need it: a volume, an init container that runs
// first and fills the volume, and a mount in each container that needs the program.
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

// lasting returns the containers that run for the pod's lifetime: the ordinary ones, then the sidecars.
func lasting(spec map[string]any) []map[string]any {
	sidecars := slices.DeleteFunc(itemsOf(spec, "initContainers"), func(c map[string]any) bool { return text(c, "restartPolicy") != "Always" })
	return slices.Concat(itemsOf(spec, "containers"), sidecars)
}

// serve mounts the program in one container, and puts the container's command under the supervisor if requested.
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

// commandOf returns the command of a container, by the rules of Kubernetes: args without a command are appended to the
// image's entrypoint; a command overrides both the image's entrypoint and its cmd.
func commandOf(c map[string]any, ref string, image *ImageCommand) ([]any, error) {
	command, _ := c["command"].([]any)
	args, _ := c["args"].([]any)
	if len(command) > 0 {
		return slices.Concat(unwrapped(command), args), nil
	}
	if image == nil {
		return nil, problem.New(fmt.Sprintf("the command of image %s is unknown, so its process cannot be restarted in place", ref),
			fmt.Sprintf("name the command of %s: set entrypoint=[…] where the Tiltfile declares the image,\n"+
				"or command in the container's YAML", ref))
	}
	if len(args) == 0 {
		args = literal(image.Cmd)
	}
	if command = slices.Concat(literal(image.Entrypoint), args); len(command) == 0 {
		return nil, problem.New(fmt.Sprintf("image %s has no command", ref),
			"set ENTRYPOINT or CMD in its Dockerfile, entrypoint=[…] in the Tiltfile, or command in the container's YAML")
	}
	return command, nil
}

// unwrapped removes the prefix that serve adds to a command.
func unwrapped(command []any) []any {
	if len(command) > 1 && command[0] == SyncletPath && command[1] == "run" {
		if i := slices.Index(command, any("--")); i > 0 {
			return command[i+1:]
		}
	}
	return command
}

// literal escapes the words of an image's command, in which Kubernetes expands no variables, for use as a container's
// command, in which it does.
func literal(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = escaped(w)
	}
	return out
}

func escaped(word string) string { return strings.ReplaceAll(word, "$", "$$") }

// installer returns the init container that fills the volume. It has the permissions and resources of the container
// that it serves, or fewer. So the cluster's policies accept both, and the pod keeps its quality of service class.
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

// copyFields copies the named fields that exist, with their content.
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

// without returns the items of a list except the one with the given value in a field.
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
