import { expect, test } from 'vitest';
import { COMMANDS, ProtocolError } from './protocol.ts';

test('WordPress comes from the host’s configured source or from one of two public sources', () => {
  for (const source of [null, 'official', 'debian']) {
    expect(COMMANDS.addWordpress.parseArguments({ source })).toEqual({ source });
  }
  const refused = ['/root', '/srv/wordpress.zip', '../x', 'official\n', '/official', 'debian/../root', ''];
  for (const source of refused) {
    expect(() => COMMANDS.addWordpress.parseArguments({ source }), source).toThrow(ProtocolError);
  }
});
