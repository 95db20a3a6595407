import { expect, it } from 'vitest';
import { startTestHomeport } from '../../test/homeport.ts';
import { until } from '../../test/jobs.ts';
import { manualClock } from '../../test/manual-clock.ts';
import { DAY_MS } from '../lib/durations.ts';

it('is enqueued by a running Homeport, each kind at its times', async () => {
  const clock = manualClock();
  const homeport = await startTestHomeport({ clock, schedules: true });
  try {
    const { reader } = homeport.platform.database;
    const slots = () => reader.selectFrom('schedule_runs').select('schedule').execute();
    const done = async () => {
      const jobs = await reader.selectFrom('jobs').select('kind').where('state', '=', 'succeeded').execute();
      return new Set(jobs.map(({ kind }) => kind));
    };
    const all = new Set([
      'prune',
      'tidy',
      'renew_certificates',
      'warn_of_expiry',
      'warn_of_upload_expiry',
      'discard_spent_backups',
      'reconcile_backups',
      'expire_deleted_installs',
      'look_at_domains',
      'look_for_proofs',
      'collect_usage',
      'measure_daily',
      'measure_nearly_full',
      'check_limits',
      'watch_wordpress',
      'watch_websites',
    ]);
    // Each begins with its next slot. That of emails queues a job only if one is due.
    await until(async () => expect(await slots()).toHaveLength(all.size + 1));
    expect(await done()).toEqual(new Set());
    clock.advance(DAY_MS);
    // Measuring queues a job for each host.
    const run = new Set([...all, 'measure_host']);
    await until(async () => expect(await done()).toEqual(run));
  } finally {
    await homeport.remove();
  }
});
