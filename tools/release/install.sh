#!/bin/sh
# Installs Homeport on this machine, or upgrades it:
#
#   sh install.sh [--from ADDRESS] [--archive] [--into FOLDER] [--check]
#
# --from ADDRESS   folder of the release, over HTTPS, or over HTTP on this machine
# --archive        install into a folder, without root and without a package
# --into FOLDER    folder of the archive (~/.local/share/homeport)
# --check          download and verify, and install nothing
#
# It verifies the signature of the list of checksums, and the checksum of the file, before it installs anything. It changes nothing if
# a step fails.
set -eu

# Filled in when the release is made.
ADDRESS='@ADDRESS@'
SIGNERS='@SIGNERS@'
OLDEST_GLIBC='@GLIBC@'

SUMS=SHA256SUMS
NAMESPACE=homeport-release

fail() {
  printf 'install.sh: %s\n' "$1" >&2
  exit 1
}

step() {
  printf '==> %s\n' "$1"
}

has() {
  command -v "$1" >/dev/null 2>&1
}

# Downloads $1 of the release into the work folder. An incomplete download is an error of curl and wget, and so is a redirect to plain HTTP.
download() {
  if has curl; then
    curl --fail --silent --show-error --location --globoff --proto "=${ADDRESS%%:*}" --proto-redir '=https' \
      --retry 2 --output "$work/$1" "$ADDRESS/$1"
  elif [ "${ADDRESS%%:*}" = https ]; then
    # wget follows every redirect. Nothing answers at this proxy, which only plain HTTP would use.
    http_proxy=http://127.0.0.1:9 wget --quiet --tries=3 --output-document="$work/$1" "$ADDRESS/$1"
  else
    wget --quiet --tries=3 --max-redirect=0 --output-document="$work/$1" "$ADDRESS/$1"
  fi || fail "$ADDRESS/$1 cannot be downloaded, or only a part of it. Nothing was installed."
}

# Plain HTTP only to this machine: the signature protects what is installed, but not which version.
require_address() {
  case $ADDRESS in
    https://*) ;;
    # The name before an "@" is no server.
    http://*@*) fail "$ADDRESS is no HTTPS address." ;;
    http://127.0.0.1[:/]* | http://localhost[:/]*) ;;
    '') fail 'This installer has no address of releases. Give one with --from https://…' ;;
    *) fail "$ADDRESS is no HTTPS address." ;;
  esac
}

require_tools() {
  has curl || has wget || fail 'curl or wget is needed. On Debian: apt-get install curl'
  has sha256sum || fail 'sha256sum is needed. On Debian: apt-get install coreutils'
  has ssh-keygen || fail 'ssh-keygen is needed to verify the signature. On Debian: apt-get install openssh-client'
}

# Sets the architecture by its two names: of Debian, and of Node.
find_architecture() {
  [ "$(uname -s)" = Linux ] || fail "Homeport runs on Linux, and this is $(uname -s)."
  case "$(uname -m)" in
    x86_64 | amd64) debian=amd64 node=x64 ;;
    aarch64 | arm64) debian=arm64 node=arm64 ;;
    *) fail "There is no Homeport for $(uname -m)." ;;
  esac
}

# Sets kind: "package" on Debian as root, else "archive" if that was asked for.
choose_kind() {
  if [ "$kind" = archive ]; then return; fi
  has apt-get || fail 'This is no Debian. Install into a folder with --archive.'
  [ "$check" = yes ] || [ "$(id -u)" -eq 0 ] ||
    fail 'The package needs root: sudo sh install.sh. Without root, install into a folder with --archive.'
}

# apt checks that for the package.
require_glibc() {
  if [ "$kind" = package ] || [ "$check" = yes ]; then return; fi
  present=$(getconf GNU_LIBC_VERSION 2>/dev/null) || present=
  case $present in
    'glibc '*) present=${present#glibc } ;;
    *) fail "Homeport needs glibc $OLDEST_GLIBC or newer, and this system has another C library." ;;
  esac
  [ "$(printf '%s\n' "$OLDEST_GLIBC" "$present" | sort -V | head -n 1)" = "$OLDEST_GLIBC" ] ||
    fail "Homeport needs glibc $OLDEST_GLIBC or newer, and this system has $present."
}

verify_signature() {
  printf '%s\n' "$SIGNERS" >"$work/signers"
  if said=$(ssh-keygen -Y verify -f "$work/signers" -I "$NAMESPACE" -n "$NAMESPACE" -s "$work/$SUMS.sig" \
    <"$work/$SUMS" 2>&1); then return; fi
  case "$said" in
    *' option -- '*) fail 'This ssh-keygen is too old to verify the signature. It needs OpenSSH 8.2 or newer. Nothing was installed.' ;;
  esac
  fail "The signature of $ADDRESS/$SUMS is wrong. Nothing was installed. Do not use this address, and report it."
}

# Sets file: the one file of the release for this machine.
choose_file() {
  case "$kind" in
    package) pattern="homeport_[0-9][0-9A-Za-z.~+-]*_${debian}[.]deb" ;;
    archive) pattern="homeport-[0-9][0-9A-Za-z.~+-]*-linux-${node}[.]tar[.]gz" ;;
  esac
  file=$(sed -n "s/^[0-9a-f]\{64\}  \($pattern\)\$/\1/p" "$work/$SUMS")
  case "$file" in
    '') fail "$ADDRESS has no $kind for this machine ($debian)." ;;
    *'
