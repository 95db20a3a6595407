import { expect, it } from 'vitest';
import { manualClock } from '../../../../test/manual-clock.ts';
import type { DaemonStatus } from '../machine/daemon.ts';
import { createPhpFigures } from './php-figures.ts';

const daemon = (name: string, restarts: number, memoryBytes: number | null = 100): DaemonStatus => ({
  name,
  state: memoryBytes === null ? 'restarting' : 'running',
  pid: 1,
  restarts,
  memoryBytes,
});
const LISTENING = `u_str LISTEN 3 511 /run/homeport-host/php/a.sock 101 * 0
u_str LISTEN 0      511       /run/homeport-host/php/b.sock 102       * 0
u_str LISTEN 9 511 /run/homeport-host/mariadb/mysqld.sock 103 * 0
u_str LISTEN 1 5 @/abstract 104 * 0
`;

it('counts PHP and its waiting requests, and only restarts of this host process', async () => {
  const clock = manualClock(new Date('2026-05-01T00:00:00.000Z'));
  let daemons = [daemon('nginx', 7), daemon('php-a', 5), daemon('php-b', 0, null)];
  let lists = 0;
  const figures = createPhpFigures({
    daemons: {
      async list() {
        lists += 1;
        return daemons;
      },
    },
    sockets: '/run/homeport-host/php',
    clock,
    listening: async () => LISTENING,
  });
  const first = await figures();
  expect(first).toEqual({ running: 1, memoryBytes: 100, memoryLimitBytes: null, restarts: 0, waiting: 3 });
  await figures();
  expect(lists).toBe(1);

  // systemd counts from zero after a requested start. php-b was removed, and php-c was made and has ended once.
  daemons = [daemon('php-a', 2), daemon('php-c', 1)];
  clock.advance(60_000);
  expect(await figures()).toMatchObject({ running: 2, memoryBytes: 200, restarts: 3 });
  daemons = [daemon('php-a', 4)];
  clock.advance(60_000);
  expect(await figures()).toMatchObject({ restarts: 5 });
});

it('waits no longer than its bound for systemd, asks it once meanwhile, and knows the last list', async () => {
  const clock = manualClock(new Date('2026-05-01T00:00:00.000Z'));
  const asked: PromiseWithResolvers<DaemonStatus[]>[] = [];
  const figures = createPhpFigures({
    daemons: {
      list() {
        const answer = Promise.withResolvers<DaemonStatus[]>();
        asked.push(answer);
        return answer.promise;
      },
    },
    sockets: '/run/homeport-host/php',
    clock,
    listening: async () => '',
    withinMs: 10,
  });
  await expect(figures()).rejects.toThrow('systemd has not listed the daemons');
  await expect(figures()).rejects.toThrow('systemd has not listed the daemons');
  expect(asked).toHaveLength(1);
  asked[0]?.resolve([daemon('php-a', 0)]);
  expect(await figures()).toMatchObject({ running: 1 });

  clock.advance(60_000);
  expect(await figures()).toMatchObject({ running: 1 });
  expect(asked).toHaveLength(2);
});
