import { describe, expect, it, test } from 'vitest';
import { connectionLines } from './connection-lines.ts';
import { isPrivateKey } from './public-key-text.ts';

test('private keys of all kinds are told from public ones', () => {
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

describe('the lines to connect with', () => {
  const connection = { host: 'host.example.com', port: 2222, username: 'shop', shell: true };
  it('name the port where it is not the usual one', () => {
    expect(connectionLines(connection).map(({ line }) => line)).toEqual([
      'sftp -P 2222 shop@host.example.com',
      'ssh -p 2222 shop@host.example.com',
    ]);
    expect(connectionLines({ ...connection, port: 22 }).map(({ line }) => line)).toEqual([
      'sftp shop@host.example.com',
      'ssh shop@host.example.com',
    ]);
  });

  it('offer no shell where there is none', () => {
    expect(connectionLines({ ...connection, shell: false })).toHaveLength(1);
  });
});
