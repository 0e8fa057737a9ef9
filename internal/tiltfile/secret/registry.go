package secret

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// registryKeys are the keys of Secrets with credentials for registries.
var registryKeys = map[string]bool{".dockerconfigjson": true, ".dockercfg": true}

// registryPasswords returns the passwords and tokens in a value under one of registryKeys: programs print and use them apart from it.
func registryPasswords(doc string) (out []string) {
	type login struct {
		Password, Auth, IdentityToken, RegistryToken string
	}
	var config struct{ Auths map[string]login }
	if json.Unmarshal([]byte(doc), &config) != nil {
		return nil
	}
	if config.Auths == nil { // the older format
		_ = json.Unmarshal([]byte(doc), &config.Auths)
	}
	for _, registry := range slices.Sorted(maps.Keys(config.Auths)) {
		l := config.Auths[registry]
		plain, _ := base64.StdEncoding.DecodeString(l.Auth)
		_, password, _ := strings.Cut(string(plain), ":")
		out = append(out, l.Password, password, l.IdentityToken, l.RegistryToken)
	}
	return out
}
