import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { copyAsVersion } from '../../../../test/host/wordpress-core.ts';
import type { AvailableUpdate, UpdateOrder } from '../../contract/wordpress-updates.ts';
import { type ChangedWebsite, checkpointOf, expectFormer, homePage } from './changed-website.fixture.ts';
import { PLUGIN } from './plugin-source.fixture.ts';

/** Later WordPress versions: one that works, and one whose pages fail. */
const LATER = '98.1';
const BROKEN = '98.2';
/** A plugin whose update cannot be downloaded. */
const LOST = 'lost/lost.php';

const coreUpdate = ({ install }: ChangedWebsite, to: string): AvailableUpdate => ({
  kind: 'core',
  id: 'wordpress',
  name: 'WordPress',
  from: install.wordpressVersion,
  to,
});

/** The available updates of plugins and themes. */
async function planned({ host, install }: ChangedWebsite): Promise<AvailableUpdate[]> {
  const plan = await host.planUpdates(install, { core: null, plugins: 'all', themes: 'all' });
  expect(plan.refused).toEqual([]);
  return plan.updates;
}

const orderOf = async (website: ChangedWebsite, updates: AvailableUpdate[]): Promise<UpdateOrder> => ({
  ...{ updateId: randomUUID(), checkpointId: await checkpointOf(website), updates, pages: [] },
});

/** Updates of a website, which they leave with {@link LATER} and the newer plugin. */
export function testUpdates(website: () => ChangedWebsite): void {
  describe('updates', () => {
    beforeAll(async () => {
      const { coreOf, install } = website();
      await copyAsVersion(coreOf(install.wordpressVersion), coreOf(LATER), LATER, 99_000);
    });

    test('plans what WordPress offers, and refuses what is not there', async () => {
      const { files, host, install } = website();
      await files.offer('');
      const shop = { kind: 'plugin', id: PLUGIN, name: 'Shop', from: '1.0', to: '1.1' };
      const wanted = { core: LATER, plugins: ['shop', 'nope'], themes: ['nope'] };
      expect(await host.planUpdates(install, wanted)).toEqual({
        updates: [shop, coreUpdate(website(), LATER)],
        refused: ['There is no plugin "nope"', 'There is no theme "nope"'],
      });
      await expect(host.planUpdates(install, { ...wanted, core: '97.0' })).rejects.toThrow(
        'this host has no WordPress 97.0',
      );
    });

    test('rolls back a release of WordPress that breaks pages', async () => {
      const { coreOf, host, install } = website();
      await copyAsVersion(coreOf(install.wordpressVersion), coreOf(BROKEN), BROKEN, 99_100);
      const loader = join(coreOf(BROKEN), 'wp-includes/template-loader.php');
      await rm(loader);
      await writeFile(loader, '<?php throw new Error("this release is broken");');
      const before = await website().option('db_version');
      const broken = coreUpdate(website(), BROKEN);
      const outcome = await host.updateWordpress(install, await orderOf(website(), [broken]));
      expect(outcome).toEqual({
        made: [],
        skipped: [],
        restored: true,
        rolledBack: { update: broken, reason: expect.stringContaining('the home page') },
        wordpressVersion: install.wordpressVersion,
      });
      await expectFormer(website(), PLUGIN);
      expect(await website().option('db_version')).toBe(before);
      expect((await website().page('/wp-login.php')).status).toBe(200);
    });

    test('a half-made update is restored and made again, with a later WordPress and without a failed download', async () => {
      const { files, host, install, updateJournal } = website();
      await files.write(`wp-content/plugins/${LOST}`, '<?php\n/*\nPlugin Name: Lost\nVersion: 1.0\n*/\n');
      await files.offer('', '1.1', [LOST]);
      const updates = [...(await planned(website())), coreUpdate(website(), LATER)];
      const isLost = ({ id }: AvailableUpdate) => id === LOST;
      const order = await orderOf(website(), updates);
      // Without updates, it only notes how the website looks.
      await host.updateWordpress(install, { ...order, updateId: randomUUID(), updates: [] });
      const { before } = JSON.parse(await readFile(updateJournal, 'utf8'));
      const begun = {
        ...{ updateId: order.updateId, stage: 'updating', startedAt: Date.now(), updatingSince: Date.now() },
        ...{ index: 0, wordpressVersion: install.wordpressVersion, before, interruptions: 0 },
        ...{ made: [], skipped: [], restored: false, rolledBack: null },
      };
      await writeFile(updateJournal, JSON.stringify(begun));
      await files.write(`wp-content/plugins/${PLUGIN}`, '<?php half');
      const outcome = await host.updateWordpress(install, order);
      expect(outcome).toEqual({
        made: updates.filter((update) => !isLost(update)),
        skipped: [{ update: updates.find(isLost), reason: expect.stringMatching(/download|package/i) }],
        restored: true,
        rolledBack: null,
        wordpressVersion: LATER,
      });
      expect(await host.updateWordpress(install, order)).toEqual(outcome);
      const { status, body } = await homePage(website());
      expect([status, body.includes('<p>shop 1.1</p>'), body.includes(`WordPress ${LATER}`)]).toEqual([
        200,
        true,
        true,
      ]);
      expect(await website().option('db_version')).toBe('99000');
    });
  });
}
