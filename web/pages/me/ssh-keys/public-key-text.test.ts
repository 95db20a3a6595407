import { expect, test } from 'vitest';
import { isPrivateKey } from './public-key-text.ts';

test('recognises all kinds of private keys', () => {
  for (const header of [
    '-----BEGIN OPENSSH PRIVATE KEY-----',
    '-----BEGIN RSA PRIVATE KEY-----',
    '-----BEGIN ENCRYPTED PRIVATE KEY-----',
    '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----',
    'PuTTY-User-Key-File-3: ssh-ed25519',
  ]) {
    expect(isPrivateKey(`${header}\nb3BlbnNzaC1rZXktdjEA`)).toBe(true);
  }
  expect(isPrivateKey('ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI ada@laptop')).toBe(false);
});
