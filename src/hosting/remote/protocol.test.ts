import { expect, test } from 'vitest';
import { COMMANDS, ProtocolError } from './protocol.ts';

test('a WordPress is fetched from where the host is configured to, or from one of two public places', () => {
  for (const source of [null, 'official', 'debian']) {
    expect(COMMANDS.addWordpress.parseArguments({ source })).toEqual({ source });
  }
  const refused = ['/root', '/srv/wordpress.zip', '../x', 'official\n', '/official', 'debian/../root', ''];
  for (const source of refused) {
    expect(() => COMMANDS.addWordpress.parseArguments({ source }), source).toThrow(ProtocolError);
  }
});
