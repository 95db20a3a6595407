import { expect, it } from 'vitest';
import { updateOutcome } from './update-labels.ts';

const item = { kind: 'plugin' as const, id: 'a/a.php', name: 'Akismet', from: '5.4', to: '5.5' };

const ended = { status: 'succeeded' as const, restored: false };

it('says what was updated, or why not', () => {
  expect(updateOutcome({ ...ended, updates: [item, { ...item, name: 'Shop' }], reason: null })).toBe(
    'Akismet 5.4 → 5.5, Shop 5.4 → 5.5',
  );
  expect(updateOutcome({ ...ended, updates: [], reason: 'It was rolled back.' })).toBe('It was rolled back.');
  expect(updateOutcome({ ...ended, updates: [], reason: null })).toBeNull();
  expect(updateOutcome({ ...ended, restored: true, updates: [item], reason: null })).toBe(
    'Akismet 5.4 → 5.5. The checkpoint was restored; what visitors wrote after it is lost.',
  );
});
