import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/database.ts';
import { firstSignIn } from './first-sign-in.ts';

const OWNER = {
  accountId: 'an-account',
  userId: 'a-user',
  email: 'owner@localhost',
  credential: { username: 'a-username', password: 'a-secret-password' },
  passwordLink: 'https://localhost:8443/password/a-secret-token',
};

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const config = () => ({
  dataDir: folder.path,
  publicUrl: 'https://localhost:8443',
  tlsCert: null,
  trustProxy: [],
});

it('prints the secrets on a terminal, and names the file that has them, too', async () => {
  const text = await firstSignIn(config(), OWNER, { onTerminal: true });
  expect(text).toContain('a-secret-password');
  expect(text).toContain('a-secret-token');
  const file = join(folder.path, 'first-sign-in.txt');
  expect(text.trimEnd().split('\n').at(-1)).toContain(file);
  expect(text).toContain(readFileSync(file, 'utf8'));
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('prints no secret elsewhere, and names a file that only its owner can read', async () => {
  const text = await firstSignIn(config(), OWNER, { onTerminal: false });
  expect(text).not.toContain('a-secret');
  const file = join(folder.path, 'first-sign-in.txt');
  expect(text).toContain(file);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const secrets = readFileSync(file, 'utf8');
  expect(secrets).toContain('a-secret-password');
  expect(secrets).toContain('a-secret-token');
});
