import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, it, vi } from 'vitest';
import { loadAgain } from './load-again.ts';

/** A visible query whose responses the test sends by hand. */
function shown(queries: QueryClient, key: string) {
  const asked: ((answer: string) => void)[] = [];
  const observer = new QueryObserver(queries, {
    queryKey: [key],
    queryFn: () => new Promise<string>((resolve) => asked.push(resolve)),
  });
  const leave = observer.subscribe(() => {});
  return { asked, leave, answer: () => observer.getCurrentResult().data };
}

it('reloads visible queries that the change concerns, and no others', async () => {
  const queries = new QueryClient();
  const [site, backup] = [shown(queries, 'site'), shown(queries, 'backup')];
  for (const { asked } of [site, backup]) asked[0]?.('before');
  await vi.waitFor(() => expect([site.answer(), backup.answer()]).toEqual(['before', 'before']));
  loadAgain(queries, ({ queryKey }) => queryKey[0] === 'site');
  site.asked[1]?.('after');
  await vi.waitFor(() => expect(site.answer()).toBe('after'));
  expect([site.asked.length, backup.asked.length]).toEqual([2, 1]);
  site.leave();
  backup.leave();
});

it('repeats a first load that was pending, once it finishes', async () => {
  const queries = new QueryClient();
  const site = shown(queries, 'site');
  loadAgain(queries, () => true);
  expect(site.asked).toHaveLength(1);
  site.asked[0]?.('read before the change');
  await vi.waitFor(() => expect(site.asked).toHaveLength(2));
  site.asked[1]?.('after');
  await vi.waitFor(() => expect(site.answer()).toBe('after'));
  expect(site.asked).toHaveLength(2);
  site.leave();
});
