import { expect, it } from 'vitest';
import { commandLine } from './command-line.ts';

it('adds a non-standard port, and brackets an IPv6 address for sftp only', () => {
  const here = { host: 'files.example.com', port: 22, username: 'shop' };
  expect(commandLine('sftp', here)).toBe('sftp shop@files.example.com');
  expect(commandLine('ssh', { ...here, port: 2222 })).toBe('ssh -p 2222 shop@files.example.com');
  expect(commandLine('sftp', { ...here, host: '2001:db8::1', port: 2222 })).toBe(
    'sftp -P 2222 shop@[2001:db8::1]',
  );
});
