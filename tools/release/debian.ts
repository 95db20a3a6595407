import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { WATCHED } from '../../src/cli/host/upgrade/packages.ts';
import { OLDEST_GLIBC } from './oldest-glibc.ts';
import { outputOf, type Run } from './run.ts';
import { settleFiles } from './settled-files.ts';

const FOLDER = 'usr/lib/homeport';
const DOCUMENTS = 'usr/share/doc/homeport';
const MANUAL = join(import.meta.dirname, 'homeport.1');
const MAINTAINER = 'Homeport <packages@homeport.invalid>';
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
  await write(join(root, DOCUMENTS, 'copyright'), COPYRIGHT, 0o644);
  const changes = gzipSync(changelogOf(version, commitTime), { level: 9 });
  await write(join(root, DOCUMENTS, 'changelog.gz'), changes, 0o644);
  const manual = gzipSync(await readFile(MANUAL), { level: 9 });
  await write(join(root, 'usr/share/man/man1/homeport.1.gz'), manual, 0o644);
  await write(join(root, 'usr/share/lintian/overrides/homeport'), OVERRIDES, 0o644);
  await write(join(root, 'DEBIAN/md5sums'), await checksumsBelow(root), 0o644);
  await write(
    join(root, 'DEBIAN/control'),
    controlOf({ version, architecture, size, schema: await schemaIn(program) }),
    0o644,
  );
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

/** The newest migration of a staged program, which "homeport upgrade" shows before it installs. */
async function schemaIn(program: string): Promise<string> {
  const files = await readdir(join(program, 'src/database/migrations'));
  return (
    files
      .filter((name) => /^\d{4}-.*\.ts$/.test(name))
      .sort()
      .at(-1) ?? 'none'
  ).replace(/\.ts$/, '');
}

/** `~` sorts before the release. */
const debianVersion = (version: string) => version.replace('-', '~');

/** For `dpkg --verify`, which knows only MD5. */
async function checksumsBelow(root: string): Promise<string> {
  const lines: string[] = [];
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const sum = createHash('md5')
      .update(await readFile(path))
      .digest('hex');
    lines.push(`${sum}  ${relative(root, path)}\n`);
  }
  return lines.sort().join('');
}

/** deb-changelog(5). People read CHANGELOG.md of the program. */
const changelogOf = (
  version: string,
  commitTime: number,
) => `homeport (${debianVersion(version)}) stable; urgency=medium

  * Release ${version}. Its changes are in /${FOLDER}/CHANGELOG.md.

 -- ${MAINTAINER}  ${new Date(commitTime * 1000).toUTCString().replace('GMT', '+0000')}
`;

async function write(path: string, text: string | Uint8Array, mode: number): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, text);
  await chmod(path, mode);
}

