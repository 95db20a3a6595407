import { expect, it } from 'vitest';
import { repairDaemon } from './services.ts';

it('waits for a database that recovers, and restarts other daemons', async () => {
  const calls: string[] = [];
  const daemons = {
    restart: async (name: string) => void calls.push(`restart ${name}`),
    untilReady: async (name: string) => void calls.push(`wait for ${name}`),
  };
  await repairDaemon(daemons, 'mariadb');
  await repairDaemon(daemons, 'nginx');
  expect(calls).toEqual(['wait for mariadb', 'restart nginx']);
});
