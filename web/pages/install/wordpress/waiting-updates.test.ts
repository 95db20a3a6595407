import { expect, it } from 'vitest';
import { waitingUpdates } from './waiting-updates.ts';

it('names the updates that wait', () => {
  const waiting = { update: { version: '6.9' } };
  const none = { update: null };
  const core = { version: '6.8', available_update: null };
  expect(waitingUpdates({ core: null, plugins: [], themes: [] })).toBeNull();
  expect(waitingUpdates({ core, plugins: [none], themes: [] })).toBeNull();
  expect(waitingUpdates({ core, plugins: [waiting, none], themes: [] })).toBe('1 plugin');
  const newer = { ...core, available_update: waiting.update };
  expect(waitingUpdates({ core: newer, plugins: [waiting, waiting], themes: [] })).toBe(
    'WordPress 6.9 and 2 plugins',
  );
  expect(waitingUpdates({ core: newer, plugins: [waiting], themes: [waiting] })).toBe(
    'WordPress 6.9, 1 plugin and 1 theme',
  );
});
