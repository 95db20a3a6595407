import type { Logger } from 'pino';
import type { Clock } from '../../lib/clock.ts';
import { registerAccount } from './account.ts';
import type { Authority, AuthorityOptions } from './authority.ts';
import { createDirectoryReader, identitiesOf } from './directory.ts';
import { fulfilOrder } from './order.ts';
import { readRenewalWindow } from './renewal-info.ts';
import { createSessions, type SessionLimits } from './session.ts';

/** Timeouts of one request and of a whole order. */
const LIMITS: SessionLimits = { requestMs: 15_000, totalMs: 90_000 };

/** Creates a client of one authority. The first call loads the ACME library and sends the first request. */
export function createAuthority(
  options: AuthorityOptions,
  { clock, log, limits = LIMITS }: { clock: Clock; log: Logger; limits?: SessionLimits },
): Authority {
  const { directoryUrl } = options;
  const runSession = createSessions(options, { clock, limits });
  const readDirectory = createDirectoryReader(directoryUrl, clock);

  return {
    about: (signal) =>
      runSession({ name: null, signal }, async (session) => {
        const directory = await readDirectory(session);
        return {
          identities: identitiesOf(directory, directoryUrl),
          termsOfService: directory.meta?.termsOfService ?? null,
          offersRenewalInfo: directory.renewalInfo !== undefined,
        };
      }),
    register: (account, signal) =>
      runSession({ name: null, signal }, async (session) =>
        registerAccount(session, await readDirectory(session), options, account.key),
      ),
    obtain: (request) =>
      runSession({ name: request.name, signal: request.signal }, async (session) => {
        const { renewalInfo } = await readDirectory(session);
        return fulfilOrder(session, request, {
          directoryUrl,
          offersRenewalInfo: renewalInfo !== undefined,
          log,
        });
      }),
    renewalWindow: (chain, signal) =>
      runSession({ name: null, signal }, async (session) =>
        readRenewalWindow(session, await readDirectory(session), chain),
      ),
  };
}
