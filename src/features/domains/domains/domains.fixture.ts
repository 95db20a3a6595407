import { type Client, field, text } from '../../../../test/client.ts';
import { refusal } from '../../../../test/refusal.ts';

export type Install = { id: string; name: string };

export const domainsOf = ({ id }: Install) => `/installs/${id}/domains`;

let counter = 0;
/** A domain name that is unique in the tests. */
export function domainName(): string {
  counter += 1;
  return `shop${counter}.example`;
}

/** The answer to a request with one fault. */
export const fault = (field: string, code: string, message: string) =>
  refusal(`Domain.${field}`, `invalid_value / ${code}`, message);

/** The requests of domain tests, with the client of one user. */
export function domainCalls(client: () => Client) {
  const add = (install: Install, name: unknown, more: object = {}) =>
    client().post(domainsOf(install), { name, ...more });

  async function list(install: Install, query = ''): Promise<{ name: string; id: string; body: unknown }[]> {
    const results = field((await client().get(domainsOf(install) + query)).body, 'results');
    if (!Array.isArray(results)) throw new Error('no list');
    return results.map((body: unknown) => ({ name: text(body, 'name'), id: text(body, 'id'), body }));
  }

  return {
    add,
    list,
    /** Adds a domain, expects success, and returns its id. */
    async added(install: Install, name: string, more: object = {}): Promise<string> {
      const answer = await add(install, name, more);
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
      return text(answer.body, 'id');
    },
    addBulk: (install: Install, domains: unknown) => client().post(`${domainsOf(install)}/bulk`, { domains }),
    change: (install: Install, id: string, body: object) =>
      client().patch(`${domainsOf(install)}/${id}`, body),
    remove: (install: Install, id: string) => client().delete(`${domainsOf(install)}/${id}`),
    read: async (install: Install, id: string) => (await client().get(`${domainsOf(install)}/${id}`)).body,
    /** The id of the install's default domain. */
    defaultDomain: async (install: Install): Promise<string> => (await list(install))[0]?.id ?? '',
  };
}
