import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/database.ts';
import { systemClock } from '../../../lib/clock.ts';
import type { ItemOrder } from '../../contract/wordpress-changes.ts';
import { createWebsiteChanges } from './website-changes.ts';

it('changes a website one after the other, because a change goes on when its job has ended', async () => {
  const folder = temporaryFolder();
  try {
    const events: string[] = [];
    const first = Promise.withResolvers<void>();
    const changes = createWebsiteChanges({
      websiteOf: async () => ({
        runtime: {
          runScript: async () => ({ stdout: '{"refused":"there is no such plugin"}', stderr: '', exit: 0 }),
          changedAt: async () => [],
          endOfErrorLog: async () => '',
        },
        version: '6.8.7',
        versions: async () => ['6.8.7'],
        switchCore: () => Promise.reject(new Error('is not reached')),
        lookAt: () => Promise.reject(new Error('is not reached')),
        async withinDisk(work) {
          events.push('begun');
          if (events.length === 1) await first.promise;
          events.push('ended');
          return work();
        },
        resetCaches: async () => {},
        measure: async () => ({ bytes: 0, files: 0 }),
        restore: async () => {},
      }),
      changeOf: (id) => join(folder.path, id),
      updateOf: (id) => join(folder.path, `${id}.update`),
      clock: systemClock,
      limits: { bytes: null, files: null },
      log: pino({ level: 'silent' }),
    });
    const install = { id: randomUUID(), name: 'shop' };
    const order: ItemOrder = {
      changeId: randomUUID(),
      checkpointId: null,
      change: { kind: 'plugin', id: 'good', source: null, status: null, autoUpdate: true },
      pages: [],
    };
    const both = Promise.all([changes.changeItem(install, order), changes.changeItem(install, order)]);
    await expect.poll(() => events).toContain('begun');
    first.resolve();
    await both;
    expect(events).toEqual(['begun', 'ended', 'begun', 'ended']);
  } finally {
    folder.remove();
  }
});
