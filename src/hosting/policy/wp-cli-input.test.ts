import { expect, it } from 'vitest';
import { inputRefusal } from './wp-cli-input.ts';

it.each([
  [['shell'], 'wp eval'],
  [['--user=admin', 'shell', '--basic'], 'wp eval'],
  [['db', 'cli'], 'wp db query'],
  [['db', 'connect'], 'wp db query'],
  [['db', '--path=/x', 'query'], 'as an argument'],
  [['db', 'import', '-'], 'by SFTP'],
  [['config', 'edit'], 'wp config set'],
  [['post', 'edit', '1'], 'wp post update'],
  [['server', '--port=80'], 'served already'],
  [['user', 'create', '--prompt'], 'as an argument'],
  [['user', 'create', '--prompt=email'], 'as an argument'],
])('%j is refused', (args, advice) => {
  expect(inputRefusal(args)).toContain(advice);
});

it.each([
  [['db', 'query', 'SELECT 1']],
  [['db', 'query', '--execute=SELECT 1']],
  [['db', 'export', '-']],
  [['db', 'import', 'private/dump.sql']],
  [['option', 'update', 'blogname', 'shell']],
  [['post', 'update', '1', '--post_title=x']],
  [['eval', 'echo "--prompt";']],
  [['plugin', 'list']],
])('%j runs', (args) => {
  expect(inputRefusal(args)).toBeNull();
});
