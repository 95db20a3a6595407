import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../test/homeport.ts';
import { fillDemo } from './demo.ts';

let homeport: TestHomeport;
beforeAll(async () => {
  homeport = await startTestHomeport();
});
afterAll(() => homeport.remove());

it('gives its installs names that strict clients accept', async () => {
  await homeport.person(await homeport.account(), 'owner');
  await fillDemo(homeport.platform, homeport.services);
  const installs = await homeport.platform.database.reader.selectFrom('installs').select('name').execute();
  expect(installs).toHaveLength(3);
  const counted = await homeport.platform.database.reader
    .selectFrom('usage_traffic')
    .select((eb) => ['source', eb.fn.countAll<number>().as('days')])
    .groupBy('source')
    .execute();
  expect(counted).toEqual([{ source: 'demo', days: 90 }]);
  for (const { name } of installs) expect(name).toMatch(/^[a-z][a-z0-9]{2,13}$/);
});
