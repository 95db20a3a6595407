import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OPERATOR } from '../../src/access/caller.ts';
import { field } from '../client.ts';
import type { Person } from '../homeport.ts';
import { mailsTo } from '../mails.ts';
import { isLong, onlyInLong } from '../rounds.ts';
import {
  CONTRAST,
  checkAccessibility,
  expectAccessibleInLong,
  expireSessions,
  type Portal,
  startPortal,
} from './portal.ts';
import { expectBothThemesInLong } from './themes.ts';

describe('an account', () => {
  let portal: Portal;
  /** Owner of a new account for each test. */
  let owner: Person;
  /** The owner's page. */
  let page: Page;
  let accountId: string;
  let given: { id: string; name: string };
  beforeAll(async () => {
    portal = await startPortal();
    ({ owner } = await portal.homeport.ownedAccount());
    page = await portal.signedIn(owner);
  });
  beforeEach(async () => {
    accountId = await portal.homeport.account();
    await joins(owner, accountId, 'owner');
    given = await portal.homeport.install(owner, accountId);
  });
  afterAll(() => portal.remove());

  /** Uses the menu of a row. */
  async function act(row: Locator, action: string): Promise<void> {
    await row.getByRole('button', { name: /^Actions for/ }).click();
    await row.getByRole('button', { name: action }).click();
  }
  const at = (place: string) => `/accounts/${accountId}/${place}`;
  const call = ({ userId }: Person, first_name: string, last_name: string) =>
    portal.homeport.platform.database.write(({ queries }) =>
      queries.updateTable('users').set({ first_name, last_name }).where('id', '=', userId).execute(),
    );

  const joins = ({ userId: user_id }: Person, account_id: string, role: 'owner' | 'full') =>
    portal.homeport.platform.database.write(({ queries }) =>
      queries
        .insertInto('memberships')
        .values({
          account_id,
          user_id,
          role,
          billing: false,
          invite_accepted: true,
          created_at: '2026-01-01T00:00:00.000Z',
        })
        .execute(),
    );

  /** Frida Full, who has no other account. */
  async function otherMember(): Promise<Person> {
    const full = await portal.homeport.person(accountId, 'full');
    await call(full, 'Frida', 'Full');
    return full;
  }
  const makesSite = ({ client }: Person) =>
    client.post('/sites', { name: 'Made by Frida', account_id: accountId });
  const addsDomain = (name: string) => owner.client.post(`/installs/${given.id}/domains`, { name });

  /** Gives a person a second factor in the database. */
  const enrolled = ({ userId: user_id }: Person) =>
    portal.homeport.platform.database.write(async ({ queries }) => {
      const at = new Date().toISOString();
      await queries
        .insertInto('second_factors')
        .values({ user_id, sealed_secret: '', confirmed_at: at, last_step: null, created_at: at })
        .execute();
      await queries.updateTable('users').set({ mfa_enabled: true }).where('id', '=', user_id).execute();
    });

  it('has a home page with its first steps, until they are done or hidden, and with what runs', async () => {
    await portal.homeport.idle();
    // What has run is shown as if it ran still.
    await page.route(/\/v1\/operations\?.*status=running/, async (route) => {
      const url = route.request().url().replace('status=running', 'status=succeeded');
      const response = await route.fetch({ url });
      const body = (await response.text()).replaceAll('"succeeded"', '"running"');
      await route.fulfill({ response, body });
    });
    await page.goto(at('home'));
    const steps = page.getByRole('region', { name: 'First steps' });
    await steps.getByText('0 of 4 done').waitFor();
    await steps.getByRole('link', { name: 'Create a site' }).waitFor();
    // Without a reload.
    await owner.client.post('/sites', { name: 'Shop', account_id: accountId });
    await addsDomain('steps.example');
    await steps.getByText('2 of 4 done').waitFor();
    await steps.getByText('Add your domain (done)').waitFor();
    await page.getByRole('region', { name: 'This month' }).getByText('Visits').waitFor();
    const running = page.getByRole('region', { name: 'In progress' });
    await running.getByRole('link', { name: given.name }).first().waitFor();
    await running.getByText('Creating the website').waitFor();
    await expectBothThemesInLong(page);
    await steps.getByRole('button', { name: 'Hide first steps' }).press('Enter');
    await steps.waitFor({ state: 'detached' });
    // A request that is being answered would fail.
    await page.unrouteAll({ behavior: 'wait' });
    await page.reload();
    await running.waitFor({ state: 'detached' });
    await expect.poll(() => steps.count()).toBe(0);
  });

  onlyInLong(it)(
    'offers no undo in the sign-in above its page, and shows the errors of the sign-in there',
    async () => {
      const other = await portal.homeport.person(accountId, 'owner');
      await otherMember();
      const page = await portal.signedIn(other, { at: at('people') });
      await act(page.getByRole('row', { name: /Frida Full/ }), 'Change role');
      await page.getByRole('checkbox', { name: 'Billing' }).check();
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      await page.route('**/account_users/*', async (route) => {
        if (route.request().method() === 'GET') return route.fallback();
        const response = await route.fetch();
        await expireSessions(portal, other);
        await released;
        await route.fulfill({ response });
      });
      await page.getByRole('dialog').getByRole('button', { name: 'Change role' }).click();
      const layer = page.getByRole('alertdialog', { name: 'Sign in again' });
      await layer.getByLabel('Password').waitFor();
      release();
      await page.locator('[role=dialog]').waitFor({ state: 'detached' });
      await page.route('**/portal/api/session', (route) =>
        route.request().method() === 'DELETE' ? route.abort() : route.fallback(),
      );
      await layer.getByRole('button', { name: 'Sign in as another user' }).click();
      await layer.getByText('The server cannot be reached').waitFor();
      expect(await page.content()).not.toContain('Changed the role');
    },
  );

  it('invites a person with installs, resends the invitation, changes their role and removes them', async () => {
    await page.goto(at('people'));
    await page.getByText('An account needs an owner.').waitFor();
    await page.getByRole('button', { name: 'Invite person' }).click();
    await page.getByLabel('First name').fill('Ida');
    await page.getByLabel('Last name').fill('Invited');
    await page.getByLabel('Email address').fill('ida@people.example');
    await page.getByLabel(given.name).check();
    await page.getByText('1 of 1 selected').waitFor();
    await expectAccessibleInLong(page);
    await page.getByRole('button', { name: 'Send invitation' }).click();
    const ida = page.getByRole('row', { name: /Ida Invited/ });
    await ida.getByText('Pending').waitFor();
    await ida.getByText(given.name).waitFor();

    await act(ida, 'Resend invitation');
    await page.getByText('Sent the invitation to ida@people.example again').waitFor();
    await portal.homeport.idle();
    expect(mailsTo(portal.homeport, 'ida@people.example')).toHaveLength(2);

    await act(ida, 'Change role');
    await page.getByRole('radio', { name: 'Full' }).check();
    await page.getByRole('checkbox', { name: 'Billing' }).check();
    await page.getByRole('dialog').getByRole('button', { name: 'Change role' }).click();
    await ida.getByText('Full, with billing').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await ida.getByText(given.name).waitFor();

    await act(ida, 'Change role');
    await page.getByRole('radio', { name: 'Full' }).check();
    await page.getByRole('dialog').getByRole('button', { name: 'Change role' }).click();
    await ida.getByText('Full', { exact: true }).waitFor();
    const users = `/accounts/${accountId}/account_users`;
    const { body } = await owner.client.get(users);
    const invited = [0, 1]
      .map((index) => field(body, 'results', index))
      .find((user) => field(user, 'email') === 'ida@people.example');
    await owner.client.patch(`${users}/${field(invited, 'user_id')}`, { roles: 'full,billing' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Someone changed the role of Ida Invited again since.').waitFor();
    await page.getByRole('button', { name: 'Dismiss this message' }).click();
    await ida.getByText('Full, with billing').waitFor();

    await act(ida, 'Remove');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
    await ida.waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('content');
  });

  onlyInLong(it)('offers a partial user only their own installs', async () => {
    const partial = await portal.homeport.person(accountId, 'partial', [given.id]);
    const theirs = await portal.signedIn(partial);
    await theirs.getByText('Nothing needs attention').waitFor();
    expect(await theirs.getByRole('heading', { name: 'First steps' }).count()).toBe(0);
    const places = theirs.getByRole('navigation', { name: 'Account' }).getByRole('link');
    await expect
      .poll(() => places.allTextContents())
      .toEqual(['Home', 'Sites', 'Installs', 'People', 'Usage', 'Activity']);
    await theirs.getByRole('link', { name: 'Sites', exact: true }).click();
    await theirs.getByText('You do not have access to any sites yet').waitFor();
    expect(await theirs.getByRole('button', { name: /^Create / }).count()).toBe(0);
    await theirs.getByRole('link', { name: 'Installs', exact: true }).click();
    await theirs.getByRole('link', { name: given.name }).waitFor();
    expect(await theirs.getByRole('button', { name: /^Create / }).count()).toBe(0);
    await theirs.getByRole('link', { name: 'People' }).click();
    await theirs.getByText('Your own role.').waitFor();
    await expect.poll(() => theirs.getByRole('row').count()).toBe(2);
    expect(await theirs.getByRole('button', { name: /Invite|Change|Remove/ }).count()).toBe(0);
    await expectAccessibleInLong(theirs);
    await act(theirs.getByRole('row'), 'Leave this account');
    await theirs.getByRole('button', { name: 'Leave account' }).click();
    await theirs.getByRole('heading', { name: 'No account' }).waitFor();
  });

  onlyInLong(it)(
    'shows changes by another person, and removes lost permissions, without a reload',
    async () => {
      const member = await otherMember();
      const theirs = await portal.signedIn(member);
      await theirs.goto(at('people'));
      await theirs.getByText('Only owners can manage owners.').waitFor();
      await theirs.getByRole('button', { name: 'Invite person' }).click();
      await theirs.getByRole('radio', { name: 'Partial' }).waitFor();
      await expect.poll(() => theirs.getByRole('radio', { name: 'Owner' }).count()).toBe(0);
      await expect.poll(() => theirs.getByRole('checkbox', { name: 'Billing' }).count()).toBe(0);
      await theirs.goto(at('sites'));

      await page.goto(at('sites'));
      await page.getByText('You have no sites yet').waitFor();
      await theirs.getByRole('link', { name: 'Create site' }).waitFor();
      await makesSite(member);
      await page.getByRole('link', { name: 'Made by Frida' }).waitFor();
      await theirs.getByRole('link', { name: 'Made by Frida' }).click();
      await theirs.getByRole('heading', { name: 'Made by Frida', level: 1 }).waitFor();

      await page.goto(at('people'));
      const frida = page.getByRole('row', { name: /Frida Full/ });
      await act(frida, 'Change role');
      await page.getByRole('radio', { name: 'Partial' }).check();
      await page.getByRole('dialog').getByRole('button', { name: 'Change role' }).click();
      await frida.getByText('No installs yet').waitFor();
      await theirs.getByRole('heading', { name: 'Site not found' }).waitFor();
    },
  );

  onlyInLong(it)('shows activity live with its credential, and as a CSV file', async () => {
    await makesSite(await otherMember());
    await page.goto(at('activity'));
    await page.getByText(/Frida Full .*created the site Made by Frida/).waitFor();
    await addsDomain('shop.example');
    const row = page.getByRole('row', { name: /Test Person added the domain shop\.example/ });
    await row.getByText(owner.email).waitFor();
    await row.getByText('API, with test').waitFor();
    await row.getByText('127.0.0.1').waitFor();
    await row.getByRole('link', { name: given.name }).waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download as CSV' }).click();
    const file = await (await download).path();
    expect(await readFile(file, 'utf8')).toMatch(/domain\.create.*shop\.example/);

    await owner.client.delete(`/installs/${given.id}`);
    await expect.poll(() => row.getByRole('link').count()).toBe(0);
    await row.getByText(given.name).waitFor();
    const later = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download as CSV' }).click();
    const lines = (await readFile(await (await later).path(), 'utf8')).split('\r\n');
    expect(lines.find((line) => line.includes('domain.create'))).toContain(given.name);
    await page.goto(at(`activity?install=${given.id}`));
    const filter = page.getByRole('combobox', { name: 'Install' });
    await expect.poll(() => filter.inputValue()).toBe(`${given.name} (deleted)`);
  });

  it('is renamed, and says why a second factor cannot be required yet', async () => {
    await page.goto(at('settings'));
    await page.getByLabel('Account name').fill('Flowers');
    await page.getByRole('button', { name: 'Rename account' }).click();
    await page.getByRole('banner').getByText('Flowers').first().waitFor();
    await page.getByText('Before you can require one').waitFor();
    await expect
      .poll(() => page.getByRole('button', { name: 'Require second factor' }).isDisabled())
      .toBe(true);
  });

  it('has accessible pages in both themes and on narrow screens', async () => {
    await makesSite(await otherMember());
    const wide = { width: 1280, height: 900 };
    for (const [place, shown] of [
      ['home', 'First steps'],
      ['sites', 'Made by Frida'],
      ['installs', given.name],
      ['people', 'Frida Full'],
      ['activity', 'created the site Made by Frida'],
      ['usage', given.name],
      ['webhooks', 'No webhooks yet.'],
      ['transfers', 'No site transfers yet.'],
      ['settings', 'Show people'],
    ] as const) {
      await page.goto(at(place));
      await page.getByText(shown).first().waitFor();
      await checkAccessibility(page);
      if (isLong) await checkAccessibility(page, [CONTRAST]);
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.setViewportSize({ width: 360, height: 740 });
      await expectAccessibleInLong(page);
      await expectAccessibleInLong(page, [CONTRAST]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), place).toBe(true);
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize(wide);
    }
  });

  onlyInLong(it)('of a thousand sites is listed, searched and sorted', async () => {
    const { homeport } = portal;
    const ownedId = await homeport.account('Thousand');
    const rich = await homeport.person(ownedId, 'owner');
    const created_at = '2026-01-01T00:00:00.000Z';
    await homeport.platform.database.write(async ({ queries }) => {
      const rows = Array.from({ length: 1_000 }, (_, index) => ({
        id: crypto.randomUUID(),
        name: `Site ${index + 1}`,
        account_id: ownedId,
        created_at,
      }));
      await queries.insertInto('sites').values(rows).execute();
      await queries
        .updateTable('accounts')
        .set({ site_count: rows.length })
        .where('id', '=', ownedId)
        .execute();
    });
    const theirs = await portal.signedIn(rich, { at: `/accounts/${ownedId}/sites` });
    await theirs.getByText('1000 sites').waitFor();
    await theirs.getByLabel('Search sites').fill('site 999');
    await theirs.getByText('1 of 1000 sites').waitFor();
    await theirs.getByLabel('Search sites').fill('');
    await theirs.getByRole('button', { name: 'Site', exact: true }).click();
    await theirs.getByRole('link', { name: 'Site 1000' }).waitFor();
    await theirs.getByRole('button', { name: 'Next' }).click();
    await theirs.getByText('Page 2 of 20').waitFor();
    await expect
      .poll(() => theirs.evaluate('document.activeElement?.getAttribute("aria-label")'))
      .toBe('Sites');
    await theirs.getByRole('button', { name: 'Site', exact: true }).click();
    await theirs.getByText('Page 1 of 20').waitFor();

    // Back and a reload restore the list.
    await theirs.getByLabel('Search sites').fill('site 9');
    await theirs.getByText('111 of 1000 sites').waitFor();
    await theirs.getByRole('button', { name: 'Next' }).click();
    await theirs.getByRole('link', { name: 'Site 949' }).click();
    await theirs.getByRole('heading', { name: 'Site 949', level: 1 }).waitFor();
    const asItWas = async () => {
      await theirs.getByText('Page 2 of 3').waitFor();
      await expect.poll(() => theirs.getByLabel('Search sites').inputValue()).toBe('site 9');
      await theirs.getByRole('link', { name: 'Site 949' }).waitFor();
    };
    await theirs.goBack();
    await asItWas();
    await theirs.reload();
    await asItWas();
    await theirs.getByLabel('Search sites').fill('none of them');
    await theirs.getByRole('button', { name: 'Clear filters' }).click();
    await theirs.getByText('1000 sites', { exact: true }).waitFor();
    await expect.poll(() => theirs.evaluate('document.activeElement?.getAttribute("name")')).toBe('search');
  });

  onlyInLong(it)(
    'lists installs in rows of one line, with filters as chips and a menu for each',
    async () => {
      const long = `${'a-long-label-'.repeat(4)}of.example`;
      await addsDomain(long);
      await portal.homeport.platform.database.write(async ({ queries }) => {
        const domains = queries.updateTable('domains').where('install_id', '=', given.id);
        await domains.set({ is_primary: false }).execute();
        await domains.set({ is_primary: true }).where('name', '=', long).execute();
        await queries
          .insertInto('wordpress_readings')
          .values({
            install_id: given.id,
            core_update: '6.9.1',
            plugin_updates: 24,
            theme_updates: 3,
            due_at: '2030-01-01T00:00:00.000Z',
          })
          .execute();
      });
      await otherMember();
      await portal.homeport.install(owner, accountId);
      const expectOneLine = async () => {
        for (const width of [1440, 1024]) {
          await page.setViewportSize({ width, height: 900 });
          for (const shown of (await page.getByRole('row').all()).slice(1)) {
            const height = (await shown.boundingBox())?.height ?? 0;
            expect(height, `${width}: ${await shown.textContent()}`).toBeGreaterThanOrEqual(40);
            expect(height, `${width}: ${await shown.textContent()}`).toBeLessThanOrEqual(44);
          }
          const overhang = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
          await expect.poll(() => page.evaluate(overhang)).toBe(0);
          const inTable = '(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)';
          const table = 'document.querySelector("table").parentElement';
          await expect.poll(() => page.evaluate(`${inTable}(${table})`)).toBe(0);
        }
        await page.setViewportSize({ width: 1440, height: 900 });
      };
      await page.goto(at('installs'));
      const row = page.getByRole('row', { name: given.name });
      const link = row.getByRole('link', { name: given.name, exact: true });
      await link.waitFor();
      await expectOneLine();
      await page.goto(at('people'));
      await page.getByRole('rowheader', { name: /Test Person/ }).waitFor();
      await expectOneLine();
      await page.goto(at('installs'));
      await link.waitFor();
      const decoration = 'getComputedStyle(document.querySelector("tbody a")).textDecorationLine';
      await expect.poll(() => page.evaluate(decoration)).toBe('none');
      const chip = page.locator('label').filter({ hasText: 'Environment' });
      await expect.poll(() => chip.getAttribute('data-active')).toBe(null);
      await page.getByRole('combobox', { name: 'Environment' }).selectOption('No environment');
      await expect.poll(() => chip.getAttribute('data-active')).toBe('true');
      expect(new URL(page.url()).search).toBe('?environment=none');
      await page.getByRole('button', { name: 'Domain', exact: true }).click();
      await page.waitForURL('**/installs?environment=none&sort=domain');
      await expectBothThemesInLong(page);
      await page.setViewportSize({ width: 1280, height: 900 });
      await row.getByRole('button', { name: `Actions for ${given.name}` }).press('Enter');
      await row.getByRole('link', { name: 'Backups' }).press('Enter');
      await page.waitForURL(`**/installs/${given.id}/backups`);
    },
  );

  onlyInLong(it)('stays on the same page when the account is switched', async () => {
    const second = await portal.homeport.account('Second account');
    const full = await portal.homeport.person(accountId, 'full');
    await joins(full, second, 'full');
    const theirs = await portal.signedIn(full, { at: at('usage') });
    await theirs.getByRole('button', { name: /Switch account$/ }).click();
    await theirs.getByRole('link', { name: 'Second account' }).click();
    await theirs.waitForURL(`**/accounts/${second}/usage`);
    await expectAccessibleInLong(theirs);
    await theirs.context().close();
  });

  onlyInLong(it)('shows a hundred entries of activity on each page', async () => {
    const { platform } = portal.homeport;
    const quiet = await portal.homeport.account('Quiet');
    await platform.database.write(async (transaction) => {
      for (let index = 1; index <= 120; index += 1) {
        await platform.activity.record(transaction, OPERATOR, quiet, {
          action: 'site.create',
          subject: { id: null, name: `number ${index}.` },
        });
      }
    });
    await joins(owner, quiet, 'full');
    await page.goto(`/accounts/${quiet}/activity`);
    await page.getByText('121 entries').waitFor();
    await expect.poll(() => page.getByText('number 20.').count()).toBe(0);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('number 20.').waitFor();
    await page.getByText('Page 2 of 2').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
    await expect
      .poll(() => page.evaluate('document.activeElement?.getAttribute("aria-label")'))
      .toBe('Activity');
  });

  onlyInLong(it)(
    'filters activity by person, install, type and day, in the address and in the file',
    async () => {
      const full = await otherMember();
      await makesSite(full);
      await addsDomain('narrowed.example');
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      await page.goto(at('activity'));
      const filter = page.getByRole('combobox', { name: 'Install' });
      await filter.fill(given.name.slice(0, -1));
      await filter.press('Enter');
      await expect.poll(() => filter.inputValue()).toBe(given.name);
      await page.getByRole('combobox', { name: 'Type' }).selectOption('Domains');
      await page.getByText('1 entry').waitFor();
      await page.getByRole('row', { name: /Test Person added the domain narrowed\.example/ }).waitFor();
      await page.reload();
      await page.getByText('1 entry').waitFor();
      const download = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Download results as CSV' }).click();
      const lines = (await readFile(await (await download).path(), 'utf8')).trim().split('\r\n');
      expect(lines).toHaveLength(2);
      await expectAccessibleInLong(page);
      await page.getByLabel('To', { exact: true }).fill('2020-01-01');
      await page.getByLabel('From', { exact: true }).fill('2020-01-02');
      await page.getByText('This day is before From.').waitFor();
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await page.getByRole('combobox', { name: 'Person' }).selectOption(`Frida Full (${full.email})`);
      await page.getByText(/Frida Full .*created the site Made by Frida/).waitFor();
      await page.getByRole('row', { name: /added the domain/ }).waitFor({ state: 'detached' });
      // The menu of installs asks the server for names, and never loads every install.
      expect(asked.filter((path) => path === '/v1/installs')).toEqual([]);
    },
  );

  onlyInLong(it)(
    'finds an install by any domain, and says which installs need attention and why',
    async () => {
      await addsDomain('first.example');
      await addsDomain('second.example');
      await portal.homeport.platform.database.write(({ queries }) =>
        queries.updateTable('domains').set({ reached: false }).where('name', '=', 'second.example').execute(),
      );
      await page.goto(at('home'));
      const reason = page.getByRole('link', { name: 'second.example does not point here.' });
      await reason.waitFor();
      const inNeed = page.getByRole('region', { name: 'Needs attention' });
      await inNeed.getByRole('link', { name: given.name, exact: true }).waitFor();
      await page.goto(at('sites'));
      await page.getByText('1 install needs attention.').waitFor();
      await page.getByRole('link', { name: 'Show installs that need attention' }).click();
      await page.getByRole('link', { name: 'second.example does not point here.' }).waitFor();
      await expectAccessibleInLong(page);
      await page.getByRole('combobox', { name: 'Status' }).selectOption('Any');
      await page.getByRole('link', { name: 'Show installs that need attention' }).click();
      await expect.poll(() => page.evaluate('document.activeElement?.getAttribute("name")')).toBe('status');
      await page.goto(at('installs?status=nonsense'));
      await page.getByLabel('Search installs').fill('first.exam');
      await page.getByRole('row', { name: given.name }).getByText('Also first.example').waitFor();
    },
  );

  onlyInLong(it)(
    'requires a second factor without a reload, stops requiring it, and lets people leave',
    async () => {
      const demanding = await portal.homeport.person(accountId, 'owner');
      const page = await portal.signedIn(demanding);
      const other = await portal.homeport.person(accountId, 'full');
      const theirs = await portal.signedIn(other);
      await theirs.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
      await enrolled(demanding);
      await page.goto(at('settings'));
      await page.getByRole('button', { name: 'Require second factor' }).click();
      await page.getByRole('button', { name: 'Require', exact: true }).click();
      await page.getByText('Everyone in this account must confirm each sign-in with a code').waitFor();
      await theirs.getByText('requires a second factor').waitFor({ timeout: 30_000 });

      await page.getByRole('button', { name: 'Stop requiring' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Stop requiring' }).click();
      await page.getByText('Not required').waitFor();
      await theirs.goto(at('people'));
      await act(theirs.getByRole('row'), 'Leave this account');
      await theirs.getByRole('button', { name: 'Leave account' }).click();
      await theirs.getByRole('heading', { name: 'No account' }).waitFor();
    },
  );
});
