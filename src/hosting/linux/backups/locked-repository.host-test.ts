import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { runCommand } from '../../../lib/run-command.ts';
import { folderStorage } from './folder-storage.ts';
import { resticOn } from './restic.ts';

const BACKUP = '6f1d3c1e-5d0e-4c3b-9a51-0d4a3c5b7e10';
const PASSWORD = 'a password';

test('backups are read although a machine that was lost has left an exclusive lock', async () => {
  const address = await mkdtemp(join(tmpdir(), 'homeport-locked-'));
  onTestFinished(() => rm(address, { recursive: true }));
  const environment = { RESTIC_REPOSITORY: address, RESTIC_PASSWORD: PASSWORD };
  await runCommand('restic', ['--no-cache', 'init'], { environment });
  const storage = folderStorage(address);
  const restic = resticOn({ address, options: [], environment: {}, storage }, PASSWORD);
  const backup = restic.backUp(BACKUP);
  backup.stdin.end('the website');
  await backup.ended;

  // A machine of another name, whose process this one cannot look for.
  const line = 'hostname lost && exec restic --no-cache prune --max-unused 0';
  const { PATH } = process.env;
  const lost = spawn('unshare', ['--uts', 'sh', '-c', line], { env: { PATH, ...environment } });
  const locks = () => readdir(join(address, 'locks'));
  while ((await locks()).length === 0 && lost.exitCode === null);
  lost.kill('SIGKILL');
  await once(lost, 'close');
  expect(await locks()).toHaveLength(1);

  const found = await restic.find(BACKUP);
  expect(found).toEqual([expect.stringMatching(`^${await backup.id}`)]);
  const reading = restic.read(found[0] ?? '');
  expect(await text(reading.stdout)).toBe('the website');
  await reading.ended;
  expect(await restic.polynomial()).toMatch(/^[0-9a-f]+$/);
  expect(await locks()).toHaveLength(1);
});
