import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import type { CronEntry } from '../../contract/logs.ts';
import { type OperatedWebsite, putContent } from '../operated-website.fixture.ts';
import { runCron } from './run-cron.ts';

/** Cases of runs of WP-Cron that every runtime must pass. */
export function cronCases(website: () => OperatedWebsite): void {
  describe('a run of WP-Cron', () => {
    const task = async (code: string) => {
      const plugin = `mu-plugins/due.php`;
      await website().inWordPress(`wp_schedule_single_event(time() - 60, 'homeport_due');`);
      await putContent(website(), plugin, `<?php add_action('homeport_due', function () { ${code} });`);
      const logged: CronEntry[] = [];
      const append = async (entry: CronEntry) => void logged.push(entry);
      const run = await runCron(website().runtime, { append, clock: systemClock });
      await rm(join(website().root, 'wp-content', plugin));
      expect(logged).toEqual([
        { time: expect.any(String), seconds: expect.any(Number), exit: run.exit, output: run.output },
      ]);
      return run;
    };

    it('does what is due, at the address of the website, and says when the next task is', async () => {
      const { exit, output, nextMs } = await task(
        `update_option('homeport_ran', $_SERVER['HTTP_HOST']); echo 'told'; fwrite(STDERR, ' twice');`,
      );
      expect({ exit, output }).toEqual({ exit: 0, output: 'told twice' });
      expect(nextMs).toBeGreaterThan(0);
      expect(await website().inWordPress(`echo get_option('homeport_ran');`)).toBe('shop.test:8080');
    });

    it('says why it failed', async () => {
      const { exit, output } = await task('no_such_function();');
      expect(exit).toBe(255);
      expect(output).toContain('undefined function no_such_function()');
    });
  });
}
