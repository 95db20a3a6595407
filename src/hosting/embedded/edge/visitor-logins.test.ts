import { expect, it } from 'vitest';
import { manualClock } from '../../../../test/manual-clock.ts';
import { addressRanges } from '../../policy/address-ranges.ts';
import { createVisitorLogins } from './visitor-logins.ts';

it('attempts at one website leave the others theirs', async () => {
  const logins = createVisitorLogins({ clock: manualClock(new Date('2026-01-01T00:00:00Z')) });
  const protect = { realm: 'x', users: {}, exempt: addressRanges([]), passKey: 'k' };
  const header = `Basic ${Buffer.from('ann:wrong').toString('base64')}`;
  const ask = (id: string, address: string) =>
    logins.refusal({ id, revision: 'r', protect }, header, address);
  const attempts = Array.from({ length: 60 }, (_, at) => ask('one', `192.0.2.${at}`));
  const refused = await Promise.all(attempts);
  expect(refused.filter((refusal) => refusal?.status === 401)).toHaveLength(10);
  expect(await ask('two', '192.0.2.1')).toMatchObject({ status: 401 });
});
