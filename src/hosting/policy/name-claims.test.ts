import { expect, test } from 'vitest';
import { createNameClaims } from './name-claims.ts';

test('a name belongs to the install whose default domain it is, then to the lowest id, in any order', () => {
  const installs: [string, [string, boolean][]][] = [
    [
      'a',
      [
        ['shared.test', false],
        ['c.hosting.test', false],
      ],
    ],
    ['b', [['shared.test', false]]],
    ['c', [['c.hosting.test', true]]],
  ];
  for (const order of [installs, installs.toReversed()]) {
    const claims = createNameClaims();
    for (const [id, names] of order) claims.set(id, names);
    const holders = () => ['shared.test', 'c.hosting.test', 'constructor'].map(claims.holderOf);
    expect(holders()).toEqual(['a', 'c', undefined]);
    expect(claims.claimantsOf('c.hosting.test')).toEqual(['c', 'a']);
    claims.delete('a');
    expect(holders()).toEqual(['b', 'c', undefined]);
    claims.set('c', [['new.test', false]]);
    expect(holders()).toEqual(['b', undefined, undefined]);
    expect(claims.names().toSorted()).toEqual(['new.test', 'shared.test']);
  }
});
