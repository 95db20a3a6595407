import { EventEmitter } from 'node:events';
import { expect, it, vi } from 'vitest';
import { manualClock } from '../../../test/manual-clock.ts';
import { stopSignal } from './stop-signals.ts';

it('takes two signals of one Ctrl-C, the terminal’s and npm’s, for one', async () => {
  const signals = new EventEmitter();
  const clock = manualClock();
  const endAtOnce = vi.fn();
  const asked = stopSignal('stopping', { signals, clock, endAtOnce });
  signals.emit('SIGINT');
  clock.advance(75);
  signals.emit('SIGINT');
  await asked;
  expect(endAtOnce).not.toHaveBeenCalled();
});

it.each([
  ['SIGINT', 'homeport: stopping; press Ctrl-C again to stop at once\n'],
  ['SIGTERM', 'homeport: stopping\n'],
])('speaks of keys only if one was pressed: %s', async (signal, printed) => {
  const signals = new EventEmitter();
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const asked = stopSignal('stopping', { signals, clock: manualClock(), endAtOnce: vi.fn() });
  signals.emit(signal);
  await asked;
  expect(write.mock.calls).toEqual([[printed]]);
  write.mockRestore();
});

it('ends at once when asked again a second later', async () => {
  const signals = new EventEmitter();
  const clock = manualClock();
  const endAtOnce = vi.fn();
  const asked = stopSignal('stopping', { signals, clock, endAtOnce });
  signals.emit('SIGTERM');
  await asked;
  clock.advance(1_000);
  signals.emit('SIGINT');
  expect(endAtOnce).toHaveBeenCalledOnce();
});
