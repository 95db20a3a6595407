import { expect, it } from 'vitest';
import { waitingUpdates } from './waiting-updates.ts';

it('names the updates that wait', () => {
  const core = { version: '6.8', available_update: null };
  const newer = { ...core, available_update: { version: '6.9' } };
  const named = (plugin_updates: number, theme_updates: number, of: typeof core | typeof newer | null) =>
    waitingUpdates({ core: of, plugin_updates, theme_updates });
  expect(named(0, 0, null)).toBeNull();
  expect(named(0, 0, core)).toBeNull();
  expect(named(1, 0, core)).toBe('1 plugin');
  expect(named(2, 0, newer)).toBe('WordPress 6.9 and 2 plugins');
  expect(named(1, 1, newer)).toBe('WordPress 6.9, 1 plugin and 1 theme');
});
