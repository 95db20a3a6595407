import { expect, it } from 'vitest';
import { matching } from './commands.ts';

const run = () => {};
const groups = [
  {
    value: 'Actions',
    items: [
      { id: '1', label: 'Back up shop', run },
      { id: '2', label: 'Create a site', run },
    ],
  },
  { value: 'Pages', items: [{ id: '3', label: 'Backups', detail: 'shop', run }] },
];

it.each([
  ['', ['Back up shop', 'Create a site', 'Backups']],
  ['  SHOP  back ', ['Back up shop', 'Backups']],
  ['site shop', []],
])('finds the commands for %j', (typed, labels) => {
  const found = matching(groups, typed);
  expect(found.flatMap(({ items }) => items.map(({ label }) => label))).toEqual(labels);
  expect(found.every(({ items }) => items.length > 0)).toBe(true);
});
