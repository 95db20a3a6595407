import { expect, it } from 'vitest';
import { manualClock } from '../../../test/manual-clock.ts';
import { createRareLog } from './rare-log.ts';

it('writes once in a minute for each key, with the number of events between', () => {
  const clock = manualClock();
  const rarely = createRareLog(clock);
  const written: string[] = [];
  const happen = (id: string) => rarely(id, (leftOut) => written.push(`${id} ${leftOut}`));
  for (const id of ['a', 'a', 'b', 'a']) happen(id);
  clock.advance(60_000);
  for (const id of ['a', 'b', 'b']) happen(id);
  expect(written).toEqual(['a 0', 'b 0', 'a 2', 'b 0']);
});
