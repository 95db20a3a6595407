import { expect } from 'vitest';
import { text } from '../../../../test/client.ts';
import { visit } from '../../../../test/edge.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { type ChallengeDns, startChallengeDns } from './challenge-dns.fixture.ts';
import { domainCalls, domainsOf, type Install } from './domains.fixture.ts';

/** An account with its owner and an install, and the owner's calls for its domains. */
export interface Party extends ReturnType<typeof domainCalls> {
  accountId: string;
  owner: Person;
  install: Install;
  newInstall(): Promise<Install>;
  /** Adds the TXT record that verifies the domain. */
  addRecord(domainId: string): Promise<void>;
  /** Calls the verification endpoint, five seconds after the last call; resolves to its answer once all jobs are done. */
  verify(domainId: string): Promise<unknown>;
  /** Adds the TXT record and verifies the domain. */
  prove(domainId: string): Promise<void>;
  /** Deletes the domain. */
  removed(domainId: string): Promise<void>;
}

/** A Homeport whose resolver knows the TXT records of a test. Its accounts can be shared by tests: every name is used once. */
export interface OwnershipSetup {
  homeport: TestHomeport;
  clock: ManualClock;
  dns: ChallengeDns;
  party(): Promise<Party>;
  /** The party whose website answers to a name, or null. */
  servedBy(name: string): Promise<Party | null>;
  remove(): Promise<void>;
}

export async function startOwnership(environment: Record<string, string> = {}): Promise<OwnershipSetup> {
  const dns = await startChallengeDns();
  const clock = manualClock(new Date());
  const homeport = await startTestHomeport({
    clock,
    environment: { HOMEPORT_RESOLVERS: dns.address, ...environment },
  });
  const parties: Party[] = [];

  async function party(): Promise<Party> {
    const { accountId, owner } = await homeport.ownedAccount();
    const newInstall = () => homeport.install(owner, accountId);
    const install = await newInstall();
    const calls = domainCalls(() => owner.client);
    const addRecord = async (domainId: string) => {
      const domain = await calls.read(install, domainId);
      const key = text(domain, 'txt_verification_key');
      dns.texts.set(key, [...(dns.texts.get(key) ?? []), text(domain, 'txt_verification_value')]);
    };
    const verify = async (domainId: string) => {
      clock.advance(5_000);
      const answer = await owner.client.post(`${domainsOf(install)}/${domainId}/verification`);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      await homeport.idle();
      return answer.body;
    };
    const prove = async (domainId: string) => {
      await addRecord(domainId);
      expect(await verify(domainId)).toMatchObject({ txt_verified_time: expect.any(String) });
    };
    const removed = async (domainId: string) => {
      expect((await calls.remove(install, domainId)).status).toBe(204);
    };
    const made = { ...calls, accountId, owner, install, newInstall, addRecord, verify, prove, removed };
    parties.push(made);
    return made;
  }

  return {
    homeport,
    clock,
    dns,
    party,
    async servedBy(name) {
      await homeport.idle();
      const { status, body } = await visit(homeport, `http://${name}/`);
      if (status === 404) return null;
      const words = body.split(/\W+/);
      const found = parties.find(({ install }) => words.includes(install.name));
      if (!found) throw new Error(`${name} answers ${status} ${body}`);
      return found;
    },
    async remove() {
      await homeport.remove();
      await dns.close();
    },
  };
}

let counter = 0;
/** A registrable domain that no other test has. */
export function registrable(): string {
  counter += 1;
  return `victim${counter}.example`;
}

/** The API's answer about a domain that is not served before its account proves it. */
export const WITHHELD = {
  ownership_status: 'TXT_VERIFICATION_PENDING',
  txt_verified_time: null,
  primary: false,
  network_details: { network_info: { status: 'PENDING', ssl: { status: 'pending' } } },
};

/** The activity of an account about the ownership of its domains. */
export async function ownershipActivity({ platform }: TestHomeport, { accountId }: Party) {
  const entries = await platform.database.reader
    .selectFrom('activity')
    .select(['action', 'subject_name', 'means'])
    .where('account_id', '=', accountId)
    .orderBy('seq')
    .execute();
  return entries.filter(({ action }) => ['domain.verify', 'domain.lose'].includes(action));
}
