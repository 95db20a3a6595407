import { pino } from 'pino';
import { expect, it } from 'vitest';
import { manualClock } from '../../../../test/manual-clock.ts';
import type { LoggedRequest } from '../../websites/logs/access-logs.ts';
import { createRequestLog } from './request-log.ts';

const request = (path: string): LoggedRequest => ({
  installId: '0a000000-0000-4000-8000-000000000000',
  atMs: 0,
  address: '192.0.2.1',
  answer: path.padEnd(10),
});

it('leaves out requests that the disk cannot follow, and says so', async () => {
  const written: string[] = [];
  const warned: unknown[] = [];
  let disk = Promise.withResolvers<void>();
  const requests = createRequestLog({
    accessLogs: {
      async append(lines) {
        await disk.promise;
        written.push(...lines.map(({ answer }) => answer.trim()));
      },
    },
    log: pino({}, { write: (line: string) => warned.push(JSON.parse(line).msg) }),
    clock: manualClock(),
    mostWaiting: 30,
  });
  requests.add(request('/1'));
  const flushed = requests.flush();
  for (const path of ['/2', '/3', '/4', '/5']) requests.add(request(path));
  disk.resolve();
  await flushed;
  disk = Promise.withResolvers();
  disk.resolve();
  await requests.flush();
  requests.add(request('/6'));
  await requests.stop();
  expect(written).toEqual(['/1', '/2', '/3', '/6']);
  expect(warned).toEqual(['requests are left out of the access logs, because the disk is too slow']);
});
