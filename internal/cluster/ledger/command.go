package ledger

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/hone-dev/hone/pkg/model"
)

// The arguments and the environment of a delete command may hold secrets, and a later session has to run the command although
// the Tiltfile may be broken or no longer declare it. So the ledger stores the names of the variables in clear text, and
// their values and the arguments only encrypted. The key is in a separate file, in another folder, or the user's own; never in a ledger.
// If the key is lost, only the names remain: the command then runs with arguments from the Tiltfile and values from the Tiltfile or
// the environment, or is refused.

// clearVariable is stored in clear text: it is a path, and without it a command would work on another cluster.
const clearVariable = "KUBECONFIG"

type storedCommand struct {
	// Command is the encrypted argument list.
	Command string `json:"command,omitempty"`
	Dir     string `json:"dir,omitempty"`
	EchoOff bool   `json:"echoOff,omitempty"`
	// Clear are the variables that are not secret, as KEY=value.
	Clear []string `json:"clear,omitempty"`
	// Variables are the names of the other variables, Sealed their encrypted values.
	Variables []string `json:"variables,omitempty"`
	Sealed    string   `json:"sealed,omitempty"`
	// Secrets are the encrypted values in the command that are not shown, each after its name and key.
	Secrets string `json:"secrets,omitempty"`
	// Named are the encrypted values among Secrets that are also names of the project. Earlier versions wrote none.
	Named string `json:"named,omitempty"`
	// Deps are the dependencies that decide when a down command runs. Earlier versions wrote none.
	Deps Deps `json:"deps,omitempty"`
	// Argv and Env are fields of earlier formats that these replace.
	Argv []string `json:"argv,omitempty"`
	Env  []string `json:"env,omitempty"`
}

// clear reports whether a command is stored in clear text, as in earlier formats.
func (c storedCommand) clear() bool { return len(c.Argv)+len(c.Env) > 0 }

// sealed reports whether a stored command has encrypted parts.
func (c storedCommand) sealed() bool { return c.Command+c.Secrets+c.Named+c.Sealed != "" }

// opens reports whether all encrypted parts of a stored command can be read.
func (l *Ledger) opens(name model.ManifestName, c storedCommand) bool {
	at := l.places(name)
	for sealed, place := range map[string]string{c.Command: at.argv, c.Secrets: at.secrets, c.Named: at.named, c.Sealed: at.env} {
		raw, err := base64.StdEncoding.DecodeString(sealed)
		if sealed == "" {
			continue
		}
		if err == nil {
			raw, err = l.vault.open(raw, place)
		}
		if err != nil || raw == nil {
			return false
		}
	}
	return true
}

// commandPlaces are the places that bind the encrypted parts of a command to its resource and cluster.
type commandPlaces struct{ env, argv, secrets, named string }

func (l *Ledger) places(name model.ManifestName) commandPlaces {
	at := l.key.Cluster + "\x00" + string(name)
	return commandPlaces{at, at + "\x00argv", at + "\x00secrets", at + "\x00named"}
}

// storeCommand returns the stored form of a command.
func (l *Ledger) storeCommand(name model.ManifestName, cmd model.Cmd) (out storedCommand, err error) {
	out = storedCommand{Dir: cmd.Dir, EchoOff: cmd.EchoOff}
	var secret, parts, named []string
	for _, kv := range cmd.Env {
		switch variable, _, known := strings.Cut(kv, "="); {
		case known && variable == clearVariable:
			out.Clear = append(out.Clear, kv)
		default:
			out.Variables = append(out.Variables, variable)
			if known {
				secret = append(secret, kv)
			}
		}
	}
	for _, s := range cmd.Secrets {
		parts = append(parts, s.Name, s.Key, s.Value)
		if s.Named {
			named = append(named, s.Value)
		}
	}
	at := l.places(name)
	for _, part := range []struct {
		to    *string
		texts []string
		place string
	}{{&out.Command, cmd.Argv, at.argv}, {&out.Secrets, parts, at.secrets}, {&out.Named, named, at.named}, {&out.Sealed, secret, at.env}} {
		if len(part.texts) == 0 {
			continue
		}
		if *part.to, err = l.vault.sealTexts(part.texts, part.place); err != nil {
			return out, err
		}
	}
	return out, nil
}

// loadCommand returns a command with its environment: KEY=value, or only KEY if the value cannot be read. It has no arguments and no
// secrets if they cannot be read.
func (l *Ledger) loadCommand(name model.ManifestName, c storedCommand) (cmd model.Cmd, err error) {
	cmd = model.Cmd{Argv: c.Argv, Dir: c.Dir, EchoOff: c.EchoOff, Env: slices.Concat(c.Clear, c.Env)}
	var argv, parts, named, values []string
	at := l.places(name)
	for _, part := range []struct {
		to     *[]string
		sealed string
		place  string
	}{{&argv, c.Command, at.argv}, {&parts, c.Secrets, at.secrets}, {&named, c.Named, at.named}, {&values, c.Sealed, at.env}} {
		if *part.to, err = l.vault.openTexts(part.sealed, part.place); err != nil {
			return cmd, err
		}
	}
	if c.Command != "" {
		cmd.Argv = argv
	}
	cmd.Secrets = secretsOf(parts, named)
	for _, variable := range c.Variables {
		if !slices.ContainsFunc(values, func(kv string) bool { return strings.HasPrefix(kv, variable+"=") }) {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, values...)
	return cmd, nil
}

// secretsOf returns the secrets of a stored command: each has a name, a key and a value.
func secretsOf(parts, named []string) (secrets []model.Secret) {
	names := map[string]bool{}
	for _, value := range named {
		names[value] = true
	}
	for part := range slices.Chunk(parts[:len(parts)/3*3], 3) {
		secrets = append(secrets, model.Secret{Name: part[0], Key: part[1], Value: part[2]})
	}
	model.NameSecrets(secrets, names)
	return secrets
}
