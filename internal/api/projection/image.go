package projection

import (
	"iter"
	"maps"
	"slices"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/store"
	"github.com/hone-dev/hone/pkg/api/v1alpha1"
	"github.com/hone-dev/hone/pkg/model"
)

// imageMade explains why images cannot be written.
const imageMade = "images are declared in the Tiltfile; to build them again: hone trigger"

// image is an image of the session, with the resources that use it.
type image struct {
	target *model.ImageTarget
	users  []*row
	made   digest
}

// imagesOf returns the images that resources use, by reference.
func imagesOf(v store.View) map[string]*image {
	out := map[string]*image{}
	for _, r := range rowsOf(v, 0) {
		for n := range r.Value.Manifest.Images {
			im := &r.Value.Manifest.Images[n]
			known := out[im.Ref]
			if known == nil {
				known = &image{target: im}
				out[im.Ref] = known
			}
			known.users, known.made = append(known.users, &r), known.made.word(r.ID).number(uint64(r.made))
		}
	}
	return out
}

// result returns the newest result and the resource that it belongs to.
func (i *image) result() (newest model.ImageResult, of *row) {
	of = i.users[0]
	for _, r := range i.users {
		if res, ok := r.update.Value.Images[i.target.Ref]; ok && !res.StartedAt.Before(newest.StartedAt) {
			newest, of = res, r
		}
	}
	return newest, of
}

func images[O Object](v store.View, kind string, has func(*model.ImageTarget) bool, create func(*image) O) iter.Seq[Item] {
	s := sourceOf(v)
	all := imagesOf(v)
	var items []Item
	for _, ref := range slices.Sorted(maps.Keys(all)) {
		im := all[ref]
		if has(im.target) {
			items = append(items, item(s, kind, safeName(ref), im.made, func() O {
				o := create(im)
				o.SetCreationTimestamp(metaOf(&im.users[0].Meta, nil).CreationTimestamp)
				return o
			}))
		}
	}
	return inOrder(items)
}

func imageMap() Kind {
	type object = *v1alpha1.ImageMap
	return Kind{
		Name: "ImageMap", ShortNames: []string{"im"},
		Doc:    "ImageMap maps an image reference of the Tiltfile to the image that was built for it.",
		Tables: tables(state.Resources, state.Updates),
		Items: func(v store.View) iter.Seq[Item] {
			return images(v, "ImageMap", func(*model.ImageTarget) bool { return true }, makeImageMap)
		},
		New: func() Object { return &v1alpha1.ImageMap{} },
		Columns: []Column{
			column("Selector", "The reference.", func(o object) any { return o.Spec.Selector }),
			column("Image", "The newest image.", func(o object) any { return o.Status.Image }),
		},
		Write: readOnly("imagemaps", imageMade),
	}
}

func makeImageMap(im *image) *v1alpha1.ImageMap {
	t := im.target
	res, _ := im.result()
	o := &v1alpha1.ImageMap{Spec: v1alpha1.ImageMapSpec{Selector: t.Ref, MatchInEnvVars: t.MatchInEnvVars}}
	if t.Entrypoint != nil {
		o.Spec.OverrideCommand = &v1alpha1.ImageMapOverrideCommand{Command: slices.Clone(t.Entrypoint)}
	}
	if t.ContainerArgs != nil {
		o.Spec.OverrideArgs = &v1alpha1.ImageMapOverrideArgs{Args: slices.Clone(*t.ContainerArgs)}
	}
	o.Status = v1alpha1.ImageMapStatus{Image: res.Cluster, ImageFromCluster: res.Cluster, ImageFromLocal: res.Local, BuildStartTime: microOrNil(res.StartedAt)}
	return o
}

func dockerImage() Kind {
	type object = *v1alpha1.DockerImage
	return Kind{
		Name: "DockerImage", ShortNames: []string{"di"},
		Doc:    "DockerImage is an image that is built from a Dockerfile.",
		Tables: tables(state.Resources, state.Updates),
		Items: func(v store.View) iter.Seq[Item] {
			return images(v, "DockerImage", func(t *model.ImageTarget) bool { return t.Docker != nil }, makeDockerImage)
		},
		New: func() Object { return &v1alpha1.DockerImage{} },
		Columns: []Column{
			column("Status", "The status of the build.", func(o object) any { return imageWord(o.Status) }),
			column("Ref", "The newest image.", func(o object) any { return o.Status.Ref }),
			wide(column("Context", "The build context.", func(o object) any { return o.Spec.Context })),
		},
		Write: readOnly("dockerimages", imageMade),
	}
}

