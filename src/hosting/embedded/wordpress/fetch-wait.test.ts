import { expect, it } from 'vitest';
import { postponing } from '../../../features/hosts/host-failures.ts';
import { Postponed } from '../../../jobs/job.ts';
import { waitForFetch } from './fetch-wait.ts';

it('lets a job come back for a WordPress that takes long, without an attempt less', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  await expect(postponing(waitForFetch(promise, 1))).rejects.toBeInstanceOf(Postponed);
  resolve('6.8');
  expect(await postponing(waitForFetch(promise, 60_000))).toBe('6.8');
});

it('passes a failed download on', async () => {
  await expect(waitForFetch(Promise.reject(new Error('refused')), 60_000)).rejects.toThrow('refused');
});
