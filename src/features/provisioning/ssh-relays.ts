import { lookup } from 'node:dns/promises';
import type { SshLogin, SshPass, SshRelay } from '../../hosting/contract/questions.ts';
import { timestamp } from '../../lib/clock.ts';
import { SECOND_MS } from '../../lib/durations.ts';
import type { Platform } from '../../platform/platform.ts';
import { createEdgeAddressBook } from '../hosts/edge-address-book.ts';
import { isMember, type Lookup, otherEdges } from '../hosts/other-edges.ts';
import { findHost, placeOf } from '../hosts/store.ts';
import { createSshLogin } from '../identity/ssh-keys/ssh-login.ts';
import { findPass, insertPass } from './ssh-passes-store.ts';

/** SSH sessions that a host passes on to the host of the install. Nothing is answered for a host that was given up. */
export interface SshRelays {
  /** See `HostQuestions`, for questions of the host `from`. */
  relay(
    from: string,
    installName: string,
    fingerprint: string,
    pass: SshPass | null,
  ): Promise<SshRelay | null>;
  /** The user whose session the key is, at the host `to`; null if it is none, or if the user has no access any more. */
  login(to: string, installName: string, fingerprint: string): Promise<SshLogin | null>;
}

type Parts = Pick<Platform, 'config' | 'clock' | 'database'>;

/** The host signs in at once, with a key that it makes just before. */
const PASS_MS = 30 * SECOND_MS;

export function createSshRelays(
  { config, clock, database }: Parts,
  lookUp: Lookup = (name) => lookup(name),
): SshRelays {
  const { reader } = database;
  const { ofHost } = createEdgeAddressBook(config);
  const sshLogin = createSshLogin(database);

  /** Where the SSH server of a host takes sessions of the other; null if it does not. */
  async function wayTo(to: string, from: string): Promise<Omit<SshRelay, keyof SshLogin> | null> {
    const [asking, serving] = await Promise.all([
      findHost(reader, { id: from }),
      findHost(reader, { id: to }),
    ]);
    if (asking === undefined || serving === undefined || !isMember(asking)) return null;
    const { description, lost_at } = serving;
    if (lost_at !== null || description?.sshRelay === undefined) return null;
    const [edge] = await otherEdges(asking, [serving], { ofHost, lookUp });
    if (edge === undefined) return null;
    return {
      host: description.sshRelay.host ?? edge.host,
      port: description.ports.ssh,
      hostKeys: description.sshHostKeys ?? [],
    };
  }

  return {
    async relay(from, installName, fingerprint, pass) {
      const login = await sshLogin(installName, fingerprint);
      if (login === null) return null;
      const to = (await placeOf(reader, login.install.id))?.hostId ?? null;
      if (to === null || to === from) return null;
      const way = await wayTo(to, from);
      if (way === null) return null;
      if (pass !== null) {
        const row = {
          ...{ fingerprint: pass.fingerprintSha256, address: pass.address, users_fingerprint: fingerprint },
          ...{ install_id: login.install.id, user_id: login.userId, from_host: from, to_host: to },
          expires_at: timestamp(clock, PASS_MS),
        };
        await database.write(({ queries }) => insertPass(queries, row, timestamp(clock)));
      }
      return { ...login, ...way };
    },

    async login(to, installName, fingerprint) {
      const pass = await findPass(reader, fingerprint, to, timestamp(clock));
      if (pass === undefined) return null;
      const login = await sshLogin(installName, pass.users_fingerprint);
      if (login?.install.id !== pass.install_id || login.userId !== pass.user_id) return null;
      const { by, address, users_fingerprint } = pass;
      return { ...login, relayed: { fingerprintSha256: users_fingerprint, by, address } };
    },
  };
}
