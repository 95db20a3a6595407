import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/database.ts';
import type { ItemOrder } from '../../contract/wordpress-changes.ts';
import { createItemChanges } from './item-changes.ts';

it('changes a website one after the other, because a change goes on when its job has ended', async () => {
  const folder = temporaryFolder();
  try {
    const events: string[] = [];
    const first = Promise.withResolvers<void>();
    const changes = createItemChanges({
      websiteOf: async () => ({
        runtime: {
          runScript: () => Promise.reject(new Error('is not reached')),
          changedAt: async () => [],
          endOfErrorLog: async () => '',
        },
        lookAt: () => Promise.reject(new Error('is not reached')),
        async withinDisk() {
          events.push('begun');
          if (events.length === 1) await first.promise;
          events.push('ended');
          return { refused: 'there is no such plugin' };
        },
        resetCaches: async () => {},
        measure: async () => ({ bytes: 0, files: 0 }),
        restore: async () => {},
      }),
      changeOf: (id) => join(folder.path, id),
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
