import { expect, it } from 'vitest';
import { type Relayed, receive, relayTo } from './relay.ts';

function listening() {
  const events: string[] = [];
  return {
    events,
    opened: () => events.push('opened'),
    broken: () => events.push('broken'),
    change: (text: string) => events.push(text),
    resync: () => events.push('resync'),
    refused: () => events.push('refused'),
  };
}

it('passes the same events in the same order to both listeners', () => {
  const [here, elsewhere] = [listening(), listening()];
  const said: Relayed[] = [];
  const stream = relayTo(here, (relayed) => said.push(relayed));
  stream.opened();
  stream.resync();
  stream.change('one');
  stream.broken();
  stream.refused();
  for (const relayed of said) receive(relayed, elsewhere);
  expect(here.events).toEqual(['opened', 'resync', 'one', 'broken', 'refused']);
  expect(elsewhere.events).toEqual(here.events);
});

it('ignores unknown messages', () => {
  const listener = listening();
  for (const said of [
    null,
    'resync',
    {},
    { heard: 'news' },
    { heard: 'change' },
    { heard: 'change', text: 1 },
  ]) {
    receive(said, listener);
  }
  expect(listener.events).toEqual([]);
});