func imageWord(st v1alpha1.ImageStatus) string {
	switch {
	case st.Building != nil:
		return "building"
	case st.Completed == nil:
		return "waiting"
	case st.Completed.Error != "":
		return "error"
	}
	return "ok"
}

func makeDockerImage(im *image) *v1alpha1.DockerImage {
	d := im.target.Docker
	o := &v1alpha1.DockerImage{Status: imageStatus(im)}
	o.Spec = v1alpha1.DockerImageSpec{Ref: im.target.Ref, DockerfileContents: d.Contents, Context: d.Context, Target: d.Target,
		SSHAgentConfig: slices.Clone(d.SSH), Secrets: slices.Clone(d.Secrets), Network: d.Network, Pull: d.Pull,
		CacheFrom: model.CacheTexts(d.CacheFrom), CacheTo: model.CacheTexts(d.CacheTo), Platform: d.Platform, ExtraTags: slices.Clone(d.ExtraTags), ExtraHosts: slices.Clone(d.ExtraHosts),
		ContextIgnores: ignores(d.ContextIgnores), ImageMaps: safeNames(im.target.DependsOn), Cluster: engineName}
	for _, k := range slices.Sorted(maps.Keys(d.BuildArgs)) {
		arg := k
		if v := d.BuildArgs[k]; v != nil {
			arg += "=" + *v
		}
		o.Spec.Args = append(o.Spec.Args, arg)
	}
	return o
}

func safeNames(refs []string) []string {
	var out []string
	for _, r := range refs {
		out = append(out, safeName(r))
	}
	return out
}

func cmdImage() Kind {
	type object = *v1alpha1.CmdImage
	return Kind{
		Name: "CmdImage", ShortNames: []string{"ci"},
		Doc:    "CmdImage is an image that a command builds.",
		Tables: tables(state.Resources, state.Updates),
		Items: func(v store.View) iter.Seq[Item] {
			return images(v, "CmdImage", func(t *model.ImageTarget) bool { return t.Custom != nil }, makeCmdImage)
		},
		New: func() Object { return &v1alpha1.CmdImage{} },
		Columns: []Column{
			column("Status", "The status of the build.", func(o object) any { return imageWord(o.Status) }),
			column("Ref", "The newest image.", func(o object) any { return o.Status.Ref }),
			column("Command", "The command that builds the image.", func(o object) any { return model.Cmd{Argv: o.Spec.Args}.String() }),
		},
		Write: readOnly("cmdimages", imageMade),
	}
}

func makeCmdImage(im *image) *v1alpha1.CmdImage {
	c := im.target.Custom
	return &v1alpha1.CmdImage{Status: imageStatus(im), Spec: v1alpha1.CmdImageSpec{Args: slices.Clone(c.Command.Argv), Dir: c.Command.Dir,
		Env: slices.Clone(c.Command.Env), Ref: im.target.Ref, OutputTag: c.Tag, OutputsImageRefTo: c.OutputsImageRefTo,
		ImageMaps: safeNames(c.ImageDeps), Cluster: engineName}}
}

// imageStatus returns the status of the updates that build an image.
func imageStatus(im *image) v1alpha1.ImageStatus {
	res, of := im.result()
	st := v1alpha1.ImageStatus{Ref: res.Local}
	for _, r := range im.users {
		if c := r.update.Value.Current; c != nil && res.StartedAt.Before(c.StartedAt) {
			st.Building = &v1alpha1.ImageStateBuilding{Reason: c.Reason.String(), StartedAt: micro(c.StartedAt)}
			return st
		}
	}
	u := &of.update.Value
	for _, b := range u.Builds {
		if b.StartedAt.Equal(res.StartedAt) && res.Local != "" {
			st.Completed = &v1alpha1.ImageStateCompleted{Reason: b.Reason.String(), StartedAt: micro(b.StartedAt), FinishedAt: micro(b.FinishedAt)}
			return st
		}
	}
	if last, ok := u.Last(); ok {
		st.Completed = &v1alpha1.ImageStateCompleted{Reason: last.Reason.String(), StartedAt: micro(last.StartedAt), FinishedAt: micro(last.FinishedAt)}
		if res.Local == "" {
			st.Completed.Error = last.Err
		}
		return st
	}
	st.Waiting = &v1alpha1.ImageStateWaiting{Reason: "waiting-for-update"}
	return st
}

