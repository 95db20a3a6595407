import { expect, it } from 'vitest';
import { policyChange, updateOutcome } from './update-labels.ts';

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

it('makes a request of the form', () => {
  const values = {
    core: 'minor',
    plugins: 'weekly',
    themes: 'none',
    hasWindow: true,
    days: ['sunday', 'monday'],
    fromHour: '2',
    hours: '4',
    timeZone: ' Europe/Berlin ',
    pages: '/shop/\n\n /contact/ ',
  };
  expect(policyChange(values)).toEqual({
    core: 'minor',
    plugins: 'weekly',
    themes: 'none',
    maintenance_window: { days: ['monday', 'sunday'], from_hour: 2, hours: 4, time_zone: 'Europe/Berlin' },
    pages: ['/shop/', '/contact/'],
  });
  expect(policyChange({ ...values, hasWindow: false }).maintenance_window).toBeNull();
});
