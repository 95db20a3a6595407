import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { text } from '../../../test/client.ts';
import { rounds } from '../../../test/rounds.ts';
import {
  type OwnershipSetup,
  type Party,
  registrable,
  startOwnership,
} from '../domains/domains/ownership.fixture.ts';
import { accept, asked } from './transfers.fixture.ts';

describe.each(rounds(['required'], ['first', 'required']))(
  'the names of a transferred site (%s)',
  (HOMEPORT_DOMAIN_OWNERSHIP) => {
    let setup: OwnershipSetup;

    beforeAll(async () => {
      setup = await startOwnership({ HOMEPORT_DOMAIN_OWNERSHIP });
    });
    afterAll(() => setup?.remove());

    /** Gives the install of one account to the other, in a site of its own. */
    async function give(from: Party, to: Party): Promise<void> {
      const site = await from.owner.client.post('/sites', { name: 'Shop', account_id: from.accountId });
      const siteId = text(site.body, 'id');
      const place = { site_id: siteId, environment: 'production' };
      expect((await from.owner.client.patch(`/installs/${from.install.id}`, place)).status).toBe(200);
      const id = await asked(from.owner, siteId, to.accountId);
      expect((await accept(to.owner, to.accountId, id)).status).toBe(200);
      await setup.homeport.idle();
      const transfer = await from.owner.client.get(`/sites/${siteId}/site_transfers/${id}`);
      expect(transfer.body).toMatchObject({ status: 'completed' });
    }

    it('stay served, and the former account cannot take them back with its old record', async () => {
      const [former, next] = [await setup.party(), await setup.party()];
      const name = registrable();
      const domainId = await former.added(former.install, name);
      await former.prove(domainId);
      expect(await setup.servedBy(name)).toBe(former);
      await give(former, next);
      // The install is still the one that the fixture knows as the former account's.
      expect(await setup.servedBy(name)).toBe(former);
      const domain = await next.owner.client.get(`/installs/${former.install.id}/domains/${domainId}`);
      expect(domain.body).toMatchObject({ name, primary: false });
      const other = await former.newInstall();
      const again = await former.owner.client.post(`/installs/${other.id}/domains`, { name });
      expect(again.body).toMatchObject({ ownership_status: 'TXT_VERIFICATION_PENDING' });
      setup.clock.advance(5_000);
      const verify = `/installs/${other.id}/domains/${text(again.body, 'id')}/verification`;
      expect((await former.owner.client.post(verify)).body).toMatchObject({ txt_verified_time: null });
      expect(await setup.servedBy(name)).toBe(former);
      // The new account proves the domain with a record of its own.
      const challenge = await next.owner.client.post(
        `/installs/${former.install.id}/domains/${domainId}/verification`,
      );
      const key = text(challenge.body, 'txt_verification_key');
      setup.dns.texts.set(key, [text(challenge.body, 'txt_verification_value')]);
      setup.clock.advance(5_000);
      const proved = await next.owner.client.post(
        `/installs/${former.install.id}/domains/${domainId}/verification`,
      );
      expect(proved.body).toMatchObject({ txt_verified_time: expect.any(String) });
    });

    it('leave the proof with an account that keeps names of the domain', async () => {
      const [former, next] = [await setup.party(), await setup.party()];
      const name = registrable();
      const kept = await former.newInstall();
      await former.prove(await former.added(former.install, `shop.${name}`));
      await former.added(kept, `www.${name}`);
      await give(former, next);
      expect(await setup.servedBy(`shop.${name}`)).toBe(former);
      const more = await former.owner.client.post(`/installs/${kept.id}/domains`, { name: `blog.${name}` });
      expect(more.body).toMatchObject({ ownership_status: 'TXT_VERIFIED' });
      // The new account has no right to further names of the domain.
      const taken = await next.owner.client.post(`/installs/${next.install.id}/domains`, {
        name: `mail.${name}`,
      });
      expect(taken.body).toMatchObject({ ownership_status: 'TXT_VERIFICATION_PENDING' });
    });
  },
);
