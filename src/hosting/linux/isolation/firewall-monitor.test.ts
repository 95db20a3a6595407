import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { createFirewallMonitor } from './firewall-monitor.ts';

const log = pino({ level: 'silent' });

test('the next check restores flushed rules; intact rules are not loaded again', async () => {
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
    const monitor = createFirewallMonitor(firewall, { log, checkEveryMs: 1000 });
    await monitor.start();
    expect(ensured).toBe(1);
    await vi.advanceTimersByTimeAsync(5000);
    expect(ensured).toBe(1);
    fault = 'the table is missing';
    await vi.advanceTimersByTimeAsync(1000);
    expect(ensured).toBe(2);
    monitor.stop();
    fault = 'the table is missing';
    await vi.advanceTimersByTimeAsync(5000);
    expect(ensured).toBe(2);
  } finally {
    vi.useRealTimers();
  }
});
