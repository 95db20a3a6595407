import { expect, it } from 'vitest';
import { overlapping } from '../../../test/held-jobs.ts';
import { startTestHomeport } from '../../../test/homeport.ts';
import { manualClock } from '../../../test/manual-clock.ts';
import { operatorFor } from '../../access/caller.ts';
import { MINUTE_MS } from '../../lib/durations.ts';
import { EVERYTHING } from './replaced-parts.ts';

// SQLite has one writer, so transactions overlap on PostgreSQL alone.
it('copies in both directions at once do not deadlock', async () => {
  const clock = manualClock();
  const homeport = await startTestHomeport({ clock });
  try {
    const { accountId, owner } = await homeport.ownedAccount();
    const caller = operatorFor(owner.userId);
    const [first, second] = [
      await homeport.install(owner, accountId),
      await homeport.install(owner, accountId),
    ];
    const copy = (from: string, into: string) =>
      homeport.services.backups.copy(caller, from, {
        into,
        keepBackup: false,
        checkpoint: false,
        parts: EVERYTHING,
        notification_emails: [],
      });
    await overlapping(homeport, [() => copy(first.id, second.id), () => copy(second.id, first.id)]);
    // Delayed jobs included.
    for (let times = 0; times < 6; times += 1) {
      await homeport.idle();
      clock.advance(MINUTE_MS);
    }
    for (const { id } of [first, second]) {
      const { results } = await homeport.services.installOperations.list(caller, id);
      expect(results.find(({ kind }) => kind === 'install.copy')).toMatchObject({ status: 'succeeded' });
    }
  } finally {
    await homeport.remove();
  }
});
