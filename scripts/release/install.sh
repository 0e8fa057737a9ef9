#!/bin/sh
# Installs hone: finds the release for this machine, checks it, and puts the program into a folder.
#
#   curl -fsSL https://github.com/hone-dev/hone/releases/latest/download/install.sh | sh
#   … | sh -s -- --dir /usr/local/bin --version v1.2.3
#
# Each file is checked against the release's list of checksums, and, where cosign is installed, the list's signature against the
# workflow that has made it. Nothing else on the machine is changed.
set -eu

dir=$HOME/.local/bin
version=latest
from=${HONE_RELEASES:-https://github.com/hone-dev/hone/releases}

fail() {
	printf 'install.sh: %s\n' "$1" >&2
	exit 1
}

main() {
	while [ $# -gt 0 ]; do
		case $1 in
		--dir) dir=${2:?--dir needs a folder} && shift 2 ;;
		--version) version=${2:?--version needs a version} && shift 2 ;;
		*) fail "unknown argument $1; there are --dir FOLDER and --version VERSION" ;;
		esac
	done

	os=$(uname -s | tr '[:upper:]' '[:lower:]')
	case $os in
	linux | darwin) ;;
	*) fail "there is no release for $os; on Windows, unpack hone_windows_amd64.zip" ;;
	esac
	arch=$(uname -m)
	case $arch in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "there is no release for the processor $arch" ;;
	esac
	archive=hone_${os}_$arch.tar.gz
	if [ "$version" = latest ]; then
		base=$from/latest/download
	else
		base=$from/download/v${version#v}
	fi

	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	fetch "$base/$archive" "$work/$archive"
	fetch "$base/checksums.txt" "$work/checksums.txt"
	verify
	(cd "$work" && tar -xzf "$archive" hone) || fail "$archive cannot be unpacked"
	mkdir -p "$dir" || fail "the folder $dir cannot be made; choose another with --dir"
	# Moved into place whole: a hone that runs keeps its own file.
	{ cp "$work/hone" "$dir/.hone.new" && chmod 755 "$dir/.hone.new" && mv "$dir/.hone.new" "$dir/hone"; } ||
		fail "$dir cannot be written to; choose another with --dir"

	"$dir/hone" version
	printf 'Installed as %s\n' "$dir/hone"
	# shellcheck disable=SC2016 # it is the reader's PATH that is printed
	case ":$PATH:" in
	*":$dir:"*) ;;
	*) printf 'Add the folder to your PATH: export PATH="%s:$PATH"\n' "$dir" ;;
	esac
}

fetch() {
	if command -v curl >/dev/null; then
		curl -fsSL --proto '=https,http' -o "$2" "$1" || fail "cannot fetch $1"
	elif command -v wget >/dev/null; then
		wget -qO "$2" "$1" || fail "cannot fetch $1"
	else
		fail "neither curl nor wget is installed"
	fi
}

verify() {
	if command -v cosign >/dev/null && [ -z "${HONE_RELEASES:-}" ]; then
		fetch "$base/checksums.txt.sigstore.json" "$work/checksums.txt.sigstore.json"
		cosign verify-blob --bundle "$work/checksums.txt.sigstore.json" \
			--certificate-identity-regexp '^https://github.com/hone-dev/hone/\.github/workflows/release\.yml@refs/tags/' \
			--certificate-oidc-issuer https://token.actions.githubusercontent.com "$work/checksums.txt" >/dev/null 2>&1 ||
			fail "the signature of the checksums is wrong: nothing was installed"
	fi
	want=$(awk -v name="$archive" '$2 == name {print $1}' "$work/checksums.txt")
	[ -n "$want" ] || fail "the list of checksums does not have $archive: nothing was installed"
	if command -v sha256sum >/dev/null; then
		have=$(sha256sum "$work/$archive" | awk '{print $1}')
	else
		have=$(shasum -a 256 "$work/$archive" | awk '{print $1}')
	fi
	[ "$want" = "$have" ] || fail "$archive is not what the release's list of checksums says: nothing was installed"
}

main "$@" # at the end: half a script that was cut off does nothing
