import { describe, expect, it } from 'vitest';
import { readSourceArgument } from './source-argument.ts';

const KEY = `SHA256:${'a'.repeat(43)}`;
const ssh = { host: 'old.example', port: 22, user: 'ada', path: '/srv/my shop', hostKey: null };

describe('the source of an import on the command line', () => {
  it.each([
    ['private/a.zip', { file: 'private/a.zip' }],
    ['https://x.example/a.zip?s=1', { url: 'https://x.example/a.zip?s=1' }],
    ['ssh://ada@old.example/srv/my%20shop', { ssh }],
    ['ssh://ada@old.example:2222/~/web', { ssh: { ...ssh, port: 2222, path: 'web' } }],
    ['ssh://ada@[2001:db8::1]/srv', { ssh: { ...ssh, host: '2001:db8::1', path: '/srv' } }],
  ])('can be %s', (argument, source) => {
    expect(readSourceArgument(argument)).toEqual(source);
  });

  it('takes a host key with SSH only', () => {
    expect(readSourceArgument('ssh://ada@old.example/srv/my%20shop', { hostKey: KEY })).toEqual({
      ssh: { ...ssh, hostKey: KEY },
    });
    expect(() => readSourceArgument('private/a.zip', { hostKey: KEY })).toThrow('--host-key needs a source');
    expect(() => readSourceArgument('ssh://ada@old.example/srv', { hostKey: 'MD5:aa' })).toThrow('host key');
  });

  it('takes the website of an archive', () => {
    const site = 'shop.example';
    expect(readSourceArgument('private/a.zip', { site })).toEqual({ file: 'private/a.zip', site });
    expect(readSourceArgument('https://x.example/a.zip', { site })).toEqual({
      url: 'https://x.example/a.zip',
      site,
    });
    expect(() => readSourceArgument('ssh://ada@old.example/srv', { site })).toThrow(
      '--site needs an archive',
    );
    for (const wrong of ['', 'a\nb', 'x'.repeat(256)]) {
      expect(() => readSourceArgument('private/a.zip', { site: wrong })).toThrow('--site must name');
    }
  });

  it.each([
    ['ssh://old.example/srv', 'user'],
    ['ssh://ada:secret@old.example/srv', 'without a password'],
    ['ssh://ada@old.example/~/-x', 'path'],
    ['ssh://-oX@old.example/srv', 'user'],
    ['ssh://ada@old.example/%', 'percent'],
    ['ssh://', 'must look like'],
  ])('is refused: %s', (argument, reason) => {
    expect(() => readSourceArgument(argument)).toThrow(reason);
  });
});