'*) fail "$ADDRESS has several files for this machine: $file" ;;
  esac
}

verify_checksum() {
  (cd "$work" && grep -F "  $file" "$SUMS" | sha256sum --check --status --strict) ||
    fail "The checksum of $file is wrong. The download is damaged or was changed. Nothing was installed."
}

install_package() {
  # apt reads the file as another user.
  chmod 755 "$work"
  chmod 644 "$work/$file"
  DEBIAN_FRONTEND=${DEBIAN_FRONTEND-noninteractive} apt-get install --yes --no-install-recommends "$work/$file" ||
    fail "apt could not install $file. Its messages are above."
  printf '\n%s is installed. Next:\n' "$(homeport --version | cut -d ' ' -f 1)"
  printf '  homeport host setup     makes this machine a host of websites, and starts the services\n'
  printf '  homeport serve --demo   or tries it first, as any user\n'
}

# The version of the program in the folder $1, with a "~" that sorts before the release, as Debian writes it. Runs nothing of the folder.
version_in() {
  sed -n 's/^ *"version": *"\([^"]*\)".*/\1/p' "$1/package.json" | head -n 1 | tr - '~'
}

# A server can offer an old release, whose signature is valid.
require_no_newer() {
  present=$(version_in "$into") offered=$(version_in "$unpacked")
  if [ "$present" != "$offered" ] && [ "$(printf '%s\n' "$present" "$offered" | sort -V | tail -n 1)" = "$present" ]; then
    fail "$into has $present, and $ADDRESS offers only $offered. Nothing was installed. To return to it, move $into away first."
  fi
}

# The former version is deleted. What people put beside it stays, such as the data of a server that was started there.
require_nothing_else() {
  for path in "$into"/* "$into"/.[!.]*; do
    if { [ -e "$path" ] || [ -L "$path" ]; } && [ ! -e "$unpacked/${path##*/}" ]; then
      fail "$path does not belong to the program. Nothing was installed. Stop Homeport if it runs, move $path out of $into, and try again."
    fi
  done
}

install_archive() {
  if [ -L "$into" ]; then into=$(readlink -f "$into"); fi
  parent=$(dirname "$into")
  mkdir -p "$parent"
  if [ -e "$into" ] && [ ! -e "$into/release.json" ]; then fail "$into is there already, and is no Homeport."; fi
  unpacked=$(mktemp -d "$parent/.homeport-XXXXXX")
  tar --extract --gzip --file "$work/$file" --directory "$unpacked" --strip-components=1 --no-same-owner ||
    fail "$file could not be unpacked into $parent. Is the disk full?"
  chmod 755 "$unpacked"
  if [ -e "$into" ]; then
    require_no_newer
    require_nothing_else
    former=$(mktemp -d "$parent/.homeport-XXXXXX")
    mv "$into" "$former/homeport" || fail "$into cannot be replaced."
  fi
  mv "$unpacked" "$into" || fail "$into cannot be written."
  unpacked=
  printf '\n%s is installed. Next:\n' "$("$into/homeport" --version | cut -d ' ' -f 1)"
  if [ -n "$former" ]; then printf '  restart Homeport, if it runs\n'; else printf '  %s/homeport serve --demo\n' "$into"; fi
}

clean_up() {
  rm -rf "$work"
  if [ -n "$unpacked" ]; then rm -rf "$unpacked"; fi
  if [ -z "$former" ]; then return; fi
  # Interrupted between the two moves.
  if [ ! -e "$into" ] && [ -e "$former/homeport" ] && ! mv "$former/homeport" "$into"; then
    fail "The former version is in $former/homeport."
  fi
  rm -rf "$former" || fail "The former version in $former cannot be deleted."
}

# Called in the last line, so that a part of this file does nothing.
main() {
  # No one else may change what root installs.
  umask 022
  kind=package check=no into="${HOME:+$HOME/.local/share/homeport}" unpacked='' former=''
  while [ $# -gt 0 ]; do
    case "$1" in
      --from | --into) [ $# -gt 1 ] || fail "$1 needs a value." ;;
    esac
    case "$1" in
      --from) ADDRESS=$2 && shift ;;
      --into) into=$2 && shift ;;
      --archive) kind=archive ;;
      --check) check=yes ;;
      *) fail "There is no option $1. The first lines of this file list them." ;;
    esac
    shift
  done
  ADDRESS=${ADDRESS%/} into=${into%/}
  if [ "$kind" = archive ] && [ -z "$into" ]; then fail 'Name a folder with --into.'; fi
  require_address
  require_tools
  find_architecture
  choose_kind
  require_glibc
  [ -n "$SIGNERS" ] || fail 'This installer was made without a key, so it can verify nothing.'
  work=$(mktemp -d)
  trap clean_up EXIT
  trap 'exit 1' HUP INT TERM

  step "Downloading the list of files from $ADDRESS"
  download "$SUMS"
  download "$SUMS.sig"
  step 'Verifying its signature'
  verify_signature
  choose_file
  step "Downloading $file"
  download "$file"
  step 'Verifying its checksum'
  verify_checksum
  if [ "$check" = yes ]; then
    step 'Everything is as it should be. Nothing was installed.'
  elif [ "$kind" = package ]; then
    step "Installing the package $file"
    install_package
  else
    step "Unpacking into $into"
    install_archive
  fi
}

{ main "$@"; exit; }
