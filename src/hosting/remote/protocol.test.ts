import { expect, test } from 'vitest';
import { COMMANDS, ProtocolError } from './protocol.ts';

test('WordPress comes from the host’s configured source or from a public source', () => {
  for (const source of [null, 'official', 'packaged', 'debian']) {
    expect(COMMANDS.addWordpress.parseArguments({ source })).toEqual({ source });
  }
  const refused = ['/root', '/srv/wordpress.zip', '../x', 'official\n', '/official', 'debian/../root', ''];
  for (const source of refused) {
    expect(() => COMMANDS.addWordpress.parseArguments({ source }), source).toThrow(ProtocolError);
  }
});

test('a theme to change is the name of a folder, never a path', () => {
  const uuid = '6f1d3c1e-5d0e-4c3b-9a51-0d4a3c5b7e10';
  const argumentsOf = (kind: string, id: string) => ({
    install: { id: uuid, name: 'shop' },
    order: {
      ...{ changeId: uuid, checkpointId: uuid, pages: [] },
      change: { kind, id, source: null, status: 'deleted', autoUpdate: null },
    },
  });
  const parse = COMMANDS.changeItem.parseArguments;
  for (const [kind, id] of [
    ['plugin', 'akismet/akismet.php'],
    ['theme', 'shop'],
    ['theme', '..shop'],
  ] as const) {
    expect(parse(argumentsOf(kind, id))).toEqual(argumentsOf(kind, id));
  }
  for (const id of ['../uploads', '.', '..', 'shop/', 'shop\\x', '']) {
    expect(() => parse(argumentsOf('theme', id)), id).toThrow(ProtocolError);
  }
});
