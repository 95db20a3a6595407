import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { createStandingFirewall } from './standing-firewall.ts';

const log = pino({ level: 'silent' });

test('what flushed the rules is undone by the next look, and by that alone', async () => {
  vi.useFakeTimers();
  try {
    let fault: string | null = null;
    let ensured = 0;
    const firewall = {
      check: async () => fault,
      ensure: async () => {
        ensured += 1;
        fault = null;
      },
    };
    const standing = createStandingFirewall(firewall, { log, lookMs: 1000 });
    await standing.start();
    expect(ensured).toBe(1);
    await vi.advanceTimersByTimeAsync(5000);
    expect(ensured).toBe(1);
    fault = 'there is no table';
    await vi.advanceTimersByTimeAsync(1000);
    expect(ensured).toBe(2);
    standing.stop();
    fault = 'there is no table';
    await vi.advanceTimersByTimeAsync(5000);
    expect(ensured).toBe(2);
  } finally {
    vi.useRealTimers();
  }
});
