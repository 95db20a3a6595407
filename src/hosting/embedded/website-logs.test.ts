import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/database.ts';
import { manualClock } from '../../../test/manual-clock.ts';
import { eventually } from '../policy/edge.fixture.ts';
import { layoutOf } from './host-folder/layout.ts';
import { createVhostStore } from './host-folder/vhost-store.ts';
import { createWebsiteLogs } from './website-logs.ts';

const ID = '0b6f3c1a-8d52-4f7e-9a10-2c3d4e5f6071';

test('addresses of visitors are shortened also while an install is set aside', async () => {
  const place = temporaryFolder();
  const layout = layoutOf(place.path);
  await mkdir(layout.vhosts, { recursive: true });
  await mkdir(layout.logsOf(ID), { recursive: true });
  const file = join(layout.logsOf(ID), 'access-2026-03-10.log');
  const line = '{"time":"2026-03-10T10:00:00.000Z","address":"192.0.2.77","method":"GET"}\n';
  await writeFile(file, line);
  const logs = createWebsiteLogs({
    layout,
    store: createVhostStore(layout),
    rules: { days: 14, wholeAddressMs: 3_600_000, mostBytes: 1e6 },
    isServing: true,
    log: pino({ enabled: false }),
    clock: manualClock(new Date('2026-03-10T12:00:00.000Z')),
  });
  await logs.start();
  await eventually(async () => !(await readFile(file, 'utf8')).includes('192.0.2.77'));
  expect(await readFile(file, 'utf8')).toContain('"192.0.2.0"');
  await logs.stop();
  place.remove();
});
