import { chmod, mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { outputOf, type Run } from './run.ts';
import { settleFiles } from './settled-files.ts';

const FOLDER = 'usr/lib/homeport';
/** By Node's name of an architecture. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

interface DebianParts {
  stage: string;
  work: string;
  dist: string;
  version: string;
  /** Of its files, in seconds since 1970. */
  commitTime: number;
}

/** Makes a Debian package of a staged program, which it moves into another folder below `work`. Returns the package's path in `dist`. */
export async function makeDebianPackage(
  { stage, work, dist, version, commitTime }: DebianParts,
  run: Run,
): Promise<string> {
  const architecture = ARCHITECTURES[process.arch];
  if (architecture === undefined) throw new Error(`Debian has no packages for ${process.arch}.`);
  const root = join(work, 'debian');
  const program = join(root, FOLDER);
  await mkdir(join(program, '..'), { recursive: true });
  await rename(stage, program);
  await mkdir(join(root, 'usr/bin'), { recursive: true });
  await symlink('../lib/homeport/homeport', join(root, 'usr/bin/homeport'));
  const size = (await outputOf('du', ['-sk', root], work)).split('\t')[0] ?? '0';
  await write(join(root, 'DEBIAN/control'), controlOf({ version, architecture, size }), 0o644);
  await write(join(root, 'DEBIAN/templates'), QUESTION, 0o644);
  for (const [name, script] of Object.entries(SCRIPTS))
    await write(join(root, 'DEBIAN', name), script, 0o755);
  const file = join(dist, `homeport_${debianVersion(version)}_${architecture}.deb`);
  settleFiles(root, commitTime);
  await run('dpkg-deb', ['--root-owner-group', '-Zzstd', '-z12', '--build', root, file], work, {
    SOURCE_DATE_EPOCH: String(commitTime),
  });
  return file;
}

/** `~` sorts before the release. */
const debianVersion = (version: string) => version.replace('-', '~');

async function write(path: string, text: string, mode: number): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, text);
  await chmod(path, mode);
}

const controlOf = ({
  version,
  architecture,
  size,
}: Record<'version' | 'architecture' | 'size', string>) => `Package: homeport
Version: ${debianVersion(version)}
Architecture: ${architecture}
Maintainer: Homeport <packages@homeport.invalid>
Installed-Size: ${size}
Depends: libc6 (>= 2.31), libstdc++6, ca-certificates, adduser
Recommends: bubblewrap
Section: web
Priority: optional
Description: self-hosted hosting platform for WordPress
 Manages accounts, sites, installs, domains, certificates and backups through
 one HTTP API, a portal and a command line, and runs the websites behind them.
 .
 "homeport host setup" makes this machine a host of websites and starts the
 services. "homeport serve" serves without any set-up, as any user.
`;

/** The services may be those of another Homeport, such as a clone in /opt. */
const HAS_SERVICES = `grep -qs /${FOLDER}/ /etc/systemd/system/homeport.service /etc/systemd/system/homeport-host.service`;

/**
 * Upgrades restart what runs, and websites answer meanwhile. Removal stops everything and keeps the websites. Only `purge` deletes them,
 * and only if the operator says yes.
 */
const SCRIPTS = {
  postinst: `#!/bin/sh
set -e
[ "$1" = configure ] || exit 0
if [ -e /usr/share/debconf/confmodule ]; then
  # Stores the question of "purge". By then its file is gone.
  . /usr/share/debconf/confmodule
  db_stop
fi
[ -d /run/systemd/system ] || exit 0
for unit in homeport-host.service homeport.service; do
  if systemctl is-active --quiet "$unit"; then
    systemctl restart "$unit" || echo "$unit does not start. \\"journalctl --unit $unit\\" says why." >&2
  fi
done
`,
  prerm: `#!/bin/sh
set -e
[ "$1" = remove ] && [ -d /run/systemd/system ] && ${HAS_SERVICES} || exit 0
systemctl stop homeport.service homeport-host.service 'homeport-*' || true
`,
  postrm: `#!/bin/sh
set -e
case "$1" in
  remove)
    # The cache of compiled code is no file of the package.
    rm -rf /usr/lib/homeport
    ${HAS_SERVICES} || exit 0
    rm -f /etc/systemd/system/homeport.service /etc/systemd/system/homeport-host.service
    rm -f /etc/systemd/system/multi-user.target.wants/homeport.service
    rm -f /etc/systemd/system/multi-user.target.wants/homeport-host.service
    if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
    ;;
  purge)
    answer=false
    if [ -e /usr/share/debconf/confmodule ]; then
      . /usr/share/debconf/confmodule
      db_input high homeport/delete-websites || true
      db_go || true
      db_get homeport/delete-websites && answer=$RET
      db_purge
      db_stop
    fi
    if [ "$answer" = true ]; then
      rm -rf /var/lib/homeport /var/lib/homeport-public /var/lib/homeport-host /etc/homeport
    else
      echo "Websites, backups and settings are kept in /var/lib/homeport*, and /etc/homeport." >&2
    fi
    ;;
esac
`,
} as const;

/** debconf-devel(7) */
const QUESTION = `Template: homeport/delete-websites
Type: boolean
Default: false
Description: Delete all websites, backups and settings of Homeport?
 They are in /var/lib/homeport, /var/lib/homeport-host and /etc/homeport, and
 cannot be restored afterwards. Databases and files of all customers go with
 them.
`;