const controlOf = ({
  version,
  architecture,
  size,
  schema,
}: Record<'version' | 'architecture' | 'size' | 'schema', string>) => `Package: homeport
Version: ${debianVersion(version)}
Architecture: ${architecture}
Maintainer: ${MAINTAINER}
Installed-Size: ${size}
Depends: ca-certificates, debconf (>= 0.5) | debconf-2.0, libc6 (>= ${OLDEST_GLIBC}), libstdc++6 (>= 11), openssh-client
Recommends: bubblewrap
Section: web
Priority: optional
Homeport-Schema: ${schema}
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
[ -d /run/systemd/system ] && ${HAS_SERVICES} || exit 0
# Writes the units of this version, and restarts what runs. dpkg would leave a half-configured package behind an error, which helps no one.
# "homeport upgrade" watches the services itself.
/${FOLDER}/homeport host setup --services \${${WATCHED}:+--no-wait} ||
  echo "The services of Homeport do not run this version, for the reason above. Fix that, then run \\"homeport host setup --services\\"." >&2
`,
  prerm: `#!/bin/sh
set -e
[ "$1" = remove ] && [ -d /run/systemd/system ] && ${HAS_SERVICES} || exit 0
systemctl stop homeport.socket homeport.service homeport-host.service 'homeport-*' || true
`,
  postrm: `#!/bin/sh
set -e
case "$1" in
  remove)
    # The cache of compiled code is no file of the package. Other files here are someone's.
    rm -rf /usr/lib/homeport/node_modules/.cache
    if [ -d /usr/lib/homeport ]; then find /usr/lib/homeport -depth -type d -empty -delete; fi
    ${HAS_SERVICES} || exit 0
    rm -f /etc/systemd/system/homeport.service /etc/systemd/system/homeport-host.service
    rm -f /etc/systemd/system/homeport.socket /etc/systemd/system/sockets.target.wants/homeport.socket
    rm -f /etc/systemd/system/multi-user.target.wants/homeport.service
    rm -f /etc/systemd/system/multi-user.target.wants/homeport-host.service
    if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
    ;;
  purge)
    folders=
    for folder in /var/lib/homeport /var/lib/homeport-public /var/lib/homeport-host /var/lib/homeport-upgrade /etc/homeport; do
      if [ -e "$folder" ] || [ -L "$folder" ]; then folders="$folders $folder"; fi
    done
    # "remove" has deleted the units of this package, so these are those of another Homeport, which uses the same folders.
    for unit in /etc/systemd/system/homeport.service /etc/systemd/system/homeport-host.service; do
      if [ -e "$unit" ]; then folders=; fi
    done
    answer=false
    if [ -e /usr/share/debconf/confmodule ]; then
      . /usr/share/debconf/confmodule
      if [ -n "$folders" ]; then
        db_input high homeport/delete-websites || true
        db_go || true
        if db_get homeport/delete-websites; then answer=$RET; fi
      fi
      db_purge
      db_stop
    fi
    [ -n "$folders" ] || exit 0
    if [ "$answer" != true ]; then
      echo "Websites, backups and settings are kept in$folders." >&2
      exit 0
    fi
    # The answer is about the folders of the package. What is elsewhere belongs to no package.
    grep -hsE '^HOMEPORT_(DATA_DIR|HOST_FOLDER|PLATFORM_BACKUP)=' /etc/homeport/homeport.conf |
      grep -vE '=/var/lib/homeport(-public|-host)?(/|$)' | sed 's/^/Kept, because it is elsewhere: /' >&2 || true
    # Where "homeport upgrade" backs up the platform, if the settings name no place.
    if [ -e /var/backups/homeport ]; then echo "Kept, because it is elsewhere:" /var/backups/homeport >&2; fi
    for folder in $folders; do
      if [ -L "$folder" ]; then echo "Kept, because $folder was a link to it: $(readlink -f "$folder")" >&2; fi
      # For example, a place where a file system is mounted.
      rm -rf "$folder" || echo "$folder is not deleted completely, for the reason above." >&2
    done
    ;;
esac
`,
} as const;

/** copyright-format(5) */
const COPYRIGHT = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Homeport
Comment: The packages in node_modules and the files in wp-files have licenses of
 their own, which are beside them.

Files: *
Copyright: 2026 The Homeport authors
License: MIT
 Permission is hereby granted, free of charge, to any person obtaining a copy
 of this software and associated documentation files (the "Software"), to deal
 in the Software without restriction, subject to the conditions in
 /${FOLDER}/LICENSE.
`;

/** Tags of lintian(1), each with the reason. */
const OVERRIDES = `# Debian has unpacked Zstandard since release 12. Packages of this size take minutes with xz.
homeport: malformed-deb-archive *
# The only question belongs to the purge. An installation asks nothing.
homeport: no-debconf-config
# "homeport host setup" writes the units, because they depend on the settings of the machine.
homeport: maintainer-script-calls-systemctl *
`;

/** debconf-devel(7) */
const QUESTION = `Template: homeport/delete-websites
Type: boolean
Default: false
Description: Delete all websites, backups and settings of Homeport?
 They are in /var/lib/homeport, /var/lib/homeport-host and /etc/homeport, and
 cannot be restored afterwards. Databases and files of all customers go with
 them.
`;
