import { describe, expect, it } from 'vitest';
import {
  type AccountLine,
  accountsIn,
  namesIn,
  subordinateRanges,
  withAccount,
  withLine,
  withoutAccount,
  withoutName,
} from './account-files.ts';

const shop: AccountLine = {
  installId: '11111111-1111-4111-8111-111111111111',
  name: 'shop',
  uid: 200001,
  gid: 200001,
  home: '/srv/shop',
  shell: '/bin/sh',
};
const line = 'shop:x:200001:200001:homeport/one/11111111-1111-4111-8111-111111111111:/srv/shop:/bin/sh\n';
const foreign = 'alice:x:1000:1000:Alice,,,:/home/alice:/bin/bash\n';

describe('account files', () => {
  it('keep one line per install, and leave those of others in place', () => {
    const text = withAccount(foreign, 'one', shop);
    expect(text).toBe(foreign + line);
    expect(withAccount(`${line}${foreign}`, 'one', { ...shop, shell: '/bin/bash' })).toBe(
      line.replace('/bin/sh', '/bin/bash') + foreign,
    );
    expect(withoutAccount(text, 'one', shop.installId)).toBe(foreign);
  });

  it('merge several lines of the same install into one', () => {
    expect(withAccount(line + foreign + line, 'one', shop)).toBe(line + foreign);
  });

  it('list only the lines of their own instance', () => {
    expect(accountsIn(foreign + line, 'one')).toEqual([shop]);
    expect(accountsIn(foreign + line, 'on')).toEqual([]);
    expect(accountsIn(foreign + line, 'one2')).toEqual([]);
    expect(withoutAccount(line, 'two', shop.installId)).toBe(line);
  });

  it('keep lines that cannot be parsed', () => {
    const strange = '+@netgroup\n# a comment\nbroken:x\n';
    expect(withoutAccount(strange + line, 'one', shop.installId)).toBe(strange);
    expect(accountsIn(strange, 'one')).toEqual([]);
    expect(namesIn(`${strange}${foreign}wheel:x:10:alice\n`)).toEqual([
      { name: 'alice', number: 1000 },
      { name: 'wheel', number: 10 },
    ]);
  });

  it('list ranges of subordinate ids', () => {
    const text = 'alice:100000:65536\n# none\n\nbob:200000:1\n1000:x:y\n';
    expect(subordinateRanges(text)).toEqual([
      { first: 100_000, last: 165_535 },
      { first: 200_000, last: 200_000 },
    ]);
  });

  it('replace and remove a line by its whole name', () => {
    const group = 'shop2:x:5:\nshop:x:4:\n';
    expect(withLine(group, 'shop:x:7:')).toBe('shop2:x:5:\nshop:x:7:\n');
    expect(withoutName(group, 'shop')).toBe('shop2:x:5:\n');
    expect(withLine('', 'shop:*:::::::')).toBe('shop:*:::::::\n');
  });
});
