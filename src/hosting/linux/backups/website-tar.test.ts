import { expect, it } from 'vitest';
import { CommandError } from '../../../lib/run-command.ts';
import { requireOnlyVanished } from './website-tar.ts';

it.each([
  '',
  'tar: htdocs/cache/a: Warning: Cannot stat: No such file or directory\n',
  'tar: htdocs/cache/b: File removed before we read it\n/usr/bin/find: ‘htdocs/c’: No such file or directory\n',
  'tar: htdocs/log: file changed as we read it\ntar: htdocs/log: File shrank by 1 byte; padding with zeros\n',
  'tar: htdocs/s: socket ignored\n',
])('accepts files that changed or vanished: %j', (stderr) => {
  expect(() => requireOnlyVanished(stderr)).not.toThrow();
});

it.each([
  'tar: htdocs/a: Warning: Cannot open: Permission denied\n',
  // tar writes zeros instead of what it could not read.
  'tar: htdocs/a: Warning: Read error at byte 0, while reading 512 bytes: Input/output error\n',
  '/usr/bin/find: ‘htdocs/d’: Input/output error\n',
  '/usr/bin/find: ‘htdocs/c’: No such file or directory\nanything that we do not know\n',
  'tar: htdocs/s: socket ignored\n'.repeat(5_000),
])('refuses files that could not be read: %j', (stderr) => {
  expect(() => requireOnlyVanished(stderr)).toThrow(CommandError);
});
