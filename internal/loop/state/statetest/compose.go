package statetest

import "github.com/hone-dev/hone/pkg/model"

// Compose is a service of project "shop", with the given images that hone builds.
func Compose(name string, images ...model.ImageTarget) model.Manifest {
	t := &model.ComposeTarget{Service: name, Image: name, Hash: "1",
		Project: model.ComposeProject{Name: "shop", Dir: "/src", Files: []model.ComposeFile{{Path: "/src/compose.yml"}}}}
	for _, im := range images {
		t.ImageTarget = im.Ref
	}
	return model.Manifest{Name: model.ManifestName(name), AutoInit: true, Images: images, Compose: t}
}
