import type { Capability } from '../../src/hosting/contract/capabilities.ts';
import { field, text } from '../client.ts';
import { installName, type Person, type TestHomeport } from '../homeport.ts';
import type { Edge } from './visitor.ts';

/** A platform with real websites on one kind of host. */
export interface Platform {
  homeport: TestHomeport;
  edge: Edge;
  siteDomain: string;
  /** The address of a host name as visitors write it, without a path. */
  addressOf(name: string): string;
  /** The same as copies and changes of the main domain write it into texts: with the port of this edge. */
  copiedAddressOf(name: string): string;
  /** Writes a file into the document root of an install, as its owner would by SFTP. */
  write(install: Install, path: string, content: string): Promise<void>;
  /** Lets the database refuse every change of a post. */
  refuseChanges(install: Install): Promise<void>;
  /** Moves the clock of the host, so that scheduled tasks are due. */
  passTime(ms: number): void;
  remove(): Promise<void>;
}

export interface Install {
  id: string;
  name: string;
  /** Its main domain. */
  domain: string;
  /** The `Authorization` of its visitors, if it asks them for a password. */
  authorization?: string;
}

/** What the owner of an account asks for through the API. */
export interface Owner {
  person: Person;
  accountId: string;
  create(more?: object): Promise<Install>;
  /** Sends a request that starts an operation. Resolves with the answer and the operation once it has ended. */
  start(path: string, body?: object): Promise<{ body: unknown; operation: Record<string, unknown> }>;
  /** Does the same, and resolves with the operation. */
  operate(path: string, body?: object): Promise<Record<string, unknown>>;
  backUp(install: Install): Promise<string>;
  /** Its domains with their ids by name. */
  domains(install: Install): Promise<Map<string, { id: string; primary: boolean }>>;
  /** Whether the host of an install does something for it, as the API says. */
  has(install: Install, capability: Capability): Promise<boolean>;
  /** With the `Authorization` of its visitors. */
  passing(install: Install): Promise<Install>;
}

export async function createOwner({ homeport, siteDomain }: Platform): Promise<Owner> {
  const { accountId, owner: person } = await homeport.ownedAccount();
  const { client } = person;

  async function ended(location: unknown): Promise<Record<string, unknown>> {
    const path = String(location).replace('/v1', '');
    for (;;) {
      const { body } = await client.get(`${path}?wait=60`);
      if (!['queued', 'running'].includes(text(body, 'status'))) return Object(body);
    }
  }

  async function start(path: string, body?: object) {
    const asked = await client.post(path, body);
    if (asked.status >= 300) throw new Error(`${path}: ${asked.status} ${JSON.stringify(asked.body)}`);
    return { body: asked.body, operation: await ended(asked.headers.location) };
  }

  return {
    person,
    accountId,
    async create(more = {}) {
      const name = installName();
      const { body, operation } = await start('/installs', { name, account_id: accountId, ...more });
      if (operation.status !== 'succeeded') throw new Error(JSON.stringify(operation));
      return { id: text(body, 'id'), name, domain: `${name}.${siteDomain}` };
    },
    start,
    operate: async (path, body) => (await start(path, body)).operation,
    async backUp({ id }) {
      const request = { description: 'a backup', notification_emails: [person.email] };
      const { body, operation } = await start(`/installs/${id}/backups`, request);
      if (operation.status !== 'succeeded') throw new Error(JSON.stringify(operation));
      return text(body, 'id');
    },
    async has({ id }, capability) {
      const { body } = await client.get(`/installs/${id}/capabilities`);
      const all = field(body, 'capabilities');
      const found = Array.isArray(all) ? all.find((one) => field(one, 'name') === capability) : undefined;
      return field(found, 'available') === true;
    },
    async passing(install) {
      const { body } = await client.get(`/installs/${install.id}/protection`);
      const [user, password] = [text(body, 'password', 'username'), text(body, 'password', 'password')];
      const pair = Buffer.from(`${user}:${password}`).toString('base64');
      return { ...install, authorization: `Basic ${pair}` };
    },
    async domains({ id }) {
      const { body } = await client.get(`/installs/${id}/domains?limit=100`);
      const results = field(body, 'results');
      const found = Array.isArray(results) ? results : [];
      return new Map(
        found.map((domain) => [
          text(domain, 'name'),
          { id: text(domain, 'id'), primary: field(domain, 'primary') === true },
        ]),
      );
    },
  };
}
