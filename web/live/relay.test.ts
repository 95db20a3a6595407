import { expect, it } from 'vitest';
import { hear, type Relayed, relaying } from './relay.ts';

function listening() {
  const told: string[] = [];
  return {
    told,
    opened: () => told.push('opened'),
    broken: () => told.push('broken'),
    change: (text: string) => told.push(text),
    resync: () => told.push('resync'),
    refused: () => told.push('refused'),
  };
}

it('tells each listener, here and elsewhere, the same in the same order', () => {
  const [here, elsewhere] = [listening(), listening()];
  const said: Relayed[] = [];
  const stream = relaying(here, (relayed) => said.push(relayed));
  stream.opened();
  stream.resync();
  stream.change('one');
  stream.broken();
  stream.refused();
  for (const relayed of said) hear(relayed, elsewhere);
  expect(here.told).toEqual(['opened', 'resync', 'one', 'broken', 'refused']);
  expect(elsewhere.told).toEqual(here.told);
});

it('leaves what it does not know', () => {
  const listener = listening();
  for (const said of [
    null,
    'resync',
    {},
    { heard: 'news' },
    { heard: 'change' },
    { heard: 'change', text: 1 },
  ]) {
    hear(said, listener);
  }
  expect(listener.told).toEqual([]);
});
