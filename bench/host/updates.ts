import { MINUTE_MS } from '../../src/lib/durations.ts';
import { installPlugin } from '../../test/host/plugin-source.ts';
import { plainState } from '../../test/host/state.ts';
import { progress, type Run } from '../measure/report.ts';
import { median, shownMs, timed } from '../measure/units.ts';
import { withBenchHost } from './bench-host.ts';

/** The goal for an update of one plugin with its check, without the backup. */
const GOAL_MS = MINUTE_MS / 3;

/** Updates of one plugin: the checkpoint, and the update with the checks before and after it. */
export async function benchUpdates({ report, quick }: Run): Promise<void> {
  const count = quick ? 2 : 5;
  progress('starting a host');
  const { checkpoints, updates } = await withBenchHost(async ({ remote, layout }) => {
    remote.answer(
      { backupPassword: async () => 'of the bench', sshLogin: async () => null, sshRelay: async () => null },
      () => {},
    );
    const install = plainState('bench-update');
    await remote.apply(install);
    const files = await installPlugin(layout, install);
    await files.offer('');
    const done = { checkpoints: [] as number[], updates: [] as number[] };
    for (let n = 0; n < count; n++) {
      progress(`update ${n + 1} of ${count}`);
      const plan = await remote.planUpdates(install, { core: null, plugins: 'all', themes: [] });
      const before = crypto.randomUUID();
      done.checkpoints.push(await timed(() => remote.snapshot(install, before)));
      const order = { updateId: crypto.randomUUID(), checkpointId: before, pages: [], updates: plan.updates };
      let rolledBack: unknown;
      done.updates.push(
        await timed(async () => {
          ({ rolledBack } = await remote.updateWordpress(install, order));
        }),
      );
      if (rolledBack !== null) throw new Error(`the update was rolled back: ${JSON.stringify(rolledBack)}`);
      await remote.restore(install, before);
    }
    return done;
  });
  const most = (times: number[]) => `at most ${shownMs(Math.max(...times))}`;
  report.part(`Update of one plugin, ${count} times, median`);
  report.figure({
    what: 'the checkpoint',
    value: median(checkpoints),
    unit: 'ms',
    measured: most(checkpoints),
  });
  report.figure({
    what: 'the update, with checks of four pages before and after it',
    value: median(updates),
    unit: 'ms',
    measured: most(updates),
    goal: { atMost: GOAL_MS },
  });
  report.end();
}
