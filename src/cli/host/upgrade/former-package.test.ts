import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/database.ts';
import { has } from '../../../../test/missing-programs.ts';
import { keepInstalledFiles, rebuildPackage } from './former-package.ts';

let folder: ReturnType<typeof temporaryFolder>;
let before: number;
beforeEach(() => {
  folder = temporaryFolder();
  before = process.umask(0o077);
});
afterEach(() => {
  process.umask(before);
  folder.remove();
});

it.skipIf(!has('dpkg-deb'))(
  'keeps folders that everyone can read, whatever the umask of root is, and writes only beside the package',
  async () => {
    const program = join(folder.path, 'usr/lib/homeport');
    const admin = join(folder.path, 'admin');
    for (const made of [join(program, 'src'), join(admin, 'info'), join(admin, 'updates')])
      mkdirSync(made, { recursive: true });
    writeFileSync(join(program, 'src/cli.ts'), 'program');
    writeFileSync(join(admin, 'info/homeport.list'), `${program}/src\n${program}/src/cli.ts\n`);
    writeFileSync(
      join(admin, 'status'),
      'Package: homeport\nStatus: install ok installed\nMaintainer: a\nArchitecture: amd64\nVersion: 0.3.0\nDescription: a\n',
    );
    const tree = join(folder.path, 'former');
    const bin = join(folder.path, 'bin');
    const temporary = join(folder.path, 'temporary');
    mkdirSync(bin);
    const watched = `#!/bin/sh\nprintf %s "$TMPDIR" > '${temporary}'\nexec /usr/bin/dpkg-deb "$@"\n`;
    writeFileSync(join(bin, 'dpkg-deb'), watched, { mode: 0o755 });
    const environment = { DPKG_ADMINDIR: admin, PATH: `${bin}:/usr/bin:/bin` };
    await keepInstalledFiles(tree, environment);
    expect(statSync(join(tree, program, 'src')).mode & 0o777).toBe(0o755);
    const file = join(folder.path, 'homeport.deb');
    await rebuildPackage(tree, file, environment);
    const listed = execFileSync('dpkg-deb', ['--contents', file], { encoding: 'utf8' });
    expect(listed).toMatch(/^drwxr-xr-x .*\/usr\/lib\/homeport\/src\/$/m);
    expect(listed).not.toMatch(/^drwx------/m);
    expect(readFileSync(temporary, 'utf8')).toBe(folder.path);
  },
);
