import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createConfinedPlaces } from './confined-places.ts';
import { createPhpSites } from './create-php-sites.ts';
import { TESTS_CODE } from './kept-code.fixture.ts';
import { createLoopbackConnections } from './loopback-connections.ts';
import { type ProcessProgram, writeProcessProgram } from './process-program.ts';
import { UnconfinedError } from './unconfined-error.ts';

let folder: string;
let program: ProcessProgram;
/** The only folder on the PATH of these tests. */
let programs: string;

/** A program on that PATH that writes these lines as its error and fails. This machine may lack the real one. */
async function writeFailing(name: string, ...lines: string[]): Promise<void> {
  const path = join(programs, name);
  await rm(path, { force: true });
  await writeFile(path, `#!/bin/sh\n${lines.map((line) => `echo "${line}" >&2\n`).join('')}exit 1\n`);
  await chmod(path, 0o755);
}

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'php-')));
  await mkdir(join(folder, 'program'));
  program = await writeProcessProgram(join(folder, 'program'));
});
beforeEach(async () => {
  programs = await mkdtemp(join(folder, 'bin-'));
  for (const name of ['unshare', 'nsenter', 'mount', 'umount', 'cat']) {
    await symlink(join('/usr/bin', name), join(programs, name));
  }
  vi.stubEnv('PATH', programs);
});
afterEach(() => {
  vi.unstubAllEnvs();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.runIf(process.platform === 'linux')('a machine that does not confine PHP', () => {
  it('gets one sentence that says what it means and how to add bubblewrap', async () => {
    const logged: unknown[] = [];
    const sites = createPhpSites({
      folder: join(folder, 'runtime'),
      codeFolder: TESTS_CODE,
      roots: { writable: [folder], readable: [] },
      idleMs: 600_000,
      memoryMb: 900,
      waitMs: 110_000,
      spare: false,
      mayConnect: () => false,
      loopbacks: createLoopbackConnections(),
      loopback: () => undefined,
      deliverMail: async () => {},
      log: pino(
        { level: 'warn', base: null, timestamp: false },
        { write: (line: string) => logged.push(JSON.parse(line)) },
      ),
    });
    expect(await sites.available()).toHaveProperty('version');
    await sites.close();
    expect(logged).toEqual([
      {
        level: 40,
        msg: 'PHP runs without bubblewrap (bwrap is not installed): host only websites of people you trust, or run "apt-get install bubblewrap" and restart Homeport',
      },
    ]);
  });

  it('gets the reason of bubblewrap in one line', async () => {
    await writeFailing('bwrap', 'usage', 'bwrap: no permissions to create a new namespace');
    await expect(createConfinedPlaces(join(folder, 'refused'), program)).rejects.toMatchObject({
      name: 'UnconfinedError',
      message: 'bwrap: no permissions to create a new namespace',
    });
  });

  it('gets the reason if it allows no namespaces', async () => {
    await writeFailing('unshare', 'unshare: unshare failed: Operation not permitted');
    await writeFailing('bwrap');
    await expect(createConfinedPlaces(join(folder, 'forbidden'), program)).rejects.toThrow(
      /^unshare: unshare failed: Operation not permitted$/,
    );
  });

  it('names the options that a container lacks, and the setting of its machine', async () => {
    await writeFailing('bwrap');
    const refused = 'unshare: unshare failed: Operation not permitted';
    const remedyIn = (inContainer: boolean, isRestricted = false) =>
      UnconfinedError.from(new Error('failed'), refused, inContainer, isRestricted).remedy;
    const options = 'give the container the "security_opt" of compose.yaml';
    const setting = 'run "sysctl kernel.apparmor_restrict_unprivileged_userns=0" on the machine';
    expect(remedyIn(true)).toBe(options);
    expect(remedyIn(true, true)).toBe(`${options}, ${setting}`);
    expect(remedyIn(false, true)).toBe(setting);
    expect(remedyIn(false)).toBe('allow unprivileged user namespaces');
  });
});