func dockerComposeService() Kind {
	type object = *v1alpha1.DockerComposeService
	return Kind{
		Name: "DockerComposeService", ShortNames: []string{"dcs"},
		Doc:    "DockerComposeService is a service of Docker Compose.",
		Tables: tables(state.Resources, state.Updates, state.Pods),
		Items: func(v store.View) iter.Seq[Item] {
			return inOrder(perResource(v, "DockerComposeService", withPods, func(r *row) bool { return r.Value.Manifest.IsCompose() },
				func(r *row) digest { return groupMade(r.pods) }, makeService))
		},
		New: func() Object { return &v1alpha1.DockerComposeService{} },
		Columns: []Column{
			column("Service", "The service.", func(o object) any { return o.Spec.Service }),
			column("Project", "The project.", func(o object) any { return o.Spec.Project.Name }),
			column("Container", "The name of its container.", func(o object) any { return o.Status.ContainerName }),
			column("Status", "The state of the container.", func(o object) any {
				if o.Status.ContainerState == nil {
					return ""
				}
				return o.Status.ContainerState.Status
			}),
			column("Error", "Why its last update failed.", func(o object) any { return o.Status.LastApplyError }),
		},
		Write: readOnly("dockercomposeservices", "services are declared in the Compose files"),
	}
}

func makeService(_ *source, r *row) *v1alpha1.DockerComposeService {
	c := r.Value.Manifest.Compose
	o := &v1alpha1.DockerComposeService{ObjectMeta: metaOfResource(r.Entry)}
	o.Spec = v1alpha1.DockerComposeServiceSpec{Service: c.Service, ImageMaps: imageNames(&r.Value.Manifest), DisableSource: disableOfResource(r.ID),
		Project: v1alpha1.DockerComposeProject{ProjectPath: c.Project.Dir, Name: c.Project.Name, Profiles: slices.Clone(c.Project.Profiles)}}
	for _, f := range c.Project.Files {
		if f.Path != "" {
			o.Spec.Project.ConfigPaths = append(o.Spec.Project.ConfigPaths, f.Path)
		}
	}
	ports := c.Ports
	if pods := r.pods.Values(); len(pods) > 0 {
		p := pods[0]
		o.Status.ContainerID, o.Status.ContainerName, o.Status.ContainerState = p.UID, p.Name, containerStateOf(p.Pod)
		if p.Phase == "Running" {
			ports = p.Published // including ports that the engine chose
		}
	}
	for _, p := range ports {
		o.Status.PortBindings = append(o.Status.PortBindings, v1alpha1.DockerPortBinding{ContainerPort: int32(p.Target), HostPort: int32(p.Published), HostIP: p.HostIP})
	}
	if last, ok := r.update.Value.Last(); ok {
		o.Status.LastApplyStartTime, o.Status.LastApplyFinishTime, o.Status.LastApplyError = micro(last.StartedAt), micro(last.FinishedAt), last.Err
	}
	o.Status.DisableStatus = disableStatusOf(r.Entry)
	return o
}

// containerStateOf returns the state of a container of Compose, in the engine's terms.
func containerStateOf(p model.Pod) *v1alpha1.DockerContainerState {
	st := &v1alpha1.DockerContainerState{Status: p.Engine, HealthStatus: p.Health}
	for _, c := range p.Containers {
		st.ExitCode, st.Error = int32(c.ExitCode), c.Message
		st.StartedAt, st.FinishedAt = micro(c.StartedAt), micro(c.FinishedAt)
	}
	return st
}
