import { text } from '../../../../test/client.ts';
import { installName, type Person } from '../../../../test/homeport.ts';
import { refusal } from '../../../../test/refusal.ts';

export const NO_SITE = refusal(
  'Installation.site_id',
  'access_error / not_permitted',
  'The site is not one that installs of this account may be in',
);

/** Creates installs in an account, by default as its owner. */
export function installCalls(present: () => { accountId: string; owner: Person }) {
  return {
    create: (more: object = {}, client = present().owner.client) =>
      client.post('/installs', { name: installName(), account_id: present().accountId, ...more }),
    read: async (id: string) => (await present().owner.client.get(`/installs/${id}`)).body,
    newSite: async (account = present().accountId, by = present().owner) =>
      text((await by.client.post('/sites', { name: 'A site', account_id: account })).body, 'id'),
  };
}
