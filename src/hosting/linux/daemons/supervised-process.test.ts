import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { createCgroups } from './cgroups.ts';
import { processRecords } from './process-records.ts';
import { superviseProcess } from './supervised-process.ts';

test('restarts a daemon that ends before its start is recorded', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-supervised-'));
  const log = pino({ level: 'silent' });
  const records = processRecords(join(folder, 'daemons'));
  const daemon = superviseProcess(
    {
      name: 'script',
      description: 'Script of the test',
      command: ['/bin/sh', '-c', 'echo started >> $FOLDER/starts; exit 3'],
      environment: { FOLDER: folder },
      ready: () => new Promise(() => {}),
      readyWithinMs: 30_000,
    },
    {
      cgroups: createCgroups({ instance: 'test', log, root: folder }),
      records: {
        ...records,
        async write(name, record) {
          // A disk much slower than the process.
          if (record.pid !== null) await pause(300);
          await records.write(name, record);
        },
      },
      restarts: { firstMs: 1, longestMs: 1, healthyMs: 60_000 },
      clock: systemClock,
      log,
    },
  );
  try {
    await expect(daemon.untilReady()).rejects.toThrow('status 3');
    const starts = async () => (await readFile(join(folder, 'starts'), 'utf8')).trim().split('\n').length;
    await expect.poll(starts).toBeGreaterThan(2);
  } finally {
    await daemon.stop();
    await rm(folder, { recursive: true });
  }
});
